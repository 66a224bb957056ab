import Foundation
import SealedFormats
import Testing

@testable import Household

@Suite struct HouseholdKeysTests {
    private let founder = DeviceSigningKey()
    private let second = DeviceSigningKey()

    private func admit(
        _ key: DeviceSigningKey, _ role: DeviceRole, by author: DeviceSigningKey, to roster: inout Roster
    )
        throws
    {
        let member = RosterMember(role: role, signingKey: key.publicKey, boxKey: BoxKeyPair().publicKey)
        try roster.append(roster.admitting(member, by: author, at: 1))
    }

    private func founded() -> Roster { Roster(founder: founder, boxKey: BoxKeyPair().publicKey, at: 0) }

    @Test func theAdmittingComputerSendsKeysUnderTheDevicesID() throws {
        var roster = founded()
        let phone = DeviceSigningKey()
        try admit(second, .computer, by: founder, to: &roster)
        try admit(phone, .companion, by: second, to: &roster)
        let (one, two, other) = (founder.publicKey.id, second.publicKey.id, phone.publicKey.id)
        #expect(roster.keysRecord(from: two, to: other) == other && roster.keysRecord(from: one, to: two) == two)
        #expect(roster.keysRecord(from: one, to: other) == DeviceKeys.recordID(from: one, to: other))
        #expect(roster.keysRecord(from: two, to: one) == DeviceKeys.recordID(from: two, to: one))
    }

    @Test func statusKeysOfTwoComputersNeverUseTheSameEpoch() throws {
        var roster = founded()
        let (one, two) = (founder.publicKey.id, second.publicKey.id)
        #expect(roster.nextStatusEpoch(after: 1, by: one) == 2)
        try admit(second, .computer, by: founder, to: &roster)
        var epochs: Set<UInt32> = []
        var (ofOne, ofTwo) = (UInt32(2), UInt32(2))
        for _ in 0..<600 {
            ofOne = roster.nextStatusEpoch(after: ofOne, by: one)
            ofTwo = roster.nextStatusEpoch(after: ofTwo, by: two)
            #expect(epochs.insert(ofOne).inserted && epochs.insert(ofTwo).inserted)
        }
        #expect(roster.nextStatusEpoch(after: 300, by: two) == 513)
        // The second computer is revoked; the keys that it may have made meanwhile keep their epochs.
        try roster.append(roster.revoking(two, by: founder, at: 2))
        #expect(roster.nextStatusEpoch(after: 300, by: one) == 512)
    }

    /// Keys of another computer are untrusted: invalid ones are refused, and never end the process.
    @Test func keysOfFarEpochsAndTooManyKeysAreRefused() throws {
        let household = ItemID.random()
        func status(_ epoch: UInt32) -> KeyRing.Entry {
            .init(kind: .status, vault: household, epoch: epoch, key: .random(count: 32))
        }
        var secrets = HouseholdSecrets(
            household: household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(), token: .random(count: 32),
            ring: KeyRing([]))
        #expect(throws: RecordRefusal.unreadable) { try secrets.add(KeyRing([status(.max)])) }
        try secrets.add(KeyRing([status(1)]))
        for epoch: UInt32 in [.max, .max - 300, 2 + HouseholdSecrets.largestEpochStep] {
            #expect(throws: RecordRefusal.unreadable) { try secrets.add(KeyRing([status(epoch)])) }
        }
        try secrets.add(KeyRing([status(1 + HouseholdSecrets.largestEpochStep)]))
        let many = (1...UInt32(KeyRing.maximumEntries)).map { status(1 + $0) }
        #expect(throws: RecordRefusal.unreadable) { try secrets.add(KeyRing(many)) }
        #expect(secrets.epoch == 1 + HouseholdSecrets.largestEpochStep && secrets.ring.entries.count == 2)
        let key = SecretBytes.random(count: 32)
        func given(_ epochs: ClosedRange<Int>) -> KeyRing {
            KeyRing(epochs.map { .init(kind: .status, vault: household, epoch: UInt32($0), key: key) })
        }
        // 1 is known; the remaining space is for keys that this device makes.
        try secrets.add(given(2...HouseholdSecrets.maximumGiven - 1))
        #expect(secrets.ring.entries.count == HouseholdSecrets.maximumGiven)
        #expect(throws: RecordRefusal.unreadable) { try secrets.add(given(60_000...60_000)) }
        try secrets.add(given(60_000...60_000), madeHere: true)

        var roster = founded()
        try admit(second, .computer, by: founder, to: &roster)
        for current: UInt32 in [.max, .max - 1, .max - 255, .max - 511] {
            #expect(roster.nextStatusEpoch(after: current, by: founder.publicKey.id) == .max)
        }
    }

    @Test func theHistoryOfTheRosterHasAdmissionsAndRevocations() throws {
        var roster = founded()
        try admit(second, .computer, by: founder, to: &roster)
        let two = second.publicKey.id
        try roster.append(roster.revoking(two, by: second, at: 2))
        let history = roster.history
        #expect(history.map(\.number) == [1, 2, 3] && history.map(\.kind) == [.admit, .admit, .revoke])
        #expect(history[2].author == two && history[2].device == two && history[2].role == .computer)
        #expect(roster.admitter(of: two) == founder.publicKey.id && roster.admitter(of: .random()) == nil)
    }
}
