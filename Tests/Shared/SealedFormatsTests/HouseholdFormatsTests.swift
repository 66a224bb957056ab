import Foundation
import Testing

@testable import SealedFormats

struct RosterTests {
    private let computer = DeviceSigningKey()

    private func member(_ role: DeviceRole, _ key: DeviceSigningKey = DeviceSigningKey()) -> RosterMember {
        RosterMember(role: role, signingKey: key.publicKey, boxKey: BoxKeyPair().publicKey)
    }

    private func founded() -> Roster { Roster(founder: computer, boxKey: BoxKeyPair().publicKey, at: 1_750_000_000) }

    @Test func everyDeviceFollowsARosterWrittenByAnother() throws {
        var roster = founded()
        let phone = member(.companion)
        try roster.append(roster.admitting(phone, by: computer, at: 2))
        try roster.append(roster.revoking(phone.id, by: computer, at: 3))
        let read = try Roster(entries: roster.entries)
        #expect(read.household == roster.household && read.head == roster.head)
        #expect(read.members == roster.members && read.revoked == [phone.id])
        #expect(read.head.number == 3)
    }

    @Test func aPhoneFoundsAHouseholdAndItsAdministratorsChangeTheList() throws {
        let phone = DeviceSigningKey()
        var roster = Roster(founder: phone, boxKey: BoxKeyPair().publicKey, role: .administrator, at: 1)
        #expect(roster.isPhoneFounded && !founded().isPhoneFounded)
        let second = DeviceSigningKey()
        try roster.append(roster.admitting(member(.administrator, second), by: phone, at: 2))
        try roster.append(roster.admitting(member(.computer, computer), by: second, at: 3))
        try roster.append(roster.revoking(phone.publicKey.id, by: computer, at: 4))
        try roster.append(roster.revoking(computer.publicKey.id, by: second, at: 5))
        let read = try Roster(entries: roster.entries)
        #expect(read.members.map(\.id) == [second.publicKey.id] && read.isPhoneFounded)
    }

    @Test func onlyDevicesThatAdministerChangeTheList() throws {
        let (phone, companion) = (DeviceSigningKey(), DeviceSigningKey())
        var roster = Roster(founder: phone, boxKey: BoxKeyPair().publicKey, role: .administrator, at: 1)
        try roster.append(roster.admitting(member(.companion, companion), by: phone, at: 2))
        for entry in [
            roster.admitting(member(.administrator), by: companion, at: 3),
            roster.revoking(phone.publicKey.id, by: companion, at: 3),
            // Of another household.
            roster.admitting(member(.administrator), by: computer, at: 3),
            // The last device that can admit others.
            roster.revoking(phone.publicKey.id, by: phone, at: 3),
        ] {
            #expect(try refusal { try roster.append(entry) } == .damaged)
        }
        #expect(roster.head.number == 2)
        let begunByCompanion = Roster(founder: companion, boxKey: BoxKeyPair().publicKey, role: .companion, at: 1)
        #expect(try refusal { try Roster(entries: begunByCompanion.entries) } == .damaged)
    }

    @Test func aRefusedEntryChangesNothing() throws {
        var roster = founded()
        let (stranger, before) = (DeviceSigningKey(), roster.head)
        let entry = roster.admitting(member(.companion), by: stranger, at: 2)
        #expect(try refusal { try roster.append(entry) } == .damaged)
        #expect(roster.head == before && roster.entries.count == 1 && roster.members.count == 1)
    }

    @Test func aTruncatedOrReplacedChainDoesNotHaveTheKnownHead() throws {
        var roster = founded()
        try roster.append(roster.admitting(member(.companion), by: computer, at: 2))
        let cut = try Roster(entries: Array(roster.entries.dropLast()))
        var branch = cut
        try branch.append(branch.admitting(member(.companion), by: computer, at: 2))
        #expect(roster.contains(roster.head) && roster.contains(cut.head))
        #expect(!cut.contains(roster.head) && !branch.contains(roster.head))
        #expect(!founded().contains(cut.head))
        #expect(!roster.contains(Roster.Head(number: 0, hash: [UInt8](repeating: 0, count: 32))))
    }

