import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats

@testable import DaemonCore

// The invariants that are checked after each step.
extension HouseholdUnderTest {
    func check() async throws {
        for index in computers.indices { try await observeComputer(index) }
        try await checkReading()
    }

    // MARK: No rollback

    private func observeComputer(_ index: Int) async throws {
        let world = computers[index].world
        if let roster = await world.household.session?.roster { try follow(roster, of: computers[index].id) }
        guard await world.sealed.vault.openKeys() != nil,
            let list = try? await world.sealed.notes.list(search: nil, peer: alice)
        else { return }
        let shown = Dictionary(uniqueKeysWithValues: list.notes.map { ($0.id, $0.title) })
        // Some notes don't open while keys are replaced.
        try await require(computers[index].screen.show(shown, isComplete: list.unreadable == 0), of: world.name)
        try requireNoForgery(list.notes.map(\.title), on: world.name)
    }

    /// Checks what a phone shows after a step.
    func observe(_ index: Int) async throws {
        let companion = phones[index].companion
        try follow(await companion.roster, of: phones[index].id)
        phones[index].notes = try await companion.notes()
        try await showNotes(index, isComplete: false)
    }

    func showNotes(_ index: Int, isComplete: Bool) async throws {
        let notes = phones[index].notes
        let shown = Dictionary(uniqueKeysWithValues: notes.map { ($0.id.description, $0.title) })
        try await require(phones[index].screen.show(shown, isComplete: isComplete), of: phones[index].name)
        try requireNoForgery(notes.map(\.title), on: phones[index].name)
    }

    /// A roster only grows.
    private func follow(_ roster: Roster, of device: HubID) throws {
        if let known = rosters[device], !roster.contains(known.head) {
            throw Violation(description: "\(device) returned to an earlier or another roster.")
        }
        rosters[device] = roster
    }

    private func require(_ wrong: [String], of name: String) async throws {
        guard wrong.isEmpty else {
            throw Violation(description: "On \(name), \(wrong.joined(separator: ", ")).\n\(await state())")
        }
    }

    private func requireNoForgery(_ titles: [String], on name: String) throws {
        let forged = titles.first { model.forgeries.contains(HouseholdModel.text(of: $0)) }
        guard let forged else { return }
        throw Violation(description: "\(name) shows \"\(forged)\", which no member wrote.")
    }

    // MARK: No revoked phone reads later records

    /// All keys that a revoked phone can have: its own, and those in records of the hub.
    private func keys(of phone: Phone) async -> KeyRing {
        let secrets = await phone.companion.secrets
        let records = misbehavingHub.written.filter { $0.collection == RecordCollection.keys.rawValue }
        let received = records.compactMap { record in
            try? DeviceKeys.open([UInt8](record.sealed ?? Data()), as: record.recordName, with: secrets.boxKey)
        }
        return KeyRing(secrets.ring.entries + received.flatMap(\.entries))
    }

    private func checkReading() async throws {
        let fresh = misbehavingHub.written.dropFirst(tried)
        tried += fresh.count
        let notes = fresh.filter { $0.collection == RecordCollection.notes.rawValue && $0.sealed != nil }
        guard !notes.isEmpty else { return }
        for phone in phones where phone.isRevoked {
            let keys = await keys(of: phone).entries.filter { $0.kind == .vault }
            for record in notes {
                guard let title = Self.title(of: record, keys), model.isForbidden(title, to: phone.id) else { continue }
                throw Violation(
                    description: "\(phone.name) reads \"\(title)\", written after its revocation, by \(record.author) "
                        + "under the key of epoch \(record.epoch).\n\(await state())")
            }
        }
    }

    static func title(of record: HubRecord, _ keys: [KeyRing.Entry]) -> String? {
        guard let envelope = try? RecordEnvelope(bytes: [UInt8](record.sealed ?? Data())) else { return nil }
        for entry in keys {
            guard let body = try? envelope.open(as: record.recordName, vaultKey: entry.key) else { continue }
            return (try? JSONDecoder().decode(SealedNote.self, from: body))?.title
        }
        return nil
    }

    /// Once all devices have received the revocations, revoked phones have no current key.
    func checkKeys() async throws {
        var current: [(of: String, key: SecretBytes)] = []
        for computer in computers {
            let secrets = await computer.household.session?.secrets
            let ring = await computer.world.sealed.vault.openKeys()?.ring
            guard let secrets, let ring, let status = secrets.ring.current(.status, vault: secrets.household) else {
                throw Violation(description: "\(computer.world.name) has no keys.")
            }
            current.append(("\(computer.world.name)'s status", status.key))
            for vault in Set(ring.entries.map(\.vault)) {
                for kind in [KeyRing.Kind.vault, .inbox] {
                    guard let entry = ring.current(kind, vault: vault) else { continue }
                    current.append(("\(computer.world.name)'s \(kind) \(entry.epoch) of \(vault)", entry.key))
                }
            }
        }
        for phone in phones where phone.isRevoked {
            let known = await keys(of: phone).entries.map(\.key)
            for (owner, key) in current where known.contains(key) {
                throw Violation(
                    description: "\(phone.name) is revoked and has \(owner) key, which is current.\n\(await state())")
            }
        }
    }
}

extension HubRecord {
    /// Its name; an unknown collection becomes `notes`.
    var recordName: RecordName {
        RecordName(
            vault: vault.item, collection: RecordCollection(rawValue: collection) ?? .notes, id: id.item,
            revision: revision)
    }
}
