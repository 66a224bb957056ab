import Foundation
import HubAPI
import SealedFormats
import Testing

@testable import Household

@Suite struct RecordCheckTests {
    private let computer: HouseholdSecrets
    private let phone: HouseholdSecrets
    private let administrator: HouseholdSecrets
    private let roster: Roster

    init() throws {
        let (key, box) = (DeviceSigningKey(), BoxKeyPair())
        var roster = Roster(founder: key, boxKey: box.publicKey, at: 0)
        let household = roster.household
        let ring = KeyRing([.init(kind: .status, vault: household, epoch: 1, key: .random(count: 32))])
        func secrets(_ key: DeviceSigningKey, _ box: BoxKeyPair) -> HouseholdSecrets {
            HouseholdSecrets(household: household, signingKey: key, boxKey: box, token: .random(count: 32), ring: ring)
        }
        computer = secrets(key, box)
        phone = secrets(DeviceSigningKey(), BoxKeyPair())
        let member = RosterMember(
            role: .companion, signingKey: phone.signingKey.publicKey, boxKey: phone.boxKey.publicKey)
        try roster.append(roster.admitting(member, by: key, at: 0))
        administrator = secrets(DeviceSigningKey(), BoxKeyPair())
        let second = RosterMember(
            role: .administrator, signingKey: administrator.signingKey.publicKey,
            boxKey: administrator.boxKey.publicKey)
        try roster.append(roster.admitting(second, by: key, at: 0))
        self.roster = roster
    }

    private func refusal(_ record: HubRecord, known: UInt64 = 0) -> RecordRefusal? {
        do {
            _ = try RecordCheck(roster).check(record, known: known)
            return nil
        } catch {
            return error
        }
    }

    private func record(
        _ collection: RecordCollection, by device: HouseholdSecrets, _ revision: UInt64 = 1, id: ItemID = .random()
    ) -> HubRecord {
        let vault = RecordCheck.isOfHousehold(collection) ? roster.household : computer.device
        return device.sign(
            RecordName(vault: vault, collection: collection, id: id, revision: revision), epoch: 1, sealed: [1])
    }

    /// The table of docs/formats.md.
    @Test func collectionsAreWrittenOnlyByTheirAuthors() throws {
        for collection in [RecordCollection.keys, .devices, .events, .requests, .intruders] {
            #expect(refusal(record(collection, by: computer)) == nil, "\(collection)")
            #expect(refusal(record(collection, by: phone)) == .wrongWriter, "\(collection)")
            let isOfAdministrators = collection == .keys || collection == .devices
            #expect(
                refusal(record(collection, by: administrator)) == (isOfAdministrators ? nil : .wrongWriter),
                "\(collection)")
        }
        for collection in [RecordCollection.status, .apps, .icons] {
            #expect(refusal(record(collection, by: computer, id: computer.device)) == nil)
            #expect(refusal(record(collection, by: computer)) == .wrongWriter)
            #expect(refusal(record(collection, by: phone, id: phone.device)) == .wrongWriter)
            #expect(refusal(record(collection, by: administrator, id: administrator.device)) == .wrongWriter)
        }
        for collection in [RecordCollection.notes, .files] {
            #expect(refusal(record(collection, by: computer)) == nil)
            #expect(refusal(record(collection, by: phone)) == nil)
            #expect(refusal(record(collection, by: administrator)) == nil)
        }
        for phone in [phone, administrator] {
            #expect(refusal(record(.commands, by: phone)) == nil)
            #expect(refusal(record(.commands, by: phone, 2)) == .wrongWriter)
        }
        #expect(refusal(record(.commands, by: computer)) == .wrongWriter)
        #expect(refusal(record(.commands, by: computer, 2)) == nil)
        #expect(refusal(record(.events, by: computer, 2)) == .wrongWriter)
    }

    @Test func aRevisionMustBeHigherThanTheKnownOne() {
        let second = record(.notes, by: phone, 2)
        #expect(refusal(second, known: 1) == nil)
        #expect(refusal(second, known: 2) == .notNewer)
        #expect(refusal(second, known: 3) == .notNewer)
    }

    /// Later revisions and sequence numbers must remain possible.
    @Test func revisionsAndSequenceNumbersAreSafeIntegersInJavaScript() {
        let last = HubRecord.maximumNumber
        #expect(refusal(record(.notes, by: phone, last)) == nil)
        for revision: UInt64 in [0, last + 1, UInt64(Int64.max), 1 << 63, .max - 1, .max] {
            #expect(refusal(record(.notes, by: phone, revision)) == .malformed, "\(revision)")
        }
        var served = record(.notes, by: phone)
        for sequence: UInt64 in [0, 1, last] {
            served.sequence = sequence
            #expect(refusal(served) == nil, "\(sequence)")
        }
        for sequence: UInt64 in [last + 1, UInt64(Int64.max), .max] {
            served.sequence = sequence
            #expect(refusal(served) == .malformed, "\(sequence)")
        }
    }

    @Test func recordsOfARevokedDeviceAreRejected() throws {
        var shorter = roster
        try shorter.append(shorter.revoking(phone.device, by: computer.signingKey, at: 0))
        #expect(throws: RecordRefusal.unknownAuthor) {
            try RecordCheck(shorter).check(record(.notes, by: phone), known: 0)
        }
    }

    @Test func aBodyOpensOnlyAsTheSealedRecord() throws {
        let sealed = try computer.seal(DeviceName(name: "den"), .devices, .random(), revision: 1)
        let checked = try RecordCheck(roster).check(sealed, known: 0)
        #expect(try phone.open(checked, as: DeviceName.self) == DeviceName(name: "den"))
        #expect(throws: RecordRefusal.unreadable) { try phone.open(checked, as: RemoteCommand.self) }
        let later = HouseholdSecrets(
            household: roster.household, signingKey: phone.signingKey, boxKey: phone.boxKey, token: phone.token,
            ring: KeyRing([.init(kind: .status, vault: roster.household, epoch: 2, key: .random(count: 32))]))
        #expect(throws: StatusKeyMissing(epoch: 1)) { try later.open(checked, as: DeviceName.self) }
    }

    @Test func anotherKeyUnderAKnownEpochIsRefused() throws {
        var secrets = phone
        try secrets.add(computer.ring)
        #expect(secrets.ring.entries.count == 1)
        #expect(throws: RecordRefusal.unreadable) {
            try secrets.add(
                KeyRing([.init(kind: .status, vault: roster.household, epoch: 1, key: .random(count: 32))]))
        }
    }
}

@Suite struct EventChainTests {
    private let ids = (0..<6).map { _ in HubID(ItemID.random()) }

    @Test func aCompleteChainHasNoMissingEvents() {
        var chain = EventChain()
        // Events before the first one were removed after their retention.
        for index in 1..<6 { chain.add(ids[index], previous: ids[index - 1]) }
        chain.note(ids[5])
        #expect(chain.missing == 0)
    }

    @Test func theEventBeforeTheFirstIsNotMissingIfAStatusNamedIt() {
        var chain = EventChain()
        chain.note(ids[0])
        chain.add(ids[1], previous: ids[0])
        #expect(chain.missing == 0)
    }

    @Test func referencedEventsThatAreAbsentAreMissing() {
        var chain = EventChain()
        chain.add(ids[0], previous: nil)
        chain.add(ids[2], previous: ids[1])
        #expect(chain.missing == 1)
        chain.note(ids[5])
        #expect(chain.missing == 2)
        chain.add(ids[1], previous: ids[0])
        chain.add(ids[5], previous: ids[2])
        #expect(chain.missing == 0)
    }
}