    @Test func everyFlippedBitOfAnEntryIsRefused() throws {
        var roster = founded()
        try roster.append(roster.admitting(member(.companion), by: computer, at: 2))
        for index in roster.entries.indices {
            for bit in stride(from: 0, to: roster.entries[index].count * 8, by: 7) {
                var entries = roster.entries
                entries[index] = entries[index].flipped(bit: bit)
                #expect(try refusal { try Roster(entries: entries) } != nil, "entry \(index), bit \(bit)")
            }
        }
    }
}

struct InvitationTests {
    @Test func aLinkContainsItsSecretsOnlyInTheFragment() throws {
        let invitation = Invitation(household: .random(), computer: .random())
        let link = invitation.link(hub: "https://hub.example")
        #expect(link.hasPrefix("https://hub.example/#pair=") && link.utf8.count == 26 + 108)
        let (read, hub) = try Invitation.reading(link: link)
        #expect(hub == "https://hub.example" && read.id == invitation.id && read.proof == invitation.proof)
        let joining = try Invitation.Joining(
            signingKey: DeviceSigningKey().publicKey, boxKey: BoxKeyPair().publicKey, name: "phone")
        #expect(try invitation.open(read.seal(joining)) == joining)
        let other = Invitation(household: invitation.household, computer: invitation.computer)
        #expect(try refusal { try other.open(read.seal(joining)) } == .damaged)
        #expect(other.proof != invitation.proof)
    }

    @Test func aLinkStatesTheRoleThatItAdmits() throws {
        for role in DeviceRole.allCases {
            let invitation = Invitation(household: .random(), computer: .random(), role: role)
            let (read, _) = try Invitation.reading(link: invitation.link(hub: "https://hub.example"))
            #expect(read.role == role && read.proof == invitation.proof)
        }
        let unknown = [4] + [UInt8](repeating: 7, count: 80)
        #expect(try refusal { _ = try Invitation(bytes: unknown) } == .unknownVersion)
    }

    @Test func emptyAndTooLongDeviceNamesAreRefused() throws {
        let (signing, box) = (DeviceSigningKey().publicKey, BoxKeyPair().publicKey)
        for name in ["", String(repeating: "ä", count: 33)] {
            #expect(
                try refusal { try Invitation.Joining(signingKey: signing, boxKey: box, name: name) } == .malformed)
        }
        _ = try Invitation.Joining(signingKey: signing, boxKey: box, name: String(repeating: "ä", count: 32))
    }
}

struct DeviceKeysTests {
    @Test func twoComputersSendADevicesKeysUnderTheirOwnIDs() throws {
        let (sender, receiver) = (
            try #require(ItemID(String(repeating: "1", count: 32))),
            try #require(ItemID(String(repeating: "2", count: 32)))
        )
        let id = DeviceKeys.recordID(from: sender, to: receiver)
        // Computed from docs/formats.md with printf, xxd and sha256sum.
        #expect(id.description == "31acf96cd9132903883b104a256cb481")
        #expect(DeviceKeys.isFor(receiver, id: id, author: sender))
        #expect(DeviceKeys.isFor(receiver, id: receiver, author: sender))
        #expect(!DeviceKeys.isFor(receiver, id: id, author: .random()))
        #expect(!DeviceKeys.isFor(.random(), id: id, author: sender))
    }

    @Test func aBoxedRingOpensOnlyForItsDevice() throws {
        let (keys, other) = (BoxKeyPair(), BoxKeyPair())
        let household = ItemID.random()
        let name = RecordName(vault: household, collection: .keys, id: .random(), revision: 3)
        let ring = KeyRing([
            .init(kind: .status, vault: household, epoch: 2, key: FormatSamples.key()),
            .init(kind: .vault, vault: .random(), epoch: 1, key: FormatSamples.key()),
        ])
        let box = try DeviceKeys.seal(ring, as: name, to: keys.publicKey)
        let opened = try DeviceKeys.open(box, as: name, with: keys)
        #expect(opened.entries.map(\.key) == ring.entries.map(\.key))
        #expect(opened.current(.status, vault: household)?.epoch == 2)
        #expect(try refusal { try DeviceKeys.open(box, as: name, with: other) } == .wrongKey)
        var older = name
        older.revision = 2
        #expect(try refusal { try DeviceKeys.open(box, as: older, with: keys) } == .damaged)
    }
}
