import ControlAPI
import Household
import SealedFormats
import Sync

/// The part of synchronization that only a computer has: commands of companions, and the status for its owner.
final class SyncService: Sendable {
    let engine: SyncEngine
    /// Commands for this computer, in the order of arrival.
    let commands: AsyncStream<CheckedRecord>
    private let household: HouseholdService
    private let store: any SyncStore
    private let received: AsyncStream<DaemonEvent>

    init(
        household: HouseholdService, store: any SyncStore, blobs: any BlobStore, time: any TimeSource,
        log: ActivityLog, authorizer: LaunchAuthorizer, events: DaemonEvents
    ) {
        received = events.subscribe()
        self.household = household
        self.store = store
        let commandReceived: AsyncStream<CheckedRecord>.Continuation
        (commands, commandReceived) = AsyncStream.makeStream()
        engine = SyncEngine(
            delegate: ComputerSyncDelegate(
                household: household, log: log, authorizer: authorizer, events: events, commands: commandReceived),
            store: store, blobs: blobs, time: time)
    }

    /// Keeps a connection to the hub until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.engine.run() }
            group.addTask { await self.household.followJoining() }
            group.addTask { await self.followEvents() }
            await group.next()
            group.cancelAll()
        }
    }

    private func followEvents() async {
        for await event in received {
            switch event {
            case .householdChanged: await engine.householdChanged()
            case .recordsQueued: await engine.queued()
            default: break
            }
        }
    }

    /// Whether what other devices changed has arrived here: there is no household, or its hub's stream is live.
    func isCurrent() async -> Bool {
        guard await household.session != nil else { return true }
        return await engine.isConnected
    }

    func status() async throws -> HubStatus {
        let session = await household.session
        // Before the store is read: a record that is written meanwhile counts twice rather than not at all.
        let state = await engine.state
        return HubStatus(
            url: session?.settings.url, household: session?.roster.household.description,
            device: household.signingKey.publicKey.id.description, connected: state.isConnected,
            lastSync: state.lastSync, records: state.recordsAtHub,
            waiting: session == nil ? 0 : try await store.waitingCount() + state.inMemory,
            problem: session == nil ? await household.revocationNotice : state.problem, refused: state.refused,
            misbehaviour: state.protocolViolations,
            conflicts: try await store.conflicts().count, revoking: await household.revocation?.name,
            joining: await household.joining?.report.sentence,
            isStarting: await household.awaitsEmbedded() ? true : nil)
    }
}
