/// The lockout ladders of all users.
///
/// Root and each user who has entered the owner's passcode on this computer have their own. All others share one, so that
/// more accounts gain no attempts, and can't lock the owner out.
public struct LockoutLadders: Hashable, Sendable, Codable {
    public private(set) var shared = LockoutLadder()
    private var own: [UInt32: LockoutLadder] = [0: LockoutLadder()]

    public init() {}

    public func ladder(of user: UInt32) -> LockoutLadder { own[user] ?? shared }

    public func hasOwn(_ user: UInt32) -> Bool { own[user] != nil }

    /// The user has an own ladder from now on.
    public mutating func separate(_ user: UInt32) {
        if own[user] == nil { own[user] = LockoutLadder() }
    }

    public mutating func recordFailure(by user: UInt32, at moment: Moment) {
        change(user) { $0.recordFailure(at: moment) }
    }

    /// The owner's passcode was right. It also resets the shared ladder if the user had no own one: the failures may have
    /// been theirs.
    public mutating func recordSuccess(by user: UInt32) {
        if own[user] == nil { shared = LockoutLadder() }
        own[user] = LockoutLadder()
    }

    /// As `LockoutLadder.withdrawFailure`.
    public mutating func withdrawFailure(by user: UInt32) { change(user) { $0.withdrawFailure() } }

    /// As `LockoutLadder.rebased`.
    public func rebased(at moment: Moment) -> LockoutLadders {
        var result = self
        result.shared = shared.rebased(at: moment)
        result.own = own.mapValues { $0.rebased(at: moment) }
        return result
    }

    private mutating func change(_ user: UInt32, _ body: (inout LockoutLadder) -> Void) {
        if own[user] == nil { body(&shared) } else { body(&own[user]!) }
    }
}
