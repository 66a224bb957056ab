/// How far a grant reaches. Written, stored and sent as text: "5m", "this-launch", "until-locked".
public enum GrantScope: Hashable, Sendable {
    /// For a time from 30 s to 1 h.
    case duration(Duration)
    /// One start of the app, with everything that instance starts itself.
    case thisLaunch
    /// Until the app is locked, the computer sleeps, or a period of inactivity passes.
    case untilLocked

    public static let allowedDurations: ClosedRange<Duration> = .seconds(30) ... .seconds(3600)
    public static let defaultDuration: Duration = .seconds(300)

    /// - Throws: `PolicyError` with code `invalidDuration` for a duration outside 30 s to 1 h.
    public func validate() throws(PolicyError) {
        if case .duration(let duration) = self, !Self.allowedDurations.contains(duration) {
            throw PolicyError(
                .invalidDuration, "An app can be unlocked for 30 seconds to 1 hour, not for \(duration.text).")
        }
    }
}

extension GrantScope: Codable, CustomStringConvertible {
    /// Reads "this-launch", "until-locked", or a duration such as "30s", "5m", "1h".
    /// - Throws: `PolicyError` with code `invalidDuration`.
    public init(text: String) throws(PolicyError) {
        switch text {
        case "this-launch": self = .thisLaunch
        case "until-locked": self = .untilLocked
        default: self = .duration(try Duration(text: text))
        }
        try validate()
    }

    /// The text that `init(text:)` reads.
    public var description: String {
        switch self {
        case .duration(let duration): duration.text
        case .thisLaunch: "this-launch"
        case .untilLocked: "until-locked"
        }
    }

    public init(from decoder: any Decoder) throws {
        try self.init(text: decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The owner's permission to run a locked app. It is measured by time since boot alone: setting the clock neither ends
/// nor lengthens it, and it ends with the boot.
public struct Grant: Hashable, Sendable, Codable {
    public let app: AppID
    public let scope: GrantScope
    public let boot: BootID
    /// Time since boot.
    public let startedAt: Duration
    /// Time since boot; nil when only an event ends the grant. A `.thisLaunch` grant that is not used expires too.
    public let expiresAt: Duration?
    /// Who unlocked it. Nil (an earlier version did not write it) and the superuser stand for everybody: such a grant
    /// ends when any user's session is locked.
    public let user: UInt32?

    public init(
        app: AppID, scope: GrantScope, boot: BootID, startedAt: Duration, expiresAt: Duration?, user: UInt32? = nil
    ) {
        self.user = user
        self.app = app
        self.scope = scope
        self.boot = boot
        self.startedAt = startedAt
        self.expiresAt = expiresAt
    }

    /// Whether the grant still holds. Another boot, or time since boot that ran backwards, voids it.
    public func isValid(at moment: Moment) -> Bool {
        moment.boot == boot && moment.elapsed >= startedAt && (expiresAt.map { moment.elapsed < $0 } ?? true)
    }

    /// Whether the grant ends with this user's presence.
    public func concerns(_ user: UInt32) -> Bool { self.user == user || self.user == nil || self.user == 0 }

    /// Time left; nil without an expiry, zero when the grant is void.
    public func remaining(at moment: Moment) -> Duration? {
        guard isValid(at: moment) else { return .zero }
        return expiresAt.map { $0 - moment.elapsed }
    }
}

/// Why a grant ended.
public enum GrantEndReason: String, Sendable, Codable, CaseIterable {
    case expired, launchUsed, locked, screenLocked, sleep, inactivity, appRemoved, replaced
    case userSwitched, loggedOut, lidClosed, shutdown
}

/// A grant that is over, and what is to happen to the app's running instances.
public struct EndedGrant: Hashable, Sendable, Codable {
    public let grant: Grant
    public let reason: GrantEndReason
    public let action: InstanceAction

    public init(grant: Grant, reason: GrantEndReason, action: InstanceAction) {
        self.grant = grant
        self.reason = reason
        self.action = action
    }
}
