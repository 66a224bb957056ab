public import Foundation

/// `GET /v1/hub`, without a token.
public struct HubReport: Codable, Sendable {
    /// "applocker-hub".
    public var name: String
    public var version: String
    /// Milliseconds since 1970 by the hub's clock. For people: no device decides by it.
    public var time: UInt64
    /// VAPID (RFC 8292) public key, base64url without padding, 65 bytes X9.63.
    public var pushKey: String
    /// Whether a new household needs the operator's registration token, or an invitation, from this client.
    public var needsRegistrationToken: Bool
    /// Who may found a household from another machine.
    public var registration: HubRegistration
    public init(
        name: String, version: String, time: UInt64, pushKey: String, needsRegistrationToken: Bool,
        registration: HubRegistration
    ) {
        self.name = name
        self.version = version
        self.time = time
        self.pushKey = pushKey
        self.needsRegistrationToken = needsRegistrationToken
        self.registration = registration
    }
}

/// Who may found a household at a hub, other than clients on its machine and members who create a shared vault.
public enum HubRegistration: String, CaseIterable, Codable, Sendable {
    case open
    /// Holders of the registration token, of a start link, or of an invitation to a household here.
    case invitation
    /// Nobody.
    case closed
}

public enum HubDeviceRole: String, CaseIterable, Codable, Sendable {
    case computer, companion
    /// A companion that may also admit and revoke devices.
    case administrator

    /// Whether the device may admit and revoke.
    public var administers: Bool { self != .companion }
    /// Whether the device is a phone or a browser.
    public var isCompanion: Bool { self != .computer }
}

/// `POST /v1/households`. The same request again is answered as the first time.
public struct NewHouseholdRequest: Codable, Sendable {
    public var household: HubID
    /// The device that founds it.
    public var device: HubID
    /// The first roster entry (docs/formats.md).
    public var entry: Data
    /// SHA-256 of the token that the device made for itself, 32 bytes.
    public var tokenHash: Data
    public var registrationToken: String?
    /// The founder's role, one that administers. Absent: a computer.
    public var role: HubDeviceRole?
    /// The part after `#start=` of a link that the hub's operator made.
    public var start: String?
    /// An invitation of a household at this hub, which admits one founder too.
    public var vaultInvitation: VaultInvitationProof?
    public init(
        household: HubID, device: HubID, entry: Data, tokenHash: Data, registrationToken: String? = nil,
        role: HubDeviceRole? = nil, start: String? = nil, vaultInvitation: VaultInvitationProof? = nil
    ) {
        self.household = household
        self.device = device
        self.entry = entry
        self.tokenHash = tokenHash
        self.registrationToken = registrationToken
        self.role = role
        self.start = start
        self.vaultInvitation = vaultInvitation
    }
}

/// That a device has the link of an invitation.
public struct VaultInvitationProof: Codable, Equatable, Sendable {
    public var id: HubID
    /// 32 bytes, as in `JoinRequest`.
    public var proof: Data
    public init(id: HubID, proof: Data) {
        self.id = id
        self.proof = proof
    }
}

extension NewHouseholdRequest {
    public var founderRole: HubDeviceRole { role ?? .computer }
}

/// `GET /v1/household`.
public struct HouseholdReport: Codable, Sendable {
    public var household: HubID
    /// Newest sequence number.
    public var sequence: UInt64
    public var records: Int
    /// 512 for each record and what is sealed in it, and blobs, and how many there may be.
    public var bytes: UInt64
    public var quotaBytes: UInt64
    /// How large a video or a voice note may be that companions send. Nil: of an older hub.
    public var recordingBytes: UInt64?
    /// After so many days the hub forgets events.
    public var eventDays: Int
    /// Of the hub's store, oldest first: a store that was restored or replaced has others than a device saw before.
    public var generations: [HubGeneration]
    public init(
        household: HubID, sequence: UInt64, records: Int, bytes: UInt64, quotaBytes: UInt64,
        recordingBytes: UInt64? = nil, eventDays: Int, generations: [HubGeneration] = []
    ) {
        self.recordingBytes = recordingBytes
        self.generations = generations
        self.household = household
        self.sequence = sequence
        self.records = records
        self.bytes = bytes
        self.quotaBytes = quotaBytes
        self.eventDays = eventDays
    }
}

