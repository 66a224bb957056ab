/// What an operator decides about a hub.
public struct HubConfiguration: Sendable {
    public enum Listener: Equatable, Sendable {
        case tcp(host: String, port: Int)
        /// A Unix socket, for a reverse proxy on the same machine; its mode is 0660.
        case unix(path: String)
    }

    /// Who may found a household.
    public enum Registration: Equatable, Sendable {
        case open
        /// Whoever has this token, and clients on this machine that no proxy speaks for.
        case token(String)
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
    /// Whose word about the client's address is taken (`X-Forwarded-For`).
    public var trustedProxies: [AddressRange]
    /// Lets somebody else than a local client read `/metrics`.
    public var metricsToken: String?
    /// Files of the companion; nil: `/` says what this is.
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

/// How much of the hub one household, device or address may take.
public struct HubLimits: Sendable {
    /// So many at once, and so many again each second; 0 a second: no limit.
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
    /// Of what is sent to the hub.
    public var householdBytes = Rate(perSecond: 32e6, burst: 512e6)
    public var addressBytes = Rate(perSecond: 32e6, burst: 512e6)
    /// Requests with a token that nobody has.
    public var failedTokens = Rate(perSecond: 0.2, burst: 20)
    /// Households founded, and joins tried, by one address.
    public var arrivals = Rate(perSecond: 0.1, burst: 20)
    /// Sealed bytes that a household may have here, records and blobs.
    public var quotaBytes: UInt64 = 10 << 30
    /// Connections beyond this wait in the listen queue until others close.
    public var connections = 16_384
    /// More are refused as `too_many`.
    public var connectionsPerAddress = 1_024
    /// A connection that says nothing for so long, half a request included, is closed.
    public var idleTimeout: Duration = .seconds(30)
    /// What a client has for a whole request, before what its size adds.
    public var requestTimeout: Duration = .seconds(30)
    /// A client that sends, or takes what it asked for, more slowly is cut off. Bytes a second.
    public var slowestClient = 8 << 10
    /// How often a stream shows that it is alive.
    public var heartbeat: Duration = .seconds(15)
    /// Streams that one household may have open.
    public var streamsPerHousehold = 16_384
    /// Of large bodies and answers that are in memory at the same time.
    public var memoryBytes = 256 << 20
    /// What ending waits for requests that are under way.
    public var shutdownTimeout: Duration = .seconds(10)

    public init() {}
}

/// How pushes are sent.
public struct PushSettings: Sendable {
    /// A `mailto:` or `https:` address of the operator, which push services see.
    public var contact: String?
    /// Also to addresses of private networks and of this machine, and there by http too.
    public var allowsPrivateAddresses = false
    /// Waiting messages of all subscriptions together; of more, the household's are dropped that has most.
    public var maximumWaiting = 10_000
    /// Of one subscription.
    public var maximumWaitingEach = 32
    /// A request to a push service takes no longer.
    public var timeout: Duration = .seconds(10)
    /// Before the second attempt; doubled for each further one.
    public var firstRetry: Duration = .seconds(2)
    public var attempts = 6

    public init() {}
}
