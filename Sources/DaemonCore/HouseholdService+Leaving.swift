import Foundation
import Household
import SealedFormats
import WireProtocol

// Leaving the household.
extension HouseholdService {
    /// What erasing everything waits for the hub.
    private static let patience = Duration.seconds(5)

    /// Leaves the hub. Where no other computer remains, what the hub keeps of the household goes too, where it can be
    /// reached: paired devices are cut off.
    ///
    /// - Returns: a sentence where the hub could not be told.
    func disconnect(user: UInt32) async throws -> [String] {
        let session = try requireSession()
        var notes: [String] = []
        do {
            try await tellOfLeaving()
        } catch {
            notes.append("The hub could not be told (\(ControlError(hub: error).message)); what it keeps is sealed.")
        }
        try await rememberLeaving(session.roster.household)
        try await store.forgetHub(removing: HouseholdDocuments.ofHub)
        if session.settings.isEmbedded { try await store.save([1], as: HouseholdDocuments.declined) }
        self.session = nil
        revocation = nil
        pairings = [:]
        await onSession?()
        await log.record(.hubDisconnected, user: user, "AppLocker left the hub at \(session.settings.url).")
        return notes
    }

    func householdsLeft() async throws -> [ItemID] {
        guard let bytes = try await store.document(HouseholdDocuments.left) else { return [] }
        return try UnreadableState.decode([ItemID].self, from: bytes, named: HouseholdDocuments.left)
    }

    func rememberLeaving(_ household: ItemID) async throws {
        let left = try await householdsLeft() + [household]
        try await store.save([UInt8](JSONEncoder().encode(left)), as: HouseholdDocuments.left)
    }

    /// Everything is about to be erased: the hub is told, where it answers within five seconds. Nothing here changes.
    ///
    /// - Returns: a sentence where it could not be told.
    func leaveBeforeErasing() async -> [String] {
        guard session != nil else { return [] }
        let outcome = AsyncStream<Bool>.makeStream()
        let telling = Task {
            outcome.continuation.yield((try? await tellOfLeaving()) != nil)
        }
        // Not a child of this: a connection that hangs must not be waited for.
        let limit = Task { [time] in
            try await time.sleep(for: Self.patience)
            outcome.continuation.yield(false)
        }
        defer {
            telling.cancel()
            limit.cancel()
        }
        var first = outcome.stream.makeAsyncIterator()
        guard await first.next(isolation: self) == true else {
            return ["The hub could not be told; what it keeps is sealed, and nobody has its keys any more."]
        }
        return []
    }

    /// A computer that stays goes on without this one; without any, nobody could admit or revoke devices, and the household
    /// is removed.
    private func tellOfLeaving() async throws {
        let own = signingKey.publicKey.id
        for attempt in 1...3 {
            let roster = try await followRoster()
            let hub = try requireSession().hub
            guard roster.members.contains(where: { $0.role == .computer && $0.id != own }) else {
                return try await hub.removeHousehold()
            }
            let entry = roster.revoking(own, by: signingKey, at: clock / 1_000)
            do {
                return try await hub.append(
                    RosterAppendRequest(
                        number: roster.head.number + 1, entry: Data(entry), change: .revoke(device: HubID(own))))
            } catch let error as HubError where error.code == .conflict && attempt < 3 {
                continue
            }
        }
    }
}
