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

/// A hub that does what it likes: everything is refused or found out, and the owner is told.
@Suite struct MaliciousHubTests {
    /// The computer refuses what it is streamed, says so in its status, its log and to the phone.
    private func isFoundOut(
        _ connected: ConnectedWorld, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let sentence = "The hub returned \(what); it was refused."
        await eventually("the status says: \(what)", sourceLocation: sourceLocation) {
            try await connected.sync.status().misbehaviour.contains(sentence)
        }
        await eventually("so does the log", sourceLocation: sourceLocation) {
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

    @Test func fewerRecordsThanBeforeAreFoundOutAndReadAgain() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        try await connected.settled()
        connected.meddler.meddle { request, answer in
            guard request.route == .records else { return answer }
            return try JSONEncoder().encode(HubRecordPage(records: [], next: 0, more: false))
        }
        connected.hub.setDown(true)
        connected.hub.setDown(false)
        _ = try await companion.write(title: "last words", body: "")
        await eventually("the computer asks") {
            connected.world.time.wakeNext(within: .seconds(60))
            return try await !connected.sync.status().misbehaviour.isEmpty
        }
        await isFoundOut(connected, "fewer records than before")
        #expect(try await connected.world.database.records(in: .notes).isEmpty)
        connected.meddler.meddle(nil)
        await eventually("it is read") {
            connected.world.time.wakeNext(within: .seconds(60))
            return try await connected.world.database.records(in: .notes).count == 1
        }
    }

    @Test func recordsThatWereChangedOrMovedAreRefused() async throws {
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
        await isFoundOut(connected, "a record that was changed in transit")
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        #expect(try await connected.world.control.sealed.notes.list(search: nil, peer: alice).notes.isEmpty)
        // The one that was not touched is taken.
        connected.hub.stream(.record(good))
        await eventually {
            try await connected.world.control.sealed.notes.list(search: nil, peer: alice).notes.count == 1
        }
    }

    /// Each of two devices is served a list of its own, as long as the other's: the computer's status tells.
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
        await eventually("it is found out") {
            try await companion.sync()
            return await companion.report().misbehaviour.contains { $0.contains("another list of devices") }
        }
    }

    @Test func recordsOfAnotherHouseholdOrWriterAreRefused() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let secrets = await companion.secrets
        // A vault's record under the household's name, and the other way round.
        let name = RecordName(vault: secrets.household, collection: .notes, id: .random(), revision: 1)
        connected.hub.stream(.record(secrets.sign(name, epoch: 1, sealed: [1])))
        let foreign = RecordName(vault: .random(), collection: .commands, id: .random(), revision: 1)
        connected.hub.stream(.record(secrets.sign(foreign, epoch: 1, sealed: [1])))
        await isFoundOut(connected, "a record of another household or collection")
        // A phone that says what computers alone may say.
        let status = RecordName(vault: secrets.household, collection: .status, id: secrets.device, revision: 1)
        connected.hub.stream(.record(secrets.sign(status, epoch: 1, sealed: [1])))
        let reply = RecordName(vault: secrets.household, collection: .commands, id: .random(), revision: 2)
        connected.hub.stream(.record(secrets.sign(reply, epoch: 1, sealed: [1])))
        await isFoundOut(connected, "a record of a device that may not write it")
        // Another household's device.
        let stranger = HouseholdSecrets(
            household: secrets.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(), token: secrets.token,
            ring: secrets.ring)
        connected.hub.stream(.record(try note(stranger)))
        await isFoundOut(connected, "a record of a device that is not in the household")
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
        // Late, in the order of writing: it was under way, which is no offence.
        connected.hub.stream(.record(first))
        await eventually { try await connected.world.database.record(.notes, id)?.name.revision == 2 }
        first.sequence = 902
        connected.hub.stream(.record(first))
        await isFoundOut(connected, "an older state than before")
        #expect(try await connected.world.database.record(.notes, id)?.name.revision == 2)
        #expect(try await connected.sync.status().refused == 1)
    }

    @Test func numbersWithoutMeaningAreRefused() async throws {
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
        await isFoundOut(connected, "an invalid record")
        await eventually { try await connected.sync.status().refused == 2 * numbers.count }
        connected.hub.stream(.record(try note(secrets)))
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        await eventually {
            try await connected.world.control.sealed.notes.list(search: nil, peer: alice).notes.count == 1
        }
    }

    @Test func anOlderAnotherOrAForgedListOfDevicesIsRefused() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let entries = connected.hub.state.withLock { $0.roster }
        // Cut, as it was before the phone was admitted.
        connected.meddler.meddleWithRoster { $0.entries = [] }
        connected.hub.stream(.roster(number: 1))
        await isFoundOut(connected, "another list of devices than before")
        await eventually { await !connected.sync.engine.isConnected }
        // An entry by somebody who is no computer of the household: the phone itself.
        connected.meddler.meddle(nil)
        await eventually("it connects again") {
            connected.world.time.wakeNext(within: .seconds(60))
            return await connected.sync.engine.isConnected
        }
        var roster = try Roster(entries: entries.map { [UInt8]($0) })
        let secrets = await companion.secrets
        let accomplice = RosterMember(
            role: .computer, signingKey: DeviceSigningKey().publicKey, boxKey: BoxKeyPair().publicKey)
        let forged = roster.admitting(accomplice, by: secrets.signingKey, at: 0)
        #expect(throws: SealedFormatsError.self) { try roster.append(forged) }
        connected.meddler.meddleWithRoster { $0.entries.append(Data(forged)) }
        connected.hub.stream(.roster(number: 3))
        await isFoundOut(connected, "a list of devices that was changed without permission")
        #expect(try await connected.household.devices().devices.count == 2)
    }

    @Test func aPhoneThatIsServedAnotherHouseholdKeepsNothing() async throws {
        let connected = try await ConnectedWorld()
        let other = try await ConnectedWorld()
        let entries = other.hub.state.withLock { $0.roster }
        let meddler = Meddler()
        meddler.meddleWithRoster { $0.entries = entries }
        await #expect(throws: (any Error).self) { _ = try await connected.pair(meddler: meddler) }
    }

    @Test func joiningWithoutTheLinkIsRejected() async throws {
        let connected = try await ConnectedWorld()
        let pairing = try await connected.household.makePairing(address: nil)
        let id = try #require(HubID(pairing.id))
        let intruder = DeviceSigningKey()
        // The hub knows the invitation's id and lets somebody of its own in.
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
        // It gets back what the computer has.
        await eventually {
            connected.world.time.advance(by: .seconds(10))
            let collections = Set(connected.hub.records.map(\.collection))
            return collections.isSuperset(of: ["keys", "devices", "status", "apps"])
        }
    }

    @Test func aHubThatAnswersNonsenseIsNotBelieved() async throws {
        let connected = try await ConnectedWorld()
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        connected.meddler.meddle { request, answer in
            request.route == .writeRecords ? Data("{\"outcomes\": []}".utf8) : answer
        }
        let saved = try await connected.world.control.sealed.notes.add(NoteRequest(title: "t", body: "b"), peer: alice)
        await eventually { try await connected.sync.status().problem != nil }
        // Truthless answers lose nothing: it is sent until it is written.
        connected.meddler.meddle(nil)
        await eventually {
            connected.world.time.advance(by: .seconds(10))
            return connected.hub.records(in: "notes").map(\.id.description) == [saved.note.id]
        }
    }
}
