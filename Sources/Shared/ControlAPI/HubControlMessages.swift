public import HubAPI

/// `POST /v1/hub`: founds a household at a hub and stays connected to it.
public struct ConnectHubRequest: Codable, Equatable, Sendable {
    /// "https://hub.example", or "http://" and a loopback address.
    public var url: String
    /// If the hub requires one; or a start link of its operator.
    public var registrationToken: String?
    /// PEM file with the certificates to trust instead of the system's, an absolute path.
    public var certificates: String?
    /// "http://proxy.example:3128".
    public var proxy: String?
    /// Allows plain HTTP to another machine.
    public var isInsecure: Bool?
    public init(
        url: String, registrationToken: String? = nil, certificates: String? = nil, proxy: String? = nil,
        isInsecure: Bool? = nil
    ) {
        self.url = url
        self.registrationToken = registrationToken
        self.certificates = certificates
        self.proxy = proxy
        self.isInsecure = isInsecure
    }
}

/// `POST /v1/hub/join`: asks to join the household of another computer.
public struct JoinHubRequest: Codable, Equatable, Sendable {
    /// The link that `applocker pair --computer` shows there. Of an invitation to a shared vault the link or the code.
    public var link: String
    /// With a code: the hub's address; nil for the hub of this computer's household.
    public var hub: String?
    /// As in `ConnectHubRequest`.
    public var certificates: String?
    public var proxy: String?
    public var isInsecure: Bool?
    public init(
        link: String, hub: String? = nil, certificates: String? = nil, proxy: String? = nil, isInsecure: Bool? = nil
    ) {
        self.link = link
        self.hub = hub
        self.certificates = certificates
        self.proxy = proxy
        self.isInsecure = isInsecure
    }
}

/// `GET /v1/hub/join` and `GET /v1/pairings/{pairing}`: for how many seconds the answer waits for a change.
public struct WaitQuery: ControlQuery {
    public static var fields: [QueryField<Self>] { [.number("wait", \.wait, 0...25)] }

    public var wait = 0
    public init() {}
    public init(wait: Int) { self.wait = wait }
}

/// `GET /v1/hub/join`, and the answer to asking.
public struct JoiningReport: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable {
        /// The owner must confirm at the other computer.
        case waiting
        /// The owner confirmed; the keys were not received yet.
        case admitted
        case joined
        /// It ended, and nothing was changed.
        case failed
    }

    public var state: State
    /// The hub's.
    public var url: String?
    public var sentence: String
    public init(state: State, url: String?, sentence: String) {
        self.state = state
        self.url = url
        self.sentence = sentence
    }
}

/// `GET /v1/hub`, and the answer to connecting and disconnecting.
public struct HubStatus: Codable, Equatable, Sendable {
    /// Nil: there is no hub.
    public var url: String?
    public var household: String?
    /// This computer's id.
    public var device: String
    public var connected: Bool
    /// Seconds since 1970, by this computer's clock, when hub and computer last had the same.
    public var lastSync: Double?
    /// Records of the household at the hub, as last reported.
    public var records: Int
    /// Records that were written here and not sent yet.
    public var waiting: Int
    /// Why there is no connection, or no hub any more; one sentence.
    public var problem: String?
    /// Records of the hub that were refused because they were tampered with.
    public var refused: Int
    /// A sentence each, newest last.
    public var misbehaviour: [String]
    /// Notes that were changed here and elsewhere, and wait for the vault to be opened to be kept as two.
    public var conflicts: Int
    /// The device whose revocation was not sent to the hub yet.
    public var revoking: String?
    /// The state of a request to join a household; one sentence.
    public var joining: String?
    /// True while the hub that runs beside AppLocker is being connected for the first time.
    public var isStarting: Bool?

    public init(
        url: String?, household: String?, device: String, connected: Bool, lastSync: Double?, records: Int,
        waiting: Int, problem: String?, refused: Int, misbehaviour: [String], conflicts: Int, revoking: String?,
        joining: String? = nil, isStarting: Bool? = nil
    ) {
        self.url = url
        self.household = household
        self.device = device
        self.connected = connected
        self.lastSync = lastSync
        self.records = records
        self.waiting = waiting
        self.problem = problem
        self.refused = refused
        self.misbehaviour = misbehaviour
        self.conflicts = conflicts
        self.revoking = revoking
        self.joining = joining
        self.isStarting = isStarting
    }
}

