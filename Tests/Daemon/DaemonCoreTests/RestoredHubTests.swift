import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// Three devices of one vault and a hub that is restored to earlier backups: the devices converge on the newest notes,
/// nothing is lost, and nothing removed is restored.
@Suite struct RestoredHubTests {
    /// The expected notes: for every text, whether it was replaced or removed.
    private struct Model {
        private(set) var texts: Set<String> = []
        private(set) var followed: Set<String> = []
        /// Texts that became two notes by a conflict: one of them may remain.
        private var copied: Set<String> = []

        static func plain(_ title: String) -> String {
            title.components(separatedBy: " (conflict").first ?? title
        }

        mutating func write(_ title: String, after earlier: String? = nil) {
            texts.insert(title)
            if let earlier { followed.insert(Self.plain(earlier)) }
        }

        mutating func remove(_ title: String) { followed.insert(Self.plain(title)) }

        mutating func note(_ titles: [String]) {
            copied.formUnion(titles.filter { $0 != Self.plain($0) }.map(Self.plain))
        }

        /// Every current text is there; the other notes are conflict copies.
        mutating func check(_ titles: [String], _ comment: Comment) {
            note(titles)
            let found = Set(titles.map(Self.plain))
            #expect(texts.subtracting(followed).subtracting(found).sorted() == [], comment)
            #expect(found.intersection(followed).subtracting(copied).sorted() == [], comment)
        }
    }

    private struct Devices {
        let hub: MemoryHub
        let worlds: [World]

        init() async throws {
            let connected = try await ConnectedWorld()
            hub = connected.hub
            var worlds = [connected.world]
            for name in ["attic", "cellar"] {
                let hub = hub
                let world = try await World(
                    listed: [], hasVault: true, hub: { hub.connection($0) }, key: DeviceSigningKey(), name: name)
                let pairing = try await connected.household.makePairing(address: nil, role: .computer)
                _ = try await world.household.join(try #require(pairing.link), HubSettings(url: ""))
                await eventually {
                    try await connected.household.pairing(pairing.id, waitingUpTo: 0).name == name
                }
                _ = try await connected.household.confirmPairing(
                    pairing.id, passcode: SecretBytes(utf8: "right"), user: alice.user)
                await eventually("\(name) is connected") {
                    world.time.advance(by: .seconds(1))
                    return await world.sync.engine.isConnected
                }
                worlds.append(world)
            }
            self.worlds = worlds
            for world in worlds { try await world.openVault() }
        }

        func device(_ index: Int) -> HubID { HubID(worlds[index].key.publicKey.id) }

        /// Waits until all of them have read and sent everything.
        func settle(_ label: Comment) async throws -> [[String]] {
            for index in worlds.indices { hub.setUnreachable(device(index), false) }
            var all: [[String]] = []
            let isSettled = await eventually(label) {
                all = []
                for world in worlds {
                    world.time.advance(by: .seconds(61))
                    try await world.openVault()
                    let status = try await world.sync.status()
                    guard status.connected, status.waiting == 0, status.conflicts == 0 else { return false }
                    all.append(try await world.notes())
                }
                return Set(all).count == 1
            }
            if !isSettled {
                all = []
                for world in worlds {
                    let status = try await world.sync.status()
                    try await world.openVault()
                    let notes = try await world.notes()
                    Issue.record(
                        """
                        connected: \(status.connected), waiting: \(status.waiting), conflicts: \(status.conflicts), problem: \
                        \(status.problem ?? ""), \(status.misbehaviour), \(notes)
                        """)
                }
            }
            return all
        }
    }

    @Test(arguments: RestoredHubTests.seeds) func threeDevicesConvergeOnTheNewestNotes(_ seed: UInt64) async throws {
        let devices = try await Devices()
        var (random, model, backups) = (RepeatableRandom(seed: seed), Model(), [devices.hub.backup()])
        var count = 0
        for restore in 1...5 {
            for _ in 0..<12 {
                let index = Int.random(in: 0..<3, using: &random)
                let world = devices.worlds[index]
                try await world.openVault()
                let notes = try await world.sealed.notes.list(search: nil, peer: alice).notes
                    .sorted { $0.title < $1.title }
                model.note(notes.map(\.title))
                let note = notes.randomElement(using: &random)
                let step = Int.random(in: 0..<8, using: &random)
                do {
                    switch step {
                    case 0...1:
                        count += 1
                        _ = try await world.sealed.notes.add(NoteRequest(title: "text \(count)", body: ""), peer: alice)
                        model.write("text \(count)")
                    case 2...4:
                        guard let note else { continue }
                        count += 1
                        let request = NoteRequest(title: "text \(count)", body: "", replaces: note.version)
                        let saved = try await world.sealed.notes.change(note.id, request, peer: alice)
                        // Another device may have changed it meanwhile: then both versions are kept.
                        model.write("text \(count)", after: saved.note.id == note.id ? note.title : nil)
                    case 5:
                        guard let note else { continue }
                        try await world.sealed.notes.remove(note.id, version: note.version, peer: alice)
                        model.remove(note.title)
                    case 6: devices.hub.setUnreachable(devices.device(index), Bool.random(using: &random))
                    default: backups.append(devices.hub.backup())
                    }
                } catch let error as ControlError where error.code == .noSuchItem {
                    // Another device removed or changed the note meanwhile.
                } catch is RevisionConflict {}
                if Bool.random(using: &random) { world.time.advance(by: .seconds(61)) }
            }
            if let backup = backups.randomElement(using: &random) { devices.hub.restore(backup) }
            if Bool.random(using: &random) {
                let notes = try await devices.settle("seed \(seed), restore \(restore): all have the same notes")
                model.check(notes.first ?? [], "seed \(seed), restore \(restore)")
            }
        }
        let notes = try await devices.settle("seed \(seed): all have the same notes")
        model.check(notes.first ?? [], "seed \(seed)")
    }

