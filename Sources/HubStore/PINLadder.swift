package import Foundation
package import WireProtocol

/// How a PIN share counts: four failures are free, from the 5th on the next attempt waits, the 10th destroys.
///
/// A failure is counted with the attempt, before anything is compared, and taken back by a right PIN.
package struct PINLadder: Equatable, Sendable {
    package var failures: Int
    /// Seconds since 1970 from which on the next attempt is looked at; 0 at once.
    package var opensAt: Int64
    package var isDestroyed: Bool

    package static let fresh = PINLadder(failures: 0, opensAt: 0, isDestroyed: false)

    package init(failures: Int, opensAt: Int64, isDestroyed: Bool) {
        self.failures = failures
        self.opensAt = opensAt
        self.isDestroyed = isDestroyed
    }

    package enum Attempt: Equatable, Sendable {
        /// Counted: store it, then compare.
        case counts
        /// The 10th attempt was counted and nobody said that it was right: overwrite the entries and refuse.
        case destroys
        case refused(HubError)
    }

    package mutating func attempt(at time: Int64) -> Attempt {
        if isDestroyed { return .refused(.pinShareIsDestroyed) }
        if opensAt > time { return .refused(.pinHasToWait(opensAt - time)) }
        if failures >= PINShareState.failuresToDestroy {
            isDestroyed = true
            return .destroys
        }
        failures += 1
        if failures >= PINShareState.failuresToWait { opensAt = time + Int64(PINShareState.waitSeconds) }
        return .counts
    }

    /// - Returns: whether the entries have to be overwritten.
    package mutating func fail() -> Bool {
        guard failures >= PINShareState.failuresToDestroy, !isDestroyed else { return false }
        isDestroyed = true
        return true
    }
}

extension PINShareRequest {
    /// Bytes of all entries of a share: verifier ‖ share, one after the other.
    package static let storedBytes = count * 64

    /// The entries as they are stored.
    /// - Throws: `badPINShare`.
    package func stored() throws -> Data {
        guard entries.count == Self.count, entries.allSatisfy({ $0.verifier.count == 32 && $0.share.count == 32 })
        else { throw HubError.badPINShare }
        return Data(entries.flatMap { $0.verifier + $0.share })
    }

    /// The entries as they are stored once the last one with this verifier gave way to another one, which is the last.
    /// - Throws: `pinWasReplaced` where there is none, `badPINShare`.
    package static func stored(_ stored: Data, replacing verifier: Data, by entry: Entry) throws -> Data {
        guard var entries = entries(stored: stored) else { throw HubError.badPINShare }
        guard let index = entries.lastIndex(where: { $0.verifier == verifier }) else { throw HubError.pinWasReplaced }
        entries.remove(at: index)
        return try PINShareRequest(entries: entries + [entry]).stored()
    }

    /// - Returns: nil where that is not what `stored` gave.
    package static func entries(stored: Data) -> [Entry]? {
        guard stored.count == storedBytes else { return nil }
        let bytes = [UInt8](stored)
        return (0..<count).map { index in
            let entry = bytes[(index * 64)..<(index * 64 + 64)]
            return Entry(verifier: Data(entry.prefix(32)), share: Data(entry.suffix(32)))
        }
    }
}
