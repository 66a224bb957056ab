import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import Sync
import TestSupport
import Testing

@testable import DaemonCore

/// The sync engine on a device that is not a computer: other records, another store.
@Suite struct CompanionSyncTests {
    /// A computer, and a paired companion whose records the engine synchronizes.
    private struct Pair {
        let connected: ConnectedWorld
        let phone: Companion
        let delegate: CompanionSyncDelegate
        let store = MemoryStore()
        let engine: SyncEngine
        private let running: Task<Void, Never>

        init() async throws {
            connected = try await ConnectedWorld()
            phone = try await connected.pair()
            try await connected.world.openVault()
            delegate = CompanionSyncDelegate(
                hub: await phone.hub, secrets: await phone.secrets, roster: await phone.roster)
            engine = SyncEngine(
                delegate: delegate, store: store, blobs: connected.world.blobs, time: connected.world.time)
            running = Task { [engine] in await engine.run() }
        }

        var device: HubID { get async { await phone.device } }

        /// Waits until the condition holds, while time passes.
        func eventuallyHolds(_ label: Comment, _ condition: @Sendable () async throws -> Bool) async throws {
            let holds = await eventually(label) {
                connected.world.time.advance(by: .seconds(1))
                return try await condition()
            }
            try #require(holds, label)
        }

        func titles() async throws -> [String] {
            var titles: [String] = []
            for record in await store.records(in: .notes) {
                let bytes = try await delegate.open(record)
                titles.append(try JSONDecoder().decode(SealedNote.self, from: Data(bytes)).title)
            }
            return titles.sorted()
        }

        func titlesAtTheComputer() async throws -> [String] {
            try await connected.world.openVault()
            return try await connected.world.notes()
        }

        /// Writes a note into the companion's store.
        @discardableResult func write(_ title: String) async throws -> ItemID {
            let id = ItemID.random()
            let bytes = try JSONEncoder().encode(SealedNote(title: title, body: "", created: 1, modified: 1))
            let vault = try #require(await store.records(in: .notes).first).name.vault
            let record = try await delegate.seal([UInt8](bytes), id, revision: 1, in: vault)
            await store.write(StateChange(records: [record]))
            return id
        }

        func addAtTheComputer(_ title: String) async throws {
            _ = try await connected.world.control.sealed.notes.add(NoteRequest(title: title, body: ""), peer: alice)
        }

        func end() async {
            running.cancel()
            await running.value
        }
    }

    @Test func aHouseholdThatIsFoundedWhileNoneIsFoundIsConnectedAtOnce() async throws {
        let connected = try await ConnectedWorld()
        let phone = try await connected.pair()
        let delegate = CompanionSyncDelegate(
            hub: await phone.hub, secrets: await phone.secrets, roster: await phone.roster)
        let engine = SyncEngine(
            delegate: delegate, store: MemoryStore(), blobs: connected.world.blobs, time: connected.world.time)
        await delegate.beginWithoutSession { await engine.householdChanged() }
        let running = Task { await engine.run() }
        defer { running.cancel() }
        await eventually("it is connected, although no time passes") { await engine.isConnected }
    }

    @Test func recordsAreSyncedInBothDirections() async throws {
        let pair = try await Pair()
        try await pair.addAtTheComputer("from the computer")
        try await pair.eventuallyHolds("the companion has the note and the status") {
            let statuses = await pair.store.householdRecords(in: .status)
            return try await pair.titles() == ["from the computer"] && statuses.count == 1
        }
        try await pair.write("from the phone")
        try await pair.eventuallyHolds("the computer has the companion's note") {
            try await pair.titlesAtTheComputer() == ["from the computer", "from the phone"]
        }
        try await pair.eventuallyHolds("nothing waits") { await pair.store.waitingCount() == 0 }
        let state = await pair.engine.state
        #expect(state.refused == 0 && state.protocolViolations.isEmpty)
        await pair.end()
    }

    @Test func changesMadeWithoutAHubAreSentLater() async throws {
        let pair = try await Pair()
        try await pair.addAtTheComputer("before")
        try await pair.eventuallyHolds("the companion has the note") { try await pair.titles() == ["before"] }
        pair.connected.hub.setDown(true)
        try await pair.eventuallyHolds("the engine is disconnected") { await !pair.engine.isConnected }
        try await pair.write("meanwhile")
        #expect(await pair.store.waitingCount() == 1)
        pair.connected.hub.setDown(false)
        try await pair.eventuallyHolds("the computer has the note") {
            try await pair.titlesAtTheComputer() == ["before", "meanwhile"]
        }
        await pair.end()
    }

    @Test func aRestoredHubReceivesAgainWhatItLost() async throws {
        let pair = try await Pair()
        try await pair.addAtTheComputer("before")
        try await pair.eventuallyHolds("the companion has the note") { try await pair.titles() == ["before"] }
        try await pair.connected.settled()
        let backup = pair.connected.hub.backup()
        let id = try await pair.write("lost")
        try await pair.eventuallyHolds("the note is sent") { await pair.store.waitingCount() == 0 }
        // The computer has the note too, and sends nothing.
        pair.connected.hub.setUnreachable(HubID(pair.connected.world.key.publicKey.id), true)
        pair.connected.hub.restore(backup)
        #expect(!pair.connected.hub.records.contains { $0.id == HubID(id) })
        let device = await pair.device
        try await pair.eventuallyHolds("the note is sent again") {
            pair.connected.hub.records.contains { $0.id == HubID(id) && $0.author == device }
        }
        try await pair.eventuallyHolds("the loss is reported") {
            await pair.delegate.reports == ["1 records were sent again."]
        }
        #expect(try await pair.titles() == ["before", "lost"])
        await pair.end()
    }
}
