/// Whose wrong passcodes count together.
///
/// Every user who has given the owner's passcode on this computer has a ladder alone, and so has root. All others share
/// one: however many accounts a stranger has, they are one guesser, and they can't keep the owner out.
public struct LockoutLadders: Hashable, Sendable, Codable {
    public private(set) var shared = LockoutLadder()
    private var own: [UInt32: LockoutLadder] = [0: LockoutLadder()]

    public init() {}

    public func ladder(of user: UInt32) -> LockoutLadder { own[user] ?? shared }

    public func hasOwn(_ user: UInt32) -> Bool { own[user] != nil }

    /// The user counts alone from here on.
    public mutating func separate(_ user: UInt32) {
        if own[user] == nil { own[user] = LockoutLadder() }
    }

    public mutating func recordFailure(by user: UInt32, at moment: Moment) {
        change(user) { $0.recordFailure(at: moment) }
    }

    /// The owner's passcode was right. Somebody who counted with others has shown that the failures may have been
    /// theirs: those are forgiven too. A user who counts alone forgives nothing of a stranger's.
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