/// `POST /v1/pairings`.
public struct NewPairingRequest: Codable, Sendable {
    /// The hub's address as the other device reaches it, where that is another than this computer's.
    public var address: String?
    /// The role of the new device; a companion by default.
    public var role: HubDeviceRole?
    public init(address: String? = nil, role: HubDeviceRole? = nil) {
        self.address = address
        self.role = role
    }
}

/// An invitation for one device. Its link can be used once, within five minutes; the person who shows it must
/// see it alone.
public struct PairingReport: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable {
        case waiting
        /// A device has asked to join and waits for `POST …/confirm`.
        case joined
    }

    public var id: String
    public var state: State
    /// Only in the answer that makes it.
    public var link: String?
    /// What can be typed on a phone instead, on the page of the hub. Only beside a link for a phone.
    public var code: String?
    public var expiresInSeconds: Int
    /// The device's name for itself, once it has joined.
    public var name: String?
    public var device: String?
    public var role: HubDeviceRole?
    /// Three words that the device shows as well, once it has joined: another one that saw the link shows others.
    public var words: [String]?
    public init(
        id: String, state: State, link: String? = nil, code: String? = nil, expiresInSeconds: Int, name: String? = nil,
        device: String? = nil, role: HubDeviceRole? = nil, words: [String]? = nil
    ) {
        self.id = id
        self.state = state
        self.link = link
        self.code = code
        self.expiresInSeconds = expiresInSeconds
        self.name = name
        self.device = device
        self.role = role
        self.words = words
    }
}

/// What `applocker pair --ways --json` prints: whether a phone can reach the hub, as far as this computer can check it.
public struct PhoneWaysReport: Codable, Equatable, Sendable {
    /// The hub's address as this computer reaches it.
    public var hub: String
    /// An address for the link that a phone can use; nil: none is known.
    public var address: String?
    /// Why a phone can't use the address that was asked for; one sentence.
    public var problem: String?
    /// What a person can do, as lines of text.
    public var ways: [String]
    public init(hub: String, address: String?, problem: String? = nil, ways: [String] = []) {
        self.hub = hub
        self.address = address
        self.problem = problem
        self.ways = ways
    }
}

/// `GET /v1/devices`.
public struct DeviceList: Codable, Equatable, Sendable {
    public var devices: [DeviceReport]
    /// When the newest alert was sent to phones, in seconds since 1970, if it was a minute ago or more and no phone has
    /// been at the hub since, as the hub reports it.
    public var unconfirmedAlert: Double?
    public init(devices: [DeviceReport], unconfirmedAlert: Double? = nil) {
        self.devices = devices
        self.unconfirmedAlert = unconfirmedAlert
    }

    /// What to do about it, in words. `time` is that of the alert.
    public static func advice(onUnconfirmedAlertAt time: String) -> String {
        "No phone has confirmed the alert of \(time). On the phone, open Settings, Notifications, and send a test "
            + "notification."
    }
}

public struct DeviceReport: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var role: HubDeviceRole
    public var isThisComputer: Bool
    /// Seconds since 1970, as the hub reports it: for display only. Nil: never, or the hub can't be reached.
    public var lastSeen: Double?
    public var isConnected: Bool?
    public var hasPush: Bool?
    public init(
        id: String, name: String, role: HubDeviceRole, isThisComputer: Bool, lastSeen: Double? = nil,
        isConnected: Bool? = nil, hasPush: Bool? = nil
    ) {
        self.id = id
        self.name = name
        self.role = role
        self.isThisComputer = isThisComputer
        self.lastSeen = lastSeen
        self.isConnected = isConnected
        self.hasPush = hasPush
    }
}

/// `PATCH /v1/devices/{device}`.
public struct RenameDeviceRequest: Codable, Sendable {
    public var name: String
    public init(name: String) { self.name = name }
}
