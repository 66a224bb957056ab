import HubAPI
import SealedFormats
import Testing

@testable import Household

@Suite struct FormerMemberTests {
    /// In a vault whose keys all members make, what a former member wrote stays valid under the keys of its time: in a
    /// shared one, whose members are all computers by their role, as in that of a household that a phone founded.
    @Test func recordsOfFormerMembersAreAcceptedUnderTheKeysOfTheirTime() throws {
        let (founder, phone, other) = (DeviceSigningKey(), DeviceSigningKey(), DeviceSigningKey())
        func member(_ key: DeviceSigningKey) -> RosterMember {
            RosterMember(role: .administrator, signingKey: key.publicKey, boxKey: BoxKeyPair().publicKey)
        }
        for role in [DeviceRole.administrator, .computer] {
            var roster = Roster(founder: founder, boxKey: BoxKeyPair().publicKey, role: role, at: 0)
            for key in [phone, other] { try roster.append(roster.admitting(member(key), by: founder, at: 0)) }
            try roster.append(roster.revoking(other.publicKey.id, by: founder, at: 0))
            try roster.append(roster.revoking(phone.publicKey.id, by: founder, at: 0))
            #expect(roster.keysEpoch == 3 && roster.lastKeysEpoch(of: phone.publicKey.id) == 2)
            #expect(roster.lastKeysEpoch(of: other.publicKey.id) == 1)
            #expect(roster.lastKeysEpoch(of: founder.publicKey.id) == nil)
            let secrets = HouseholdSecrets(
                household: roster.household, signingKey: phone, boxKey: BoxKeyPair(), token: .random(count: 32),
                ring: KeyRing([]))
            let shared = EpochKeys.vault(of: roster.household)
            func refusal(
                _ epoch: UInt32, in vault: ItemID, _ collection: RecordCollection = .notes, knownEpoch: UInt32 = 0
            ) -> RecordRefusal? {
                let name = RecordName(vault: vault, collection: collection, id: .random(), revision: 1)
                let record = secrets.sign(name, epoch: epoch, sealed: [1])
                do {
                    _ = try RecordCheck(roster).check(record, known: 0, knownEpoch: knownEpoch)
                    return nil
                } catch {
                    return error
                }
            }
            #expect(refusal(1, in: shared) == nil)
            #expect(refusal(2, in: shared) == nil)
            #expect(refusal(2, in: shared, knownEpoch: 2) == nil)
            // Under keys of after its removal, in the place of what is under later keys, in another vault, of the household.
            #expect(refusal(3, in: shared) == .unknownAuthor)
            #expect(refusal(2, in: shared, knownEpoch: 3) == .unknownAuthor)
            #expect(refusal(1, in: .random()) == .unknownAuthor)
            #expect(refusal(1, in: roster.household, .keys) == .unknownAuthor)
        }
    }
}
