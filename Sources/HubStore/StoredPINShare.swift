public import Foundation
package import WireProtocol

/// What came of a PIN that a device sent. It is on disk when it is handed out.
public enum PINAttempt: Equatable, Sendable {
    case right(share: Data)
    /// `failures`: of the device, since a PIN was right last; at `PINShareState.failuresToDestroy` nothing is left.
    /// `opensAt`: seconds since 1970 from which on the next attempt is looked at; 0 at once.
    case wrong(failures: Int, opensAt: Int64)
}

/// The PIN share of a device, and how it counts.
///
/// There are two counts. One is of the device, begins anew with each right PIN and decides what is answered: four failures are
/// free, from the 5th on the next attempt waits, the 10th ends everything. The other one is of each entry, begins anew with
/// that entry's own PIN alone and is never shown: at 10 that entry is overwritten and its PIN is a wrong one. So who knows
/// one PIN has ten guesses at another, and finds out by no answer whether there is another.
package struct StoredPINShare: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package var verifier: Data
        package var share: Data
        /// SHA-256 of the secret that replaces this entry. It outlives the entry's destruction, as no PIN leads to it.
        package var changeHash: Data
        package var failures: Int

        package init(verifier: Data, share: Data, changeHash: Data, failures: Int) {
            self.verifier = verifier
            self.share = share
            self.changeHash = changeHash
            self.failures = failures
        }

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
    /// A PIN of it was right: from then on a token alone does not replace it.
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

    /// Every entry is compared, in a time that does not depend on them; of two that fit the last counts.
    /// - Throws: `gone` and `tooMany`, which count nothing.
    package mutating func attempt(_ verifier: Data, at time: Int64) throws -> PINAttempt {
        if isDestroyed { throw HubError.pinShareIsDestroyed }
        if opensAt > time { throw HubError.pinHasToWait(opensAt - time) }
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

    /// Puts a verifier and a share in the place of those that this secret replaces, also where they were destroyed. The entry
    /// becomes the last one, so that nobody finds out another one's verifier by a change.
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

    /// Always of the same length, so that a database writes over what was there.
    package var storedEntries: Data {
        Data(entries.flatMap { $0.verifier + $0.share + $0.changeHash + [UInt8($0.failures)] })
    }

    /// - Returns: nil where that is not what `storedEntries` was.
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

/// Compares without telling by its time where the first difference is.
package func isSame(_ left: Data, _ right: Data) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
}
