import ControlAPI
import Foundation
import Household
public import HubAPI
public import SealedFormats
import Sync

/// Documents of the household besides records.
enum HouseholdDocuments {
    /// `HubSettings`.
    static let settings = "hub"
    /// Box key, token and status keys, sealed under the machine secret.
    static let keys = "household-keys"
    /// `StoredRoster`.
    static let roster = "roster"
    /// The id of the newest record of `events` by this computer.
    static let eventHead = "event-head"
    /// `StoredRevocation`, until the hub has received it.
    static let revocation = "revocation"
    /// Present while records are still sealed under keys of a revoked device, because the vault was locked.
    static let reseal = "seal-anew"
    /// Present if the owner has chosen no hub, so that none is connected automatically.
    static let declined = "hub-declined"
    /// `StoredJoining`, while this computer waits to be admitted to a household.
    static let joining = "joining"
    /// A sentence, if another computer revoked this one.
    static let revocationNotice = "put-out"
    /// The households that this computer left or that revoked it, as JSON. None admits it again under its key.
    static let left = "households-left"
    /// The number of the newest roster entry that this computer has answered with its own keys, in decimal.
    static let answered = "roster-answered"
    /// The names of devices that this computer revoked, by id, as JSON. They stay when the household is left.
    static let formerNames = "former-names"
    /// Present while a companion may lack keys of the vault, because it was locked when they were sent.
    static let keysOwed = "keys-owed"
    /// When the newest alert was sent to phones, in seconds since 1970, in decimal.
    static let alertSent = "alert-sent"
    /// `FirstVaultKey`, in a household that a phone founded.
    static let firstVaultKey = "first-vault-key"

    /// The documents that are removed with the hub.
    static let ofHub =
        [settings, keys, roster, eventHead, revocation, reseal, answered, keysOwed, alertSent, firstVaultKey]
        + SyncDocuments.all
}

/// The address of the hub, and how to connect to it.
public struct HubSettings: Codable, Equatable, Sendable {
    public var url: String
    /// PEM file.
    public var certificates: String?
    public var proxy: String?
    /// Plain HTTP to another machine is allowed.
    public var isInsecure: Bool
    /// The hub that `applocker up` runs. Its address is passed at each start.
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

/// A device that was revoked here, until the hub has received the revocation.
struct StoredRevocation: Codable {
    var device: ItemID
    var name: String
}

/// What a daemon needs to be part of a household.
public struct HouseholdPorts: Sendable {
    var store: any HouseholdStore
    /// This computer's key; it signs records and the roster.
    var signingKey: DeviceSigningKey
    /// Connects to a hub. The token is nil for requests that need no authorization.
    var connect: @Sendable (HubSettings, SecretBytes?) throws -> any HubConnection
    /// The address of the hub that `applocker up` runs.
    var embeddedHub: String?

    public init(
        store: any HouseholdStore, signingKey: DeviceSigningKey,
        connect: @escaping @Sendable (HubSettings, SecretBytes?) throws -> any HubConnection,
        embeddedHub: String? = nil
    ) {
        self.store = store
        self.signingKey = signingKey
        self.connect = connect
        self.embeddedHub = embeddedHub
    }

    /// A connection; where none can be made, one whose requests throw why.
    func connection(_ settings: HubSettings, _ token: SecretBytes?) -> any HubConnection {
        do {
            return try connect(settings, token)
        } catch {
            return UnusableHub(error: ControlError(hub: error))
        }
    }

    /// The hub of `applocker up` has another address after each start.
    func withTodaysAddress(_ settings: HubSettings) -> HubSettings {
        var settings = settings
        if settings.isEmbedded, let embeddedHub { settings.url = embeddedHub }
        return settings
    }
}

extension HouseholdSecrets {
    /// The form in which a computer stores them: a ring under a key that is derived from the machine secret alone. It
    /// opens while everything is locked, and is lost with the machine secret.
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

/// A hub to which no connection can be made, with the reason.
struct UnusableHub: HubConnection {
    let error: ControlError

    func send(_ request: HubRequest) async throws -> Data { throw error }
    func stream(after sequence: UInt64) async throws -> AsyncThrowingStream<HubStreamItem, any Error> { throw error }
}

extension ControlError {
    /// Converts an error of the hub or of the connection to it.
    init(hub error: any Error) {
        switch error {
        case let error as ControlError: self = error
        case let error as HubError: self.init(.hub, error.message, retryAfterSeconds: error.retryAfterSeconds)
        case let error as HubUnreachable: self.init(.hub, error.sentence)
        case let error as RosterViolation:
            self.init(.hub, "The hub can't be trusted: it returned \(error). Nothing was changed.")
        default: self = ControlError(lower: error) ?? ControlError(.hub, "\(error)")
        }
    }
}