/// One run of a hub's store: from when it was opened until it was opened again.
public struct HubGeneration: Codable, Hashable, Sendable {
    /// Random.
    public var id: HubID
    /// The household's newest sequence number when it began.
    public var after: UInt64
    public init(id: HubID, after: UInt64) {
        self.id = id
        self.after = after
    }

    /// So many are kept, the newest.
    public static let maximumCount = 64
}

/// `PATCH /v1/household`, by devices that administer.
public struct ChangeHouseholdRequest: Codable, Sendable {
    /// 1 to 3650.
    public var eventDays: Int?
    public init(eventDays: Int? = nil) { self.eventDays = eventDays }
}

/// `GET /v1/roster?after=N`: entries above number N, ascending.
public struct RosterPage: Codable, Sendable {
    public var entries: [Data]
    public init(entries: [Data]) { self.entries = entries }
}

/// `POST /v1/roster`, by devices that administer. The hub reads of the entry what it acts on; the devices check it.
public struct RosterAppendRequest: Codable, Sendable {
    /// Its number: the one after the last; else 409.
    public var number: UInt64
    public var entry: Data
    public var change: RosterChange
    public init(number: UInt64, entry: Data, change: RosterChange) {
        self.number = number
        self.entry = entry
        self.change = change
    }
}

/// What a roster entry does at the hub.
public enum RosterChange: Codable, Equatable, Sendable {
    /// The device that joined by this invitation may come in from now on.
    case admit(device: HubID, role: HubDeviceRole, invitation: HubID)
    /// Its token, push subscription, PIN shares and streams end in the same moment.
    case revoke(device: HubID)
    /// The hub lost the entry, as a store that was restored from a backup. A device that the entry revokes is removed
    /// where the hub still has it; one that the entry admits has to be paired again, as the hub has no token of it.
    case restore(revoked: HubID?)

    /// The device whose access ends.
    public var revoked: HubID? {
        switch self {
        case .admit: nil
        case .revoke(let device): device
        case .restore(let device): device
        }
    }
}

/// `GET /v1/devices`.
public struct HubDeviceList: Codable, Sendable {
    public var devices: [HubDevice]
    public init(devices: [HubDevice]) { self.devices = devices }
}

public struct HubDevice: Codable, Equatable, Sendable {
    public var id: HubID
    public var role: HubDeviceRole
    public var state: HubDeviceState
    /// Seconds since 1970, to the minute; nil: never.
    public var lastSeen: UInt64?
    /// Has a stream open now, at the hub that is asked.
    public var isConnected: Bool
    public var hasPush: Bool
    public init(
        id: HubID, role: HubDeviceRole, state: HubDeviceState, lastSeen: UInt64?, isConnected: Bool, hasPush: Bool
    ) {
        self.id = id
        self.role = role
        self.state = state
        self.lastSeen = lastSeen
        self.isConnected = isConnected
        self.hasPush = hasPush
    }
}

public enum HubDeviceState: String, CaseIterable, Codable, Sendable {
    /// Joined by an invitation and not admitted yet: it may ask for `GET /v1/device` and nothing else.
    case pending
    case active
}

/// `GET /v1/device`: of the token's own device. A token that is revoked is `unauthorized`.
public struct OwnDeviceReport: Codable, Sendable {
    public var device: HubID
    public var household: HubID
    public var role: HubDeviceRole
    public var state: HubDeviceState
    public init(device: HubID, household: HubID, role: HubDeviceRole, state: HubDeviceState) {
        self.device = device
        self.household = household
        self.role = role
        self.state = state
    }
}

// MARK: Blobs

