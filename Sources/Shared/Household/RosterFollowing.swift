import Foundation
public import HubAPI
public import SealedFormats

/// The hub's list of devices is not one that continues the list that was seen before.
public struct RosterViolation: Error, Equatable, Sendable, CustomStringConvertible {
    /// What the hub served.
    public let description: String

    /// As of a store that was restored from a backup: see `Roster.restore(at:)`.
    public static let older = RosterViolation(description: "an older list of devices than before")
    static let another = RosterViolation(description: "another list of devices than before")
}

extension Roster {
    /// Follows the hub's list. Entries that were seen are kept by the device itself, so the hub can only add what a computer
    /// of the household signed.
    /// - Returns: whether it has grown.
    /// - Throws: `RosterViolation`, and what the connection throws. The roster then stays as it is.
    public mutating func follow(_ hub: some HubConnection) async throws -> Bool {
        // The last known entry too: a hub that serves an older list, or another one, does not have it.
        let served = try await hub.roster(after: head.number - 1)
        guard let first = served.first else { throw RosterViolation.older }
        guard first == entries.last else { throw RosterViolation.another }
        var longer = self
        do {
            for entry in served.dropFirst() { try longer.append(entry) }
        } catch {
            throw RosterViolation(description: "a list of devices that was changed without permission")
        }
        self = longer
        return served.count > 1
    }

    /// The same; a hub with an older list, as after a restored backup, receives the later entries first.
    /// - Parameter restored: called with their number, before the list is read again.
    /// - Throws: as `follow`.
    public mutating func followRestoring(
        isolation: isolated (any Actor)? = #isolation, _ hub: any HubConnection, restored: (Int) async -> Void
    ) async throws -> Bool {
        do {
            return try await follow(hub)
        } catch let error as RosterViolation where error == .older {
            await restored(try await restore(at: hub))
            return try await follow(hub)
        }
    }

    /// Sends the hub the entries that its list lost; a device that they revoke loses its access again. For computers.
    /// - Returns: how many entries were sent.
    /// - Throws: `RosterViolation` where the hub's list is not the beginning of this one, and what the connection throws.
    public func restore(at hub: some HubConnection) async throws -> Int {
        let served = try await hub.roster(after: 0)
        guard !served.isEmpty, entries.starts(with: served) else { throw RosterViolation.another }
        for (entry, change) in zip(entries, history).dropFirst(served.count) {
            let revoked = change.kind == .revoke ? HubID(change.device) : nil
            try await hub.append(
                RosterAppendRequest(number: change.number, entry: Data(entry), change: .restore(revoked: revoked)))
        }
        return entries.count - served.count
    }
}
