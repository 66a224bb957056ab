import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

// Leaving the household.
extension HouseholdService {
    /// How long erasing everything waits for the hub.
    private static let patience = Duration.seconds(5)

    /// Leaves the hub. If no other device that administers remains and the hub can be reached, the household is removed there too, and
    /// paired devices are disconnected.
    ///
    /// - Returns: a sentence if the hub could not be informed.
    func disconnect(user: UInt32) async throws -> [String] {
        let session = try requireSession()
        var notes: [String] = []
        do {
            try await notifyHubOfLeaving()
        } catch {
            notes.append(
                "The hub could not be reached (\(ControlError(hub: error).message)); its data stays there, sealed.")
        }
        try await rememberLeaving(session.roster.household)
        try await store.forgetHub(removing: HouseholdDocuments.ofHub)
        if session.settings.isEmbedded { try await store.save([1], as: HouseholdDocuments.declined) }
        self.session = nil
        revocation = nil
        pairings = [:]
        events.send(.householdChanged)
        await log.append(.hubDisconnected, user: user, "AppLocker left the hub at \(session.settings.url).")
        return notes
    }

    func householdsLeft() async throws -> [ItemID] {
        try await store.decoded([ItemID].self, HouseholdDocuments.left) ?? []
    }

    func rememberLeaving(_ household: ItemID) async throws {
        let left = try await householdsLeft() + [household]
        try await store.save([UInt8](JSONEncoder().encode(left)), as: HouseholdDocuments.left)
    }

    /// Informs the hub before everything is erased, if it answers within five seconds. Nothing here changes.
    ///
    /// - Returns: a sentence if it could not be informed.
    func leaveBeforeErasing() async -> [String] {
        guard session != nil else { return [] }
        let outcome = AsyncStream<Bool>.makeStream()
        let notification = Task {
            outcome.continuation.yield((try? await notifyHubOfLeaving()) != nil)
        }
        // Neither task is a child of this one, so that a hanging connection is not waited for.
        let limit = Task { [time, end = time.elapsed() + Self.patience] in
            try await time.sleep(until: end)
            outcome.continuation.yield(false)
        }
        defer {
            notification.cancel()
            limit.cancel()
        }
        var first = outcome.stream.makeAsyncIterator()
        guard await first.next(isolation: self) == true else {
            return ["The hub could not be reached; its data stays there, sealed, and its keys no longer exist."]
        }
        return []
    }

    private func notifyHubOfLeaving() async throws {
        try await leaveHousehold(at: requireSession().hub, by: signingKey, clock: clock / 1_000) {
            try await followRoster()
        }
    }
}
