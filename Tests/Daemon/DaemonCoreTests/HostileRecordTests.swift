import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore
@testable import Sync

/// A record that does not open, or that the hub refuses, blocks nothing else.
@Suite struct HostileRecordTests {
    private func add(_ connected: ConnectedWorld, _ title: String) async throws {
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        _ = try await connected.world.control.sealed.notes.add(NoteRequest(title: title, body: title), peer: alice)
    }

    private func titles(_ connected: ConnectedWorld) async throws -> [String] {
        try await connected.world.control.sealed.notes.list(search: nil, peer: alice).notes.map(\.title).sorted()
    }

    @Test func aPhoneWithInvalidRecordsIsListedAndRevoked() async throws {
        let connected = try await ConnectedWorld()
        let phone = try await connected.pair("Phone")
        try await add(connected, "good")
        try await connected.settled()
        let secrets = await phone.secrets
        let vault = try #require(secrets.ring.entries.last { $0.kind == .vault })
        let hub = connected.hub.connection(secrets.token)
        for collection in [RecordCollection.notes, .files, .moments] {
            let name = RecordName(vault: vault.vault, collection: collection, id: .random(), revision: 1)
            let nonsense = (0..<400).map { _ in UInt8.random(in: 0...255) }
            _ = try await hub.write([secrets.sign(name, epoch: vault.epoch, sealed: nonsense)])
        }
        let sealed = connected.world.control.sealed
        await eventually { try await sealed.notes.list(search: nil, peer: alice).unreadable == 1 }
        await eventually { try await sealed.files.list(peer: alice).unreadable == 1 }
        #expect(try await titles(connected) == ["good"])
        #expect(try await sealed.notes.list(search: "good", peer: alice).notes.count == 1)
        #expect(try await sealed.notes.read("good", peer: alice).body == "good")
        #expect(await refusal { _ = try await sealed.files.read("nothing", peer: alice) } == .noSuchItem)

        let notes = try await connected.devices.revoke(
            "Phone", passcode: SecretBytes(utf8: "right"), user: alice.user)
        #expect(
            notes == [
                "Phone is revoked: it can't read anything that is written from now on.",
                "3 records of Phone do not open and stay as they are.",
            ])
        let device = await phone.device
        #expect(connected.hub.state.withLock { $0.devices[device] } == nil)
        try await connected.settled()
        #expect(try await titles(connected) == ["good"])
        #expect(connected.hub.records(in: "notes").contains { $0.revision == 2 && $0.epoch == 2 })
    }

    /// The command line and the window write a file from the vault under its name, in a folder that the user chose.
    @Test(arguments: ["../../.config/autostart/evil.desktop", "/etc/cron.d/evil", "..", ".", "", "a\0b"])
    func aFileOfAPhoneWhoseNameIsAPathIsNotReadable(name: String) async throws {
        let connected = try await ConnectedWorld()
        let phone = try await connected.pair("Phone")
        try await add(connected, "good")
        let secrets = await phone.secrets
        let entry = try #require(secrets.ring.entries.last { $0.kind == .vault })
        let sealed = connected.world.control.sealed
        for (position, name) in [name, "taxes.pdf"].enumerated() {
            let content = FileService.Content(
                name: name, size: 1, modified: 1, added: 1, mode: 0o644, sealedSize: 17, contentKey: Data(count: 32))
            let record = RecordName(vault: entry.vault, collection: .files, id: .random(), revision: 1)
            let envelope = try RecordEnvelope(
                sealing: Array(try JSONEncoder().encode(content)), as: record, vaultKey: entry.key, epoch: entry.epoch)
            var signed = secrets.sign(record, epoch: entry.epoch, sealed: envelope.bytes)
            signed.sequence = UInt64(900 + position)
            try await connected.sync.engine.receive([signed])
            if position == 0 {
                let id = record.id.description
                #expect(await refusal { _ = try await sealed.files.read(id, peer: alice) } == .notReadable)
            }
        }
        let list = try await sealed.files.list(peer: alice)
        #expect(list.files.map(\.name) == ["taxes.pdf"] && list.unreadable == 1)
    }

    /// Records signed with a stolen phone's key and served by a malicious hub are accepted or refused, and the phone
    /// can still be revoked.
    @Test func recordsWithExtremeNumbersCrashNothing() async throws {
        let connected = try await ConnectedWorld()
        let phone = try await connected.pair("Phone")
        try await add(connected, "good")
        let secrets = await phone.secrets
        let entry = try #require(secrets.ring.entries.last { $0.kind == .vault })
        for collection in [RecordCollection.notes, .files, .photos, .commands] {
            let vault = RecordCheck.isOfHousehold(collection) ? secrets.household : entry.vault
            func signed(_ revision: UInt64, _ epoch: UInt32, _ replaces: UInt64?) -> HubRecord {
                let name = RecordName(vault: vault, collection: collection, id: .random(), revision: revision)
                return secrets.sign(name, epoch: epoch, sealed: [1], replaces: replaces)
            }
            var sample = signed(1, 1, 0)
            sample.sequence = 900
            for variant in ExtremeNumbers.variants(of: Array(try JSONEncoder().encode(sample))) {
                guard let record = try? JSONDecoder().decode(HubRecord.self, from: Data(variant)) else { continue }
                var served = signed(record.revision, record.epoch, record.replaces)
                served.sequence = record.sequence
                try await connected.sync.engine.receive([served])
            }
        }
        let content = SealedNote(title: "theirs", body: "", created: 1, modified: 2)
        for variant in ExtremeNumbers.variants(of: Array(try JSONEncoder().encode(content))) {
            let name = RecordName(vault: entry.vault, collection: .notes, id: .random(), revision: 1)
            let envelope = try RecordEnvelope(sealing: variant, as: name, vaultKey: entry.key, epoch: entry.epoch)
            try await connected.sync.engine.receive([secrets.sign(name, epoch: entry.epoch, sealed: envelope.bytes)])
        }
        let shown = Set(try await titles(connected))
        #expect(shown == ["good", "theirs"])
        _ = try await connected.devices.revoke("Phone", passcode: SecretBytes(utf8: "right"), user: alice.user)
        #expect(Set(try await titles(connected)) == shown)
    }

    @Test func aRecordThatTheHubRefusesDelaysNoOther() async throws {
        let connected = try await ConnectedWorld()
        let refused = Mutex<HubID?>(nil)
        connected.interceptor.intercept { request, answer in
            guard request.route == .writeRecords, case .json(let json) = request.body else { return answer }
            let records = try JSONDecoder().decode(HubWriteRequest.self, from: json).records
            var outcomes = try JSONDecoder().decode(HubWriteAnswer.self, from: answer)
            for (index, record) in records.enumerated() where record.collection == "notes" {
                let isRefused = refused.withLock { refused in
                    if refused == nil { refused = record.id }
                    return refused == record.id
                }
                if isRefused {
                    outcomes.outcomes[index] = HubWriteOutcome(error: HubError(.quotaExceeded, "It is full."))
                }
            }
            return try JSONEncoder().encode(outcomes)
        }
        // The record must not arrive by the stream, which would acknowledge it too.
        let streams = connected.hub.silence()
        defer { withExtendedLifetime(streams) {} }
        for number in 0..<4 { try await add(connected, "\(number)") }
        await eventually { connected.hub.records(in: "notes").count == 4 }
        await eventually { try await connected.sync.status().waiting == 1 }
        let status = try await connected.sync.status()
        #expect(status.connected && status.problem == "A record of notes: It is full.")
        connected.interceptor.intercept(nil)
        connected.world.time.advance(by: .seconds(301))
        try await connected.settled()
        #expect(try await connected.sync.status().problem == nil)
    }

    @Test func keysThatArriveAtTheSameTimeAreAllStored() async throws {
        let connected = try await ConnectedWorld()
        let household = connected.world.household
        let id = try #require(await household.session).roster.household
        let rings = (10...19).map { epoch in
            KeyRing([.init(kind: .status, vault: id, epoch: UInt32(epoch), key: .random(count: 32))])
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for ring in rings { group.addTask { try await household.add(ring) } }
            try await group.waitForAll()
        }
        let ring = try #require(await household.session).secrets.ring
        #expect(rings.flatMap(\.entries).allSatisfy { ring.key(.status, vault: id, epoch: $0.epoch) == $0.key })
    }

    /// They are stored in addition to this computer's own two keys.
    @Test func theMaximumNumberOfKeysFromAnotherComputerIsStored() throws {
        let (household, key) = (ItemID.random(), SecretBytes.random(count: 32))
        var secrets = HouseholdSecrets(
            household: household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(), token: .random(count: 32),
            ring: KeyRing([]))
        let given = (1...UInt32(HouseholdSecrets.maximumGiven)).map {
            KeyRing.Entry(kind: .status, vault: household, epoch: $0, key: key)
        }
        try secrets.add(KeyRing(given))
        let made = (UInt32(given.count + 1)...UInt32(KeyRing.maximumEntries - 2)).map {
            KeyRing.Entry(kind: .status, vault: household, epoch: $0, key: key)
        }
        try secrets.add(KeyRing(made), madeHere: true)
        let read = try HouseholdSecrets(
            sealed: secrets.sealed(machineSecret: World.machineSecret), household: household,
            signingKey: secrets.signingKey, machineSecret: World.machineSecret)
        #expect(read.ring.entries.count == KeyRing.maximumEntries - 2)
    }

    /// After the last possible one no device could change the record any more.
    @Test(arguments: [
        HubRecord.largestStep + 3, HubRecord.maximumNumber - 1, HubRecord.maximumNumber, UInt64(Int64.max), UInt64.max,
    ])
    func aRevisionThatIsFarAheadIsNotOverwritten(_ revision: UInt64) async throws {
        let connected = try await ConnectedWorld()
        try await add(connected, "mine")
        try await connected.settled()
        connected.hub.state.withLock { state in
            guard let index = state.records.firstIndex(where: { $0.collection == "notes" }) else { return }
            state.records[index].revision = revision
            state.records[index].sequence = .max
            state.records[index].signature = Data(count: 64)
        }
        let notes = connected.world.control.sealed.notes
        _ = try await notes.change("mine", NoteRequest(title: "changed", body: "changed"), peer: alice)
        await eventually {
            try await connected.sync.status().problem
                == "A record of notes: The hub refuses a record without a valid reason."
        }
        #expect(
            try await connected.sync.status().misbehaviour.contains {
                $0.contains("a conflict with a revision that is too high")
            })
        #expect(try await connected.world.database.records(in: .notes).map(\.name.revision) == [2])
        _ = try await notes.change("changed", NoteRequest(title: "again", body: "again"), peer: alice)
        #expect(try await titles(connected) == ["again"])
    }

    /// Its author counts when a lost device's changes are undone.
    @Test func theAuthorOfAForgedConflictIsNotStored() async throws {
        let connected = try await ConnectedWorld()
        let phone = HubID(try await connected.pair().secrets.device)
        connected.interceptor.intercept { request, answer in
            guard request.route == .writeRecords, case .json(let json) = request.body else { return answer }
            let records = try JSONDecoder().decode(HubWriteRequest.self, from: json).records
            var outcomes = try JSONDecoder().decode(HubWriteAnswer.self, from: answer)
            for (index, record) in records.enumerated() where record.collection == "notes" && record.revision == 1 {
                var conflict = record
                (conflict.author, conflict.sequence) = (phone, 900)
                outcomes.outcomes[index] = HubWriteOutcome(conflict: conflict)
            }
            return try JSONEncoder().encode(outcomes)
        }
        let streams = connected.hub.silence()
        defer { withExtendedLifetime(streams) {} }
        try await add(connected, "mine")
        try await connected.settled()
        let stored = try #require(try await connected.world.database.records(in: .notes).first)
        #expect(stored.author == connected.world.key.publicKey.id && stored.name.revision == 2)
    }

    @Test func aForgedRecordIsOverwritten() async throws {
        let connected = try await ConnectedWorld()
        try await add(connected, "mine")
        try await connected.settled()
        let note = try #require(connected.hub.records(in: "notes").first)
        connected.hub.state.withLock { state in
            guard let index = state.records.firstIndex(where: { $0.id == note.id }) else { return }
            state.records[index].revision = 7
            state.records[index].signature = Data(count: 64)
        }
        let notes = connected.world.control.sealed.notes
        _ = try await notes.change("mine", NoteRequest(title: "changed", body: "changed"), peer: alice)
        try await connected.settled()
        let stored = try #require(connected.hub.records(in: "notes").first)
        #expect(stored.revision == 8 && stored.author == note.author)
        #expect(try await titles(connected) == ["changed"])
        try await notes.remove("changed", peer: alice)
        try await connected.settled()
        #expect(connected.hub.records(in: "notes").first?.sealed == nil)
    }

    /// Otherwise one such answer would withhold the household's keys from a phone for ever.
    @Test(arguments: [true, false]) func aForgedConflictDiscardsNoRecord(
        _ isOfAnother: Bool
    ) async throws {
        let connected = try await ConnectedWorld()
        try await connected.settled()
        let stored = try #require(connected.hub.records(in: "devices").first)
        let sent = Mutex(0)
        connected.interceptor.intercept { request, answer in
            guard request.route == .writeRecords, case .json(let json) = request.body else { return answer }
            let records = try JSONDecoder().decode(HubWriteRequest.self, from: json).records
            guard let index = records.firstIndex(where: { $0.collection == "keys" }) else { return answer }
            let isFirst = sent.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return answer }
            var conflict = isOfAnother ? stored : records[index]
            if !isOfAnother { conflict.signature[3] ^= 1 }
            var outcomes = try JSONDecoder().decode(HubWriteAnswer.self, from: answer)
            outcomes.outcomes[index] = HubWriteOutcome(conflict: conflict)
            return try JSONEncoder().encode(outcomes)
        }
        _ = try await connected.pair("Phone")
        await eventually("the keys are sent again") {
            connected.world.time.wakeNext(within: .seconds(60))
            return sent.withLock { $0 } > 1
        }
        try await connected.settled()
        #expect(try await connected.sync.status().misbehaviour.contains { $0.contains("a conflict with") })
    }
}
