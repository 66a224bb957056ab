/// Counts wrong passcodes and computes when the next may be tried. `LockoutLadders` has one for each user.
///
/// The steps are 60 s at the 5th failure, 2 min at the 8th, 5 min at the 10th, 15 min at the 15th, 1 h at the 20th and
/// at each one after it. The failures in between (6, 7, 9, 11 to 14, 16 to 19) start no lockout.
///
/// An attempt counts before it is compared, so that cutting the power during the comparison wins nothing:
/// ```
/// guard case .open = ladder.status(at: now) else { refuse }
/// ladder.recordFailure(at: now); save(ladder)      // durable before the comparison starts
/// if passcode matches { ladder.recordSuccess(); save(ladder) }
/// ```
/// Only time since boot counts, never the wall clock. How much of a lockout passed before a reboot can't be known, so
/// it starts again in full.
public struct LockoutLadder: Hashable, Sendable {
    public enum Status: Hashable, Sendable {
        case open(failures: Int)
        case lockedOut(remaining: Duration, failures: Int)
    }

    struct Lockout: Hashable, Sendable, Codable {
        /// The count that started it; it determines the length.
        var failures: Int
        var boot: BootID
        /// Time since boot.
        var startedAt: Duration
    }

    /// Wrong passcodes since the last right one.
    public private(set) var failures: Int
    private(set) var lockout: Lockout?

    public init() { failures = 0 }

    /// The lockout that starts at this failure; nil if none does.
    public static func lockout(atFailure failures: Int) -> Duration? {
        switch failures {
        case 5: .seconds(60)
        case 8: .seconds(120)
        case 10: .seconds(300)
        case 15: .seconds(900)
        case 20...: .seconds(3600)
        default: nil
        }
    }

    /// How many wrong passcodes from here start the next lockout, at least 1.
    public var failuresToNextLockout: Int {
        (1...5).first { Self.lockout(atFailure: failures + $0) != nil } ?? 1
    }

    /// Counts an attempt as failed and starts the lockout that belongs to the new count.
    /// - Returns: the status that now holds.
    @discardableResult
    public mutating func recordFailure(at moment: Moment) -> Status {
        self = rebased(at: moment)
        failures = min(failures, Self.largestCount - 1) + 1
        if Self.lockout(atFailure: failures) != nil {
            lockout = Lockout(failures: failures, boot: moment.boot, startedAt: moment.elapsed)
        }
        return status(at: moment)
    }

    /// The owner's passcode was right.
    public mutating func recordSuccess() { self = LockoutLadder() }

    /// Withdraws the failure that was counted for a right attempt, and its lockout, but no other. For an app's own
    /// passcode, which must not reset the count between guesses at the owner's.
    public mutating func withdrawFailure() {
        if lockout?.failures == failures { lockout = nil }
        failures = max(failures - 1, 0)
    }

    public func status(at moment: Moment) -> Status {
        guard let lockout = rebased(at: moment).lockout, let length = Self.lockout(atFailure: lockout.failures) else {
            return .open(failures: failures)
        }
        return .lockedOut(remaining: length - (moment.elapsed - lockout.startedAt), failures: failures)
    }

    /// The ladder at this moment: a lockout from another boot, or from a later time of this one, starts again in full, and
    /// one that is over is dropped. The daemon saves the result at its start.
    public func rebased(at moment: Moment) -> LockoutLadder {
        guard let lockout else { return self }
        var result = self
        if lockout.boot != moment.boot || moment.elapsed < lockout.startedAt {
            result.lockout = Lockout(failures: lockout.failures, boot: moment.boot, startedAt: moment.elapsed)
        } else if let length = Self.lockout(atFailure: lockout.failures), moment.elapsed - lockout.startedAt >= length {
            result.lockout = nil
        }
        return result
    }

    private static let largestCount = 1_000_000
}

extension LockoutLadder: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        failures = try container.decode(Int.self, forKey: .failures)
        lockout = try container.decodeIfPresent(Lockout.self, forKey: .lockout)
        let isPossible = lockout.map { $0.failures <= failures && Self.lockout(atFailure: $0.failures) != nil } ?? true
        let startedAt = lockout?.startedAt ?? .zero
        guard 0...Self.largestCount ~= failures, isPossible, Moment.plausibleTimes.contains(startedAt) else {
            throw DecodingError.dataCorruptedError(
                forKey: .failures, in: container, debugDescription: "The lockout's count is invalid.")
        }
    }
}
