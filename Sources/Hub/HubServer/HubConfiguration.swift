import HubAPI

/// An operator's settings of a hub.
public struct HubConfiguration: Sendable {
    public enum Listener: Equatable, Sendable {
        case tcp(host: String, port: Int)
        /// A Unix socket, for a reverse proxy on the same machine; its mode is 0660.
        case unix(path: String)
    }

    /// Who may found a household.
    public enum Registration: Equatable, Sendable {
        case open
        /// Clients with this token or an invitation, and clients on this machine that connect without a proxy.
        case token(String)
        /// Clients on this machine that connect without a proxy. As always, also members who create a shared vault.
        case closed

        var report: HubRegistration {
            switch self {
            case .open: .open
            case .token: .invitation
            case .closed: .closed
            }
        }
    }

    /// Files in PEM: the certificate with its chain, and its private key.
    public struct Certificate: Equatable, Sendable {
        public var chainPath: String
        public var keyPath: String
        public init(chainPath: String, keyPath: String) {
            self.chainPath = chainPath
            self.keyPath = keyPath
        }
    }

    public var listener: Listener
    public var certificate: Certificate?
    public var registration: Registration
    /// Proxies whose `X-Forwarded-For` is trusted.
    public var trustedProxies: [AddressRange]
    /// The token with which clients that aren't local may read `/metrics`.
    public var metricsToken: String?
    /// The companion's files; nil: `/` describes the hub.
    public var webDirectory: String?
    /// Days for which new households keep events, 1 to 3650.
    public var eventDays: Int?
    public var limits: HubLimits
    public var push: PushSettings

    public init(
        listener: Listener = .tcp(host: "127.0.0.1", port: 8440), certificate: Certificate? = nil,
        registration: Registration = .open, trustedProxies: [AddressRange] = [], metricsToken: String? = nil,
        webDirectory: String? = nil, eventDays: Int? = nil, limits: HubLimits = HubLimits(),
        push: PushSettings = PushSettings()
    ) {
        self.listener = listener
        self.certificate = certificate
        self.registration = registration
        self.trustedProxies = trustedProxies
        self.metricsToken = metricsToken
        self.webDirectory = webDirectory
        self.eventDays = eventDays
        self.limits = limits
        self.push = push
    }
}

/// How much of the hub one household, device or address may use.
public struct HubLimits: Sendable {
    /// `burst` at once, and `perSecond` more each second; 0 a second: no limit.
    public struct Rate: Equatable, Sendable {
        public var perSecond: Double
        public var burst: Double
        public init(perSecond: Double, burst: Double) {
            self.perSecond = perSecond
            self.burst = burst
        }
        public static let none = Rate(perSecond: 0, burst: 0)
    }

    public var householdRequests = Rate(perSecond: 200, burst: 2_000)
    public var deviceRequests = Rate(perSecond: 100, burst: 1_000)
    public var addressRequests = Rate(perSecond: 200, burst: 2_000)
    /// Bytes sent to the hub.
    public var householdBytes = Rate(perSecond: 32e6, burst: 512e6)
    public var addressBytes = Rate(perSecond: 32e6, burst: 512e6)
    public var failedTokens = Rate(perSecond: 0.2, burst: 20)
    /// Households founded, and attempts to join, from one address.
    public var arrivals = Rate(perSecond: 0.1, burst: 20)
    /// Households founded from one address at a hub that is open to all.
    public var openFoundings = Rate(perSecond: 10.0 / 86_400, burst: 10)
    /// Households that are not shared vaults; nil: no limit.
    public var households: Int?
    /// Sealed bytes that a household may store, records and blobs.
    public var quotaBytes: UInt64 = 10 << 30
    /// Of one video or voice note. Companions obey it: the hub can't see what a blob is.
    public var recordingBytes: UInt64 = 500 << 20
    /// Connections beyond this wait in the listen queue until others close.
    public var connections = 16_384
    /// More are refused as `too_many`.
    public var connectionsPerAddress = 1_024
    /// A connection that sends nothing for this long is closed, also in the middle of a request.
    public var idleTimeout: Duration = .seconds(30)
    /// Time for a whole request; large bodies get more.
    public var requestTimeout: Duration = .seconds(30)
    /// Bytes a second. A client that sends or reads more slowly is disconnected.
    public var slowestClient = 8 << 10
    /// The interval of a stream's heartbeats.
    public var heartbeat: Duration = .seconds(15)
    public var streamsPerHousehold = 16_384
    /// A companion has one for each tab, a computer one.
    public var streamsPerDevice = 16
    /// Memory for large bodies and responses, all together.
    public var memoryBytes = 256 << 20
    /// How long a shutdown waits for requests in progress.
    public var shutdownTimeout: Duration = .seconds(10)

    public init() {}
}

public struct PushSettings: Sendable {
    /// A `mailto:` or `https:` address of the operator, which push services see.
    public var contact: String?
    /// Also allows addresses of private networks and of this machine, and for those plain http.
    public var allowsPrivateAddresses = false
    /// Queued messages of all subscriptions together. Beyond it, each new message displaces one of the household that
    /// has most.
    public var maximumWaiting = 10_000
    /// Queued messages of one subscription. Beyond it, a new message displaces one of the sender that has most.
    public var maximumWaitingEach = 32
    /// The time limit of a request to a push service.
    public var timeout: Duration = .seconds(10)
    /// The pause before the second attempt; doubled for each further one.
    public var firstRetry: Duration = .seconds(2)
    public var attempts = 6

    public init() {}
}
