/// Everything the owner decided, as one value. Nothing in it runs by itself: the daemon passes the time in, saves the
/// value when it has changed, and sets the kernel's marks by `isGuarded`.
public struct LockPolicy: Hashable, Sendable, Codable {
    public enum Monitoring: Hashable, Sendable, Codable {
        case on
        /// Off from `since` to `until` (nil: until it is turned on), both in time since boot, of that boot only.
        /// `user` turned it off; nil where an earlier version did not record the user.
        case off(since: Duration, until: Duration?, boot: BootID, user: UInt32?)
    }

    public struct Settings: Hashable, Sendable, Codable {
        /// How long a launch waits for an answer while its user has a prompter, 5 s to 5 min; then it is denied.
        public var promptTimeout: Duration = .seconds(30)
        /// How long a launch waits that only a paired phone can answer, 30 s to 10 min; then it is denied.
        public var phoneTimeout: Duration = .seconds(120)
        /// The longest that any launch waits.
        public var longestTimeout: Duration { max(promptTimeout, phoneTimeout) }
        /// Whether launches by root are held as well.
        public var holdsRoot = true
        /// Launches held at a time for each user, 1 to 1024; the rest is denied.
        public var maximumWaitingPerUser = 64
        /// The default duration of a grant, 30 s to 1 h.
        public var defaultGrant = GrantScope.defaultDuration

        /// Whether a launch waits for a paired phone's answer where no prompter is there to ask.
        public var asksPhoneAlone = true

        public init() {}

        /// A field that an earlier version did not write has its default.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            promptTimeout = try container.decode(Duration.self, forKey: .promptTimeout)
            phoneTimeout = try container.decodeIfPresent(Duration.self, forKey: .phoneTimeout) ?? phoneTimeout
            holdsRoot = try container.decode(Bool.self, forKey: .holdsRoot)
            maximumWaitingPerUser = try container.decode(Int.self, forKey: .maximumWaitingPerUser)
            defaultGrant = try container.decode(Duration.self, forKey: .defaultGrant)
            asksPhoneAlone = try container.decodeIfPresent(Bool.self, forKey: .asksPhoneAlone) ?? asksPhoneAlone
        }

        /// - Throws: `PolicyError` with code `invalidSetting` for a value outside its range.
        public func validate() throws(PolicyError) {
            guard .seconds(5) ... .seconds(300) ~= promptTimeout else {
                throw PolicyError(
                    .invalidSetting, "A prompt can wait for 5 seconds to 5 minutes, not for \(promptTimeout.text).")
            }
            guard .seconds(30) ... .seconds(600) ~= phoneTimeout else {
                throw PolicyError(
                    .invalidSetting,
                    "A launch can wait for a phone for 30 seconds to 10 minutes, not for \(phoneTimeout.text).")
            }
            guard 1...1024 ~= maximumWaitingPerUser else {
                throw PolicyError(
                    .invalidSetting, "1 to 1024 launches a user can wait at a time, not \(maximumWaitingPerUser).")
            }
            guard GrantScope.allowedDurations.contains(defaultGrant) else {
                throw PolicyError(
                    .invalidSetting,
                    "The default unlock time is 30 seconds to 1 hour, not \(defaultGrant.text).")
            }
        }
    }

    public internal(set) var apps: [AppID: LockedApp] = [:]
    /// By name.
    public internal(set) var categories: [String: Category] = [:]
    /// At most one an app; some may have lapsed, ask `validGrant(for:at:)`.
    public internal(set) var grants: [AppID: Grant] = [:]
    public internal(set) var monitoring = Monitoring.on
    public internal(set) var settings = Settings()

    public init() {}

    /// A damaged state may hold any time, and one far enough overflows when it is counted with.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        apps = try container.decode([AppID: LockedApp].self, forKey: .apps)
        categories = try container.decode([String: Category].self, forKey: .categories)
        grants = try container.decode([AppID: Grant].self, forKey: .grants)
        monitoring = try container.decode(Monitoring.self, forKey: .monitoring)
        settings = try container.decode(Settings.self, forKey: .settings)
        var times = [settings.promptTimeout, settings.phoneTimeout, settings.defaultGrant]
        for grant in grants.values { times += [grant.startedAt, grant.expiresAt ?? .zero] }
        if case .off(let since, let until, _, _) = monitoring { times += [since, until ?? .zero] }
        guard times.allSatisfy(Moment.plausibleTimes.contains) else {
            throw DecodingError.dataCorruptedError(
                forKey: .grants, in: container, debugDescription: "A time is out of range.")
        }
    }
}
