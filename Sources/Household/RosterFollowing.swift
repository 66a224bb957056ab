public import SealedFormats
public import WireProtocol

/// The hub's list of devices is not one that continues the list that was seen before.
public struct RosterMisbehaviour: Error, Equatable, Sendable, CustomStringConvertible {
    /// What it was that the hub served.
    public let description: String
}

extension Roster {
    /// Follows the hub's list. Entries that were seen are kept by the device itself, so the hub can only add what a computer
    /// of the household signed.
    /// - Returns: whether it has grown.
    /// - Throws: `RosterMisbehaviour`, and what the connection throws. The roster then stays as it is.
    public mutating func follow(_ hub: some HubConnection) async throws -> Bool {
        // The last known entry too: a hub that serves an older list, or another one, does not have it.
        let served = try await hub.roster(after: head.number - 1)
        guard let first = served.first, first == entries.last else {
            throw RosterMisbehaviour(description: "an older or another list of devices than before")
        }
        var longer = self
        do {
            for entry in served.dropFirst() { try longer.append(entry) }
        } catch {
            throw RosterMisbehaviour(description: "a list of devices that somebody without the right changed")
        }
        self = longer
        return served.count > 1
    }
}
