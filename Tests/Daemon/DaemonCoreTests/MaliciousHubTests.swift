import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import Policy
import SealedFormats
import SealedStore
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// A malicious hub: everything invalid is refused or detected, and reported to the owner.
@Suite struct MaliciousHubTests {
    /// Expects that the computer refuses the answer, and reports it in its status, its log and to the phone.
    private func expectReport(
        _ connected: ConnectedWorld, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let sentence = "The hub returned \(what); it was refused."
        await eventually("the status reports \(what)", sourceLocation: sourceLocation) {
            try await connected.sync.status().misbehaviour.contains(sentence)
        }
        await eventually("the log reports it", sourceLocation: sourceLocation) {
            try await connected.world.events(.hubMisbehaved).contains { $0.sentence == sentence }
        }
    }

    private func note(
        _ secrets: HouseholdSecrets, revision: UInt64 = 1, id: ItemID = .random()
    ) throws -> HubRecord {
        let entry = try #require(secrets.ring.entries.last { $0.kind == .vault })
        let name = RecordName(vault: entry.vault, collection: .notes, id: id, revision: revision)
        let body = try JSONEncoder().encode(SealedNote(title: "t", body: "b", created: 0, modified: 0))
        let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: entry.key, epoch: entry.epoch)
        return secrets.sign(name, epoch: entry.epoch, sealed: envelope.bytes)
    }

    @Test func fewerRecordsThanBeforeAreDetectedAndReadAgain() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        try await connected.settled()
        connected.interceptor.intercept { request, answer in
            guard request.route == .records else { return answer }
            return try JSONEncoder().encode(HubRecordPage(records: [], next: 0, more: false))
        }
        connected.hub.setDown(true)
        connected.hub.setDown(false)
        _ = try await companion.write(title: "last words", body: "")
        await eventually("the computer reads records") {
            connected.world.time.wakeNext(within: .seconds(60))
            return try await !connected.sync.status().misbehaviour.isEmpty
        }
        await expectReport(connected, "fewer records than before")
        #expect(try await connected.world.database.records(in: .notes).isEmpty)
        connected.interceptor.intercept(nil)
        await eventually("the record is read again") {
            connected.world.time.wakeNext(within: .seconds(60))
            return try await connected.world.database.records(in: .notes).count == 1
        }
    }

    @Test func changedOrMovedRecordsAreRefused() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let secrets = await companion.secrets
        let good = try note(secrets)
        let changes: [(HubRecord) -> HubRecord] = [
            {
                var r = $0
                r.sealed?[200] ^= 1
                return r
            },
            {
                var r = $0
                r.sealed = nil
                return r
            },
            {
                var r = $0
                r.revision = 7
                return r
            },
            {
                var r = $0
                r.epoch += 1
                return r
            },
            {
                var r = $0
                r.id = HubID(ItemID.random())
                return r
            },
            {
                var r = $0
                r.collection = "files"
                return r
            },
            {
                var r = $0
                r.vault = HubID(ItemID.random())
                return r
            },
            {
                var r = $0
                r.blobs = [HubID(ItemID.random())]
                return r
            },
            {
                var r = $0
                r.signature[3] ^= 1
                return r
            },
            {
                var r = $0
                r.author = connected.hub.records[0].author
                return r
            },
        ]
        for change in changes {
            var record = change(good)
            record.sequence = 500
            connected.hub.stream(.record(record))
        }
        await eventually { try await connected.sync.status().refused == changes.count }
        await expectReport(connected, "a record that was changed in transit")
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        #expect(try await connected.world.control.sealed.notes.list(search: nil, peer: alice).notes.isEmpty)
        // The unchanged record is accepted.
        connected.hub.stream(.record(good))
        await eventually {
            try await connected.world.control.sealed.notes.list(search: nil, peer: alice).notes.count == 1
        }
    }

    /// Each device is served another roster of the same length: the phone detects it by the computer's status.
    @Test func aPhoneDetectsAnotherRosterThanTheComputers() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        await eventually("the status arrives") {
            try await companion.sync()
            return await !companion.report().computers.isEmpty
        }
        #expect(await companion.report().misbehaviour.isEmpty)
        let session = try #require(await connected.household.session)
        var status = try #require(await companion.report().computers.first?.status)
        status.rosterHead = Data(count: 32)
        let name = HubID(connected.world.key.publicKey.id).item
        let revision = try #require(connected.hub.records(in: "status").last).revision
        let other = try session.secrets.seal(status, .status, name, revision: revision + 1)
        connected.hub.state.withLock { state in
            state.sequence += 1
            state.records.append(other)
            state.records[state.records.count - 1].sequence = state.sequence
        }
        await eventually("the phone detects it") {
            try await companion.sync()
            return await companion.report().misbehaviour.contains { $0.contains("another list of devices") }
        }
    }

    @Test func recordsOfAnotherHouseholdOrAuthorAreRefused() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let secrets = await companion.secrets
        // A vault's record under the household's id, and the reverse.
        let name = RecordName(vault: secrets.household, collection: .notes, id: .random(), revision: 1)
        connected.hub.stream(.record(secrets.sign(name, epoch: 1, sealed: [1])))
        let foreign = RecordName(vault: .random(), collection: .commands, id: .random(), revision: 1)
        connected.hub.stream(.record(secrets.sign(foreign, epoch: 1, sealed: [1])))
        await expectReport(connected, "a record of another household or collection")
        // A phone's record in a collection that only computers write.
        let status = RecordName(vault: secrets.household, collection: .status, id: secrets.device, revision: 1)
        connected.hub.stream(.record(secrets.sign(status, epoch: 1, sealed: [1])))
        let reply = RecordName(vault: secrets.household, collection: .commands, id: .random(), revision: 2)
        connected.hub.stream(.record(secrets.sign(reply, epoch: 1, sealed: [1])))
        await expectReport(connected, "a record of a device that may not write it")
        // A record of another household's device.
        let stranger = HouseholdSecrets(
            household: secrets.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(), token: secrets.token,
            ring: secrets.ring)
        connected.hub.stream(.record(try note(stranger)))
        await expectReport(connected, "a record of a device that is not in the household")
        await eventually { try await connected.sync.status().refused == 5 }
    }

    @Test func anOlderRevisionIsRefused() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let secrets = await companion.secrets
        let id = ItemID.random()
        var (first, second) = (try note(secrets, id: id), try note(secrets, revision: 2, id: id))
        (first.sequence, second.sequence) = (900, 901)
        connected.hub.stream(.record(second))
        // An older record with the next sequence number may have been under way: it is not a violation.
        connected.hub.stream(.record(first))
        await eventually { try await connected.world.database.record(.notes, id)?.name.revision == 2 }
        first.sequence = 902
        connected.hub.stream(.record(first))
        await expectReport(connected, "an older state than before")
        #expect(try await connected.world.database.record(.notes, id)?.name.revision == 2)
        #expect(try await connected.sync.status().refused == 1)
    }

    @Test func numbersOutOfRangeAreRefused() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let secrets = await companion.secrets
        for number: UInt64 in [0, 1 << 53, UInt64(Int64.max), .max - 1, .max] {
            connected.hub.stream(.large(sequence: number))
            connected.hub.stream(.live(sequence: number))
        }
        let numbers: [UInt64] = [1 << 53, UInt64(Int64.max), 1 << 63, .max - 1, .max]
        for number in numbers {
            connected.hub.stream(.record(try note(secrets, revision: number)))
            var record = try note(secrets)
            record.sequence = number
            connected.hub.stream(.record(record))
        }
        await expectReport(connected, "an invalid record")
        await eventually { try await connected.sync.status().refused == 2 * numbers.count }
        connected.hub.stream(.record(try note(secrets)))
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        await eventually {
            try await connected.world.control.sealed.notes.list(search: nil, peer: alice).notes.count == 1
        }
    }

    @Test func anOlderADifferentOrAForgedRosterIsRefused() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let entries = connected.hub.state.withLock { $0.roster }
        // Truncated to before the phone was admitted.
        connected.interceptor.alterRoster { $0.entries = [] }
        connected.hub.stream(.roster(number: 1))
        await expectReport(connected, "another list of devices than before")
        await eventually { await !connected.sync.engine.isConnected }
        // An entry that the phone signed, which only a computer may do.
        connected.interceptor.intercept(nil)
        await eventually("the computer connects again") {
            connected.world.time.wakeNext(within: .seconds(60))
            return await connected.sync.engine.isConnected
        }
        var roster = try Roster(entries: entries.map { [UInt8]($0) })
        let secrets = await companion.secrets
        let accomplice = RosterMember(
            role: .computer, signingKey: DeviceSigningKey().publicKey, boxKey: BoxKeyPair().publicKey)
        let forged = roster.admitting(accomplice, by: secrets.signingKey, at: 0)
        #expect(throws: SealedFormatsError.self) { try roster.append(forged) }
        connected.interceptor.alterRoster { $0.entries.append(Data(forged)) }
        connected.hub.stream(.roster(number: 3))
        await expectReport(connected, "a list of devices that was changed without permission")
        #expect(try await connected.household.devices().devices.count == 2)
    }

    @Test func aPhoneThatIsServedAnotherHouseholdStoresNothing() async throws {
        let connected = try await ConnectedWorld()
        let other = try await ConnectedWorld()
        let entries = other.hub.state.withLock { $0.roster }
        let interceptor = HubInterceptor()
        interceptor.alterRoster { $0.entries = entries }
        await #expect(throws: (any Error).self) { _ = try await connected.pair(interceptor: interceptor) }
    }

    @Test func joiningWithoutTheLinkIsRejected() async throws {
        let connected = try await ConnectedWorld()
        let pairing = try await connected.household.makePairing(address: nil)
        let id = try #require(HubID(pairing.id))
        let intruder = DeviceSigningKey()
        // The hub knows the invitation's id and adds a device of its own.
        let (invitation, _) = try Invitation.reading(
            link: Invitation(household: .random(), computer: .random()).link(hub: "https://hub.test"))
        let sealed = invitation.seal(
            try .init(signingKey: intruder.publicKey, boxKey: BoxKeyPair().publicKey, name: "Anna's phone"))
        connected.hub.state.withLock { state in
            state.invitations[id]?.join = JoinRequest(
                proof: Data(), device: HubID(intruder.publicKey.id), role: .companion, tokenHash: Data(),
                sealed: Data(sealed))
        }
        let code = await refusal { _ = try await connected.household.pairing(pairing.id, waitingUpTo: 0) }
        #expect(code == .notReadable)
        await eventually { try await connected.world.events(.hubMisbehaved).count == 1 }
        let refused = await refusal {
            _ = try await connected.household.confirmPairing(
                pairing.id, passcode: SecretBytes(utf8: "right"), user: alice.user)
        }
        #expect(refused == .noSuchItem)
        #expect(try await connected.household.devices().devices.count == 1)
    }

    @Test func withheldEventsAreDetected() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let log = await connected.world.control.apps.log
        for number in 1...5 { await log.enqueue(.unlocked, "event \(number)") }
        await eventually { connected.hub.records(in: "events").count >= 6 }
        let dropped = connected.hub.records(in: "events")[3].id
        connected.hub.state.withLock { $0.records.removeAll { $0.id == dropped } }
        try await companion.sync()
        #expect(await companion.events().count >= 5)
        await eventually {
            try await companion.sync()
            return await companion.report().computers.first?.missingEvents == 1
        }
    }

    @Test func aHubThatLostItsDataIsDetected() async throws {
        let connected = try await ConnectedWorld()
        _ = try await connected.pair()
        try await connected.settled()
        connected.hub.setDown(true)
        connected.hub.state.withLock { state in
            state.records = []
            state.sequence = 0
        }
        connected.hub.setDown(false)
        await eventually {
            connected.world.time.advance(by: .seconds(60))
            return try await connected.sync.status().misbehaviour.contains {
                $0.contains("store has changed")
            }
        }
        // The computer sends its records again.
        await eventually {
            connected.world.time.advance(by: .seconds(10))
            let collections = Set(connected.hub.records.map(\.collection))
            return collections.isSuperset(of: ["keys", "devices", "status", "apps"])
        }
    }

    @Test func malformedHubAnswersAreRefused() async throws {
        let connected = try await ConnectedWorld()
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        connected.interceptor.intercept { request, answer in
            request.route == .writeRecords ? Data("{\"outcomes\": []}".utf8) : answer
        }
        let saved = try await connected.world.control.sealed.notes.add(NoteRequest(title: "t", body: "b"), peer: alice)
        await eventually { try await connected.sync.status().problem != nil }
        // Malformed answers lose nothing: the record is sent until it is written.
        connected.interceptor.intercept(nil)
        await eventually {
            connected.world.time.advance(by: .seconds(10))
            return connected.hub.records(in: "notes").map(\.id.description) == [saved.note.id]
        }
    }
}