    /// Seeds that found defects. Random ones are not part of every run: docs/limitations.md has the reason.
    private static let seeds = TestSupport.seeds(
        [1, 136_539, 551_044], more: [2, 564_452], orAskedBy: "RESTORE_SEEDS")

    @Test func aRevokedPhoneIsRevokedAgainAfterARestore() async throws {
        let connected = try await ConnectedWorld()
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        let (device, token) = (HubID(await lost.secrets.device), await kept.secrets.device)
        try await connected.settled()
        let backup = connected.hub.backup()
        _ = try await connected.devices.revoke("Lost", passcode: SecretBytes(utf8: "right"), user: alice.user)
        try await connected.settled()
        let roster = connected.hub.state.withLock { $0.roster }
        connected.hub.restore(backup)
        #expect(connected.hub.state.withLock { $0.devices[device] != nil })
        await eventually("the hub has the whole roster again") {
            connected.world.time.advance(by: .seconds(61))
            return connected.hub.state.withLock { $0.roster } == roster
        }
        let devices = connected.hub.state.withLock { $0.devices }
        #expect(devices[device] == nil && devices[HubID(token)] != nil)
        let sentence =
            "The hub has an older list of devices than before, as after a restored backup. 1 entry was sent again."
        await eventually("the owner is notified") {
            try await connected.world.events(.hubMisbehaved).contains { $0.sentence == sentence }
        }
        await eventually("the computer is connected") {
            connected.world.time.advance(by: .seconds(61))
            return await connected.sync.engine.isConnected
        }
        try await kept.sync()
        let error = await #expect(throws: (any Error).self) { try await lost.sync() }
        #expect((error as? HubError)?.code == .unauthorized)
    }

    /// The hub lost the phone's token: the phone is paired again, and revoked under its old name.
    @Test func theRosterIsCompleteAgainAfterALostPairing() async throws {
        let connected = try await ConnectedWorld()
        try await connected.settled()
        let backup = connected.hub.backup()
        _ = try await connected.pair("Phone")
        try await connected.settled()
        let roster = connected.hub.state.withLock { $0.roster }
        connected.hub.restore(backup)
        await eventually("the hub has the whole roster again") {
            connected.world.time.advance(by: .seconds(61))
            return connected.hub.state.withLock { $0.roster } == roster
        }
        await eventually("the computer is connected") {
            connected.world.time.advance(by: .seconds(61))
            return await connected.sync.engine.isConnected
        }
        _ = try await connected.devices.revoke("Phone", passcode: SecretBytes(utf8: "right"), user: alice.user)
        let again = try await connected.pair("Phone")
        try await again.sync()
    }

    /// The conflict is read before records that were written before it, and the connection ends between the two.
    @Test func aConflictSkipsNoUnreadRecord() async throws {
        let devices = try await Devices()
        let (first, second) = (devices.worlds[0], devices.worlds[1])
        let saved = try await first.sealed.notes.add(NoteRequest(title: "shared", body: ""), peer: alice)
        _ = try await devices.settle("all have the note")
        let streams = devices.hub.silence(devices.device(0))
        #expect(!streams.isEmpty)
        _ = try await second.sealed.notes.add(NoteRequest(title: "unread", body: ""), peer: alice)
        _ = try await second.sealed.notes.change(
            saved.note.id, NoteRequest(title: "changed there", body: ""), peer: alice)
        await eventually("the hub has both") { try await second.sync.status().waiting == 0 }
        _ = try await first.sealed.notes.change(
            saved.note.id, NoteRequest(title: "changed here", body: ""), peer: alice)
        await eventually("the conflict has arrived") {
            try await first.database.record(.notes, try #require(ItemID(saved.note.id)))?.author
                == devices.device(1).item
        }
        for stream in streams { stream.finish() }
        let notes = try await devices.settle("all have the same notes").first ?? []
        #expect(notes.count == 3 && notes.contains("unread") && notes.contains("changed there"), "\(notes)")
    }

    @Test func aRemovedNoteStaysRemovedAfterARestore() async throws {
        let connected = try await ConnectedWorld()
        try await connected.world.openVault()
        let saved = try await connected.world.sealed.notes.add(NoteRequest(title: "gone", body: ""), peer: alice)
        try await connected.settled()
        let backup = connected.hub.backup()
        try await connected.world.sealed.notes.remove(saved.note.id, peer: alice)
        _ = try await connected.world.sealed.notes.add(NoteRequest(title: "later", body: ""), peer: alice)
        try await connected.settled()
        connected.hub.restore(backup)
        await eventually("the hub has the removal again") {
            connected.world.time.advance(by: .seconds(61))
            return connected.hub.records(in: "notes").contains { $0.id == HubID(saved.note.id) && $0.sealed == nil }
        }
        try await connected.settled()
        #expect(try await connected.sync.status().misbehaviour.contains { $0.contains("store has changed") })
        try await connected.world.openVault()
        #expect(try await connected.world.notes() == ["later"])
        #expect(connected.hub.records(in: "notes").count == 2)
    }
}
