import Foundation
import Glibc
import Household
import HubAPI
import SealedFormats

/// Why a companion can't continue.
public struct CompanionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// One sentence.
    public let description: String
    init(_ sentence: String) { description = sentence }
}

/// What a companion stores besides its keys: how to connect to the hub, the roster, and every accepted record.
struct CompanionState: Codable {
    var hub: String
    var certificates: String?
    var proxy: String?
    var isInsecure: Bool
    var household: ItemID
    /// The computer that invited this device.
    var computer: ItemID
    var roster: [Data] = []
    var cursor: UInt64 = 0
    /// The store generations, as the hub last returned them; nil before that.
    var generations: [HubGeneration]?
    /// The newest of each, by "collection/id", with tombstones.
    var records: [String: HubRecord] = [:]
    /// Records sealed with a key that this device has not received yet.
    var deferred: [HubRecord] = []
    var clocks: [HubID: ComputerClock] = [:]
    var chains: [HubID: EventChain] = [:]
    var owners = VaultOwners()
    var refused = 0
    var misbehaviour: [String] = []
    /// What it founded is a shared vault, not a household.
    var isSharedVault = false
}

/// A companion's directory. Its keys are in a file that only its user can read, without a PIN: it is for tests and
/// scripts.
struct CompanionFiles: Sendable {
    private struct StoredKeys: Codable {
        var signingKey: Data
        var boxKey: Data
        var token: Data
        /// An input of the PIN's stretching; the hub never receives it.
        var deviceSecret: Data
        var ring: Data
    }

    let directory: String
    private var keyPath: String { directory + "/keys.json" }
    private var statePath: String { directory + "/state.json" }

    var exists: Bool { access(keyPath, F_OK) == 0 }

    func prepare() throws {
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw CompanionError("\(directory) can't be created (\(String(cString: strerror(errno)))).")
        }
    }

    func loadState() throws -> CompanionState {
        guard let bytes = FileManager.default.contents(atPath: statePath) else {
            throw CompanionError("There is no companion in \(directory).")
        }
        return try JSONDecoder().decode(CompanionState.self, from: bytes)
    }

    func save(_ state: CompanionState) throws { try write(JSONEncoder().encode(state), to: statePath) }

    func loadSecrets(household: ItemID) throws -> (secrets: HouseholdSecrets, deviceSecret: SecretBytes) {
        guard let bytes = FileManager.default.contents(atPath: keyPath) else {
            throw CompanionError("The keys in \(directory) are missing; pair again.")
        }
        var stored = try JSONDecoder().decode(StoredKeys.self, from: bytes)
        func secret(_ data: inout Data) -> SecretBytes { data.withUnsafeMutableBytes { SecretBytes(wiping: $0) } }
        let secrets = HouseholdSecrets(
            household: household, signingKey: try DeviceSigningKey(privateKey: secret(&stored.signingKey)),
            boxKey: try BoxKeyPair(privateKey: secret(&stored.boxKey)), token: secret(&stored.token),
            ring: try KeyRing(plaintext: secret(&stored.ring)))
        return (secrets, secret(&stored.deviceSecret))
    }

    func save(_ secrets: HouseholdSecrets, deviceSecret: SecretBytes) throws {
        func data(_ secret: SecretBytes) -> Data { secret.withUnsafeBytes { Data($0) } }
        let stored = StoredKeys(
            signingKey: data(secrets.signingKey.privateKey), boxKey: data(secrets.boxKey.privateKey),
            token: data(secrets.token), deviceSecret: data(deviceSecret), ring: data(secrets.ring.plaintext))
        try write(JSONEncoder().encode(stored), to: keyPath)
    }

    /// Writes all or nothing, readable by the user alone.
    private func write(_ bytes: Data, to path: String) throws {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw CompanionError("\(temporary) can't be written (\(String(cString: strerror(errno)))).")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: bytes)
        try handle.synchronize()
        guard rename(temporary, path) == 0 else {
            throw CompanionError("\(path) can't be written (\(String(cString: strerror(errno)))).")
        }
    }
}
