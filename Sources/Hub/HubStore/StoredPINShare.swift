public import Foundation
package import HubAPI

/// The result of a PIN that a device sent. It is on disk before it is returned.
public enum PINAttempt: Equatable, Sendable {
    case right(share: Data)
    /// `failures`: the device's failures since the last right PIN; at `PINShareState.failuresToDestroy` nothing is
    /// left. `opensAt`: seconds since 1970 from which the next attempt is accepted; 0 at once.
    case wrong(failures: Int, opensAt: Int64)
}

/// The PIN share of a device, and how it counts.
///
/// There are two counts. The device's restarts with each right PIN and determines the response: four failures are free,
/// from the 5th on the next attempt has to wait, the 10th destroys everything. The other one is of each entry, restarts
/// only with that entry's own PIN and is never shown: at 10 that entry is overwritten and its PIN is wrong. So somebody
/// with one PIN has ten guesses at another, and no response reveals whether there is another.
public struct StoredPINShare: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package var verifier: Data
        package var share: Data
        /// SHA-256 of the secret that replaces this entry. It outlives the entry's destruction, because no PIN yields
        /// it.
        package var changeHash: Data
        package var failures: Int

        var isDestroyed: Bool { failures >= PINShareState.failuresToDestroy }

        mutating func fail() {
            guard !isDestroyed else { return }
            failures += 1
            if isDestroyed { destroy() }
        }

        mutating func destroy() {
            failures = PINShareState.failuresToDestroy
            (verifier, share) = (Data(count: 32), Data(count: 32))
        }
    }

    package var entries: [Entry]
    package var failures = 0
    package var opensAt: Int64 = 0
    /// One of its PINs was right: from then on a token alone can't replace the share.
    package var isSettled = false

    /// - Throws: `badPINShare`.
    package init(_ request: PINShareRequest) throws {
        let isValid =
            request.entries.count == PINShareRequest.count
            && request.entries.allSatisfy { entry in
                [entry.verifier, entry.share, entry.changeHash].allSatisfy { $0.count == 32 }
            }
        guard isValid else { throw HubError.badPINShare }
        entries = request.entries.map {
            Entry(verifier: $0.verifier, share: $0.share, changeHash: $0.changeHash, failures: 0)
        }
    }

    package var isDestroyed: Bool { failures >= PINShareState.failuresToDestroy }

    /// Requests overtake each other, and the clocks of several hubs differ, so up to twice the wait counts.
    /// - Returns: the seconds until the next attempt is accepted, at most those that are ever set. A wait of more than
    ///   twice these is due to a clock that was ahead, and counts as over.
    package static func wait(until opensAt: Int64, at time: Int64) -> Int64 {
        let wait = opensAt.subtractingReportingOverflow(time).partialValue
        let longest = Int64(PINShareState.waitSeconds)
        return (1...2 * longest).contains(wait) ? min(wait, longest) : 0
    }

    /// Compares every entry, in a time that does not depend on them; of two matches the last counts.
    /// - Throws: `gone` and `tooMany`; neither is counted.
    package mutating func attempt(_ verifier: Data, at time: Int64) throws -> PINAttempt {
        if isDestroyed { throw HubError.pinShareIsDestroyed }
        let wait = Self.wait(until: opensAt, at: time)
        if wait > 0 { throw HubError.pinHasToWait(wait) }
        var fitting: Int?
        for (index, entry) in entries.enumerated() where isSame(entry.verifier, verifier) && !entry.isDestroyed {
            fitting = index
        }
        if let fitting {
            (failures, opensAt, isSettled) = (0, 0, true)
            entries[fitting].failures = 0
            return .right(share: entries[fitting].share)
        }
        failures += 1
        for index in entries.indices { entries[index].fail() }
        if isDestroyed {
            for index in entries.indices { entries[index].destroy() }
        } else if failures >= PINShareState.failuresToWait {
            opensAt = time + Int64(PINShareState.waitSeconds)
        }
        return .wrong(failures: failures, opensAt: opensAt)
    }

    /// Replaces the verifier and share of the entries with this change secret, also of destroyed ones. The changed
    /// entry becomes the last one, so that a change can't find out another entry's verifier.
    /// - Throws: `gone`, `noPINEntry`, `badPINShare`.
    package mutating func replace(changeHash: Data, verifier: Data, share: Data) throws {
        guard verifier.count == 32, share.count == 32 else { throw HubError.badPINShare }
        if isDestroyed { throw HubError.pinShareIsDestroyed }
        guard let index = entries.firstIndex(where: { isSame($0.changeHash, changeHash) }) else {
            throw HubError.noPINEntry
        }
        entries.remove(at: index)
        entries.append(Entry(verifier: verifier, share: share, changeHash: changeHash, failures: 0))
        (failures, opensAt, isSettled) = (0, 0, true)
    }
}

extension StoredPINShare {
    private static let entryBytes = 97

    /// Always of the same length, so that a database overwrites the old bytes.
    package var storedEntries: Data {
        Data(entries.flatMap { $0.verifier + $0.share + $0.changeHash + [UInt8($0.failures)] })
    }

    /// - Returns: nil if the bytes aren't the format of `storedEntries`.
    package init?(storedEntries: Data, failures: Int, opensAt: Int64, isSettled: Bool) {
        guard storedEntries.count == PINShareRequest.count * Self.entryBytes else { return nil }
        let bytes = [UInt8](storedEntries)
        entries = stride(from: 0, to: bytes.count, by: Self.entryBytes).map { at in
            let part = { (index: Int) in Data(bytes[(at + 32 * index)..<(at + 32 * index + 32)]) }
            return Entry(verifier: part(0), share: part(1), changeHash: part(2), failures: Int(bytes[at + 96]))
        }
        self.failures = failures
        self.opensAt = opensAt
        self.isSettled = isSettled
    }
}

/// Compares in a time that does not depend on the bytes.
package func isSame(_ left: Data, _ right: Data) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
}