/// `POST /v1/blobs`. The same request again returns its progress.
public struct NewBlobRequest: Codable, Sendable {
    public var id: HubID
    /// In bytes, from 1.
    public var size: UInt64
    /// SHA-256 of all of it, 32 bytes.
    public var hash: Data
    public init(id: HubID, size: UInt64, hash: Data) {
        self.id = id
        self.size = size
        self.hash = hash
    }
}

/// Also the answer of `PATCH /v1/blobs/{blob}?offset=N` (the next bytes, at most 4 MiB) and `GET /v1/blobs/{blob}/state`.
public struct BlobState: Codable, Equatable, Sendable {
    public var size: UInt64
    /// So many bytes are durable; the next piece begins here.
    public var received: UInt64
    public var isComplete: Bool
    public init(size: UInt64, received: UInt64, isComplete: Bool) {
        self.size = size
        self.received = received
        self.isComplete = isComplete
    }

    /// Of one piece, in bytes.
    public static let maximumPiece = 4 << 20
}

// MARK: Push

/// `PUT /v1/push`: the subscription of the token's own device, as a browser's PushSubscription.toJSON() has it.
public struct PushSubscriptionRequest: Codable, Equatable, Sendable {
    public struct Keys: Codable, Equatable, Sendable {
        /// base64url without padding, 65 bytes.
        public var p256dh: String
        /// base64url without padding, 16 bytes.
        public var auth: String
        public init(p256dh: String, auth: String) {
            self.p256dh = p256dh
            self.auth = auth
        }
    }

    public var endpoint: String
    public var keys: Keys
    /// Nil: messages are sent as they are.
    public var fallback: PushFallback?
    public init(endpoint: String, keys: Keys, fallback: PushFallback? = nil) {
        self.endpoint = endpoint
        self.keys = keys
        self.fallback = fallback
    }
}

/// What the browser itself shows if the companion's worker does not run, chosen by the companion: messages are then
/// declarative (W3C Push API, "Declarative push message"), with what a device sent as the notification's data.
public struct PushFallback: Codable, Equatable, Sendable {
    /// 1 to 64 bytes.
    public var title: String
    /// At most 128 bytes.
    public var body: String
    /// The address that a tap opens, at most 256 bytes.
    public var navigate: String

    public init(title: String, body: String, navigate: String) {
        self.title = title
        self.body = body
        self.navigate = navigate
    }
}

/// `POST /v1/push/messages`: sealed already; the hub encrypts it once more for each subscription (RFC 8291) and sends it.
public struct PushMessageRequest: Codable, Sendable {
    public enum Urgency: String, CaseIterable, Codable, Sendable {
        case veryLow = "very-low"
        case low, normal, high
    }

    /// At most 3,072 bytes.
    public var payload: Data
    public var urgency: Urgency
    /// Seconds that the push service keeps it for a device that is offline.
    public var ttl: Int
    /// Replaces a waiting message of the same sender and topic; at most 32 characters of base64url (RFC 8030 section 5.4).
    public var topic: String?
    /// Absent: every other device of the household that has a subscription.
    public var devices: [HubID]?
    public init(payload: Data, urgency: Urgency, ttl: Int, topic: String? = nil, devices: [HubID]? = nil) {
        self.payload = payload
        self.urgency = urgency
        self.ttl = ttl
        self.topic = topic
        self.devices = devices
    }

    public static let maximumPayloadBytes = 3_072
}

/// How many subscriptions it is on its way to.
public struct PushMessageAnswer: Codable, Sendable {
    public var subscriptions: Int
    public init(subscriptions: Int) { self.subscriptions = subscriptions }
}

/// What `GET /v1/stream` sends besides records (`event: record`, `id:` the sequence number, `data:` a `HubRecord`).
public enum HubStreamEvent: String, CaseIterable, Codable, Sendable {
    case record
    /// In the place of a record whose sealed bytes are over 64 KiB; `id:` is its sequence number. Fetch what follows the
    /// number before it.
    case large
    /// The roster has grown; `data:` is its newest number.
    case roster
    /// A device has joined by an invitation; `data:` is the invitation's id. To devices that administer.
    case join
    /// Everything up to the id in `id:` was sent; what follows is live.
    case live
}
