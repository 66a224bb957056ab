import Foundation
import Household
public import SealedFormats
public import WireProtocol

/// What is stored of the household besides records.
enum HouseholdDocuments {
    /// `HubSettings`.
    static let settings = "hub"
    /// Box key, token and status keys, sealed under the machine secret.
    static let keys = "household-keys"
    /// `StoredRoster`.
    static let roster = "roster"
    /// The sequence number up to which the hub was read, in decimal.
    static let cursor = "hub-cursor"
    /// `[HubGeneration]` of the hub's store, as it was when the hub was read last.
    static let generations = "hub-generations"
    /// There while what the hub has is compared with what is here.
    static let comparing = "hub-comparing"
    /// The id of the newest record of `events` by this computer.
    static let eventHead = "event-head"
    /// `StoredRevocation`, while the hub has not been told.
    static let revocation = "revocation"
    /// There while records are sealed under keys that a revoked device knew, because the vault was locked then.
    static let sealAnew = "seal-anew"
    /// There where the owner wants no hub, so that none is connected by itself.
    static let declined = "hub-declined"
    /// `StoredJoining`, while this computer waits to be let into a household.
    static let joining = "joining"
    /// A sentence, where another computer revoked this one.
    static let putOut = "put-out"
    /// The households that this computer left or that revoked it, as JSON: none lets it in again under its name.
    static let left = "households-left"
    /// The number of the newest roster entry that this computer has answered with its own keys, in decimal.
    static let answered = "roster-answered"
    /// What devices that this computer revoked were called, by id, as JSON. It stays when the household is left.
    static let formerNames = "former-names"
    /// There while a companion may lack keys of the vault, because it was locked when they were given.
    static let keysOwed = "keys-owed"

    /// What goes with the hub.
    static let ofHub = [
        settings, keys, roster, cursor, generations, comparing, eventHead, revocation, sealAnew, answered, keysOwed,
    ]
}

/// Where the hub is.
public struct HubSettings: Codable, Equatable, Sendable {
    public var url: String
    /// PEM file.
    public var certificates: String?
    public var proxy: String?
    /// Plain HTTP to another machine is meant.
    public var isInsecure: Bool
    /// The hub that `applocker up` runs: its address is told at each start.
    public var isEmbedded: Bool

    public init(
        url: String, certificates: String? = nil, proxy: String? = nil, isInsecure: Bool = false,
        isEmbedded: Bool = false
    ) {
        self.url = url
        self.certificates = certificates
        self.proxy = proxy
        self.isInsecure = isInsecure
        self.isEmbedded = isEmbedded
    }
}

struct StoredRoster: Codable {
    var household: ItemID
    var entries: [Data]
}

/// A device that the household has forgotten, and that the hub is still to be told of.
struct StoredRevocation: Codable {
    var device: ItemID
    var name: String
}

/// What a daemon needs to be part of a household.
public struct HouseholdPorts: Sendable {
    var store: any SyncStore
    /// This computer's; it signs records and the roster.
    var signingKey: DeviceSigningKey
    /// A connection to a hub. The token is nil where only what anybody may ask is asked.
    var connect: @Sendable (HubSettings, SecretBytes?) throws -> any HubConnection
    /// The address of the hub that `applocker up` runs.
    var embeddedHub: String?

    public init(
        store: any SyncStore, signingKey: DeviceSigningKey,
        connect: @escaping @Sendable (HubSettings, SecretBytes?) throws -> any HubConnection,
        embeddedHub: String? = nil
    ) {
        self.store = store
        self.signingKey = signingKey
        self.connect = connect
        self.embeddedHub = embeddedHub
    }
}

extension HouseholdSecrets {
    /// As a computer stores them: a ring under a key that comes from the machine secret alone, so that they are there while
    /// everything is locked, and gone with the machine secret.
    func sealed(machineSecret: SecretBytes) -> [UInt8] {
        let own = KeyRing([
            .init(kind: .device, vault: household, epoch: Self.boxKeyEpoch, key: boxKey.privateKey),
            .init(kind: .device, vault: household, epoch: Self.tokenEpoch, key: token),
        ])
        return KeyRing(own.entries + ring.entries).sealed(under: Self.storageKey(machineSecret))
    }

    /// - Throws: `SealedFormatsError`.
    init(
        sealed bytes: [UInt8], household: ItemID, signingKey: DeviceSigningKey, machineSecret: SecretBytes
    ) throws {
        let stored = try KeyRing(sealed: bytes, rootKey: Self.storageKey(machineSecret))
        guard let boxKey = stored.key(.device, vault: household, epoch: Self.boxKeyEpoch),
            let token = stored.key(.device, vault: household, epoch: Self.tokenEpoch)
        else { throw UnreadableState(document: HouseholdDocuments.keys, cause: "a key is missing") }
        self.init(
            household: household, signingKey: signingKey, boxKey: try BoxKeyPair(privateKey: boxKey), token: token,
            ring: KeyRing(stored.entries.filter { $0.kind == .status }))
    }

    private static let boxKeyEpoch: UInt32 = 1
    private static let tokenEpoch: UInt32 = 2

    private static func storageKey(_ machineSecret: SecretBytes) -> SecretBytes {
        KeyDerivation.hkdf(machineSecret, salt: nil, info: "applocker/1/household")
    }
}

/// A hub that can't even be asked, with the reason.
struct UnusableHub: HubConnection {
    let error: ControlError

    func send(_ request: HubRequest) async throws -> Data { throw error }
    func stream(after sequence: UInt64) async throws -> AsyncThrowingStream<HubStreamItem, any Error> { throw error }
}

extension ControlError {
    /// What the hub or the way to it said, as an answer.
    init(hub error: any Error) {
        switch error {
        case let error as ControlError: self = error
        case let error as HubError: self.init(.hub, error.message, retryAfterSeconds: error.retryAfterSeconds)
        case let error as HubUnreachable: self.init(.hub, error.sentence)
        case let error as RosterMisbehaviour:
            self.init(.hub, "The hub can't be trusted: it served \(error). Nothing was changed.")
        default: self = ControlError(lower: error) ?? ControlError(.hub, "\(error)")
        }
    }
}
