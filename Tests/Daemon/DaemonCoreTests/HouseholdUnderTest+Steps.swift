import ControlAPI
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Sync

@testable import DaemonCore

// The action of each step.
extension HouseholdUnderTest {
    func perform(_ step: HouseholdStep) async throws {
        switch step {
        case .addNote(let device): try await addNote(on: self.device(device))
        case .changeNote(let device, let note): try await changeNote(note, on: self.device(device))
        case .removeNote(let device, let note): try await removeNote(note, on: self.device(device))
        case .readOnPhone(let number):
            guard let phone = element(number, phones.indices.filter { !phones[$0].isRefused }) else { return }
            try await read(phone)
        case .disconnect(let device): setUnreachable(self.device(device), true)
        case .reconnect(let device): setUnreachable(self.device(device), false)
        case .advanceTime: for computer in computers { computer.world.time.advance(by: .seconds(61)) }
        case .lockVault(let number):
            await computers[number % computers.count].world.sealed.vault.lock(user: nil, "The vault was locked.")
        case .kill(let number): try await kill(number % computers.count)
        case .pairPhone(let number): if members.count < 3 { try await pair(at: number % computers.count) }
        case .revokeAtComputer(let number, let phone):
            guard members.count > 1, let revoked = element(phone, members) else { return }
            try await revoke(revoked, at: number % computers.count)
        case .revokeOnPhone(let number, let other):
            guard let author = element(number, members.filter { !phones[$0].isUnreachable }),
                let revoked = element(other, members.filter { $0 != author })
            else { return }
            try await revoke(revoked, on: author)
        case .misbehave(let misbehaviour, let device): try await apply(misbehaviour, to: self.device(device))
        case .heal: try await heal()
        case .restoreHub(let number): try await restoreHub(number)
        }
    }

    func element<Value>(_ number: Int, _ values: [Value]) -> Value? {
        values.isEmpty ? nil : values[number % values.count]
    }

    private func device(_ number: Int) -> Device { devices[number % devices.count] }

    // MARK: Notes

    func addNote(on device: Device) async throws {
        switch device {
        case .computer(let index):
            try await openVault(index)
            let text = model.write(by: computers[index].id)
            _ = try await computers[index].world.sealed.notes.add(NoteRequest(title: text, body: text), peer: alice)
            model.acknowledge(text)
        case .phone(let index):
            let text = model.write(by: phones[index].id)
            let isDone = try await attempt(index) { _ = try await $0.write(title: text, body: text) }
            if isDone { model.acknowledge(text) }
        }
    }

    func changeNote(_ number: Int, on device: Device) async throws {
        switch device {
        case .computer(let index):
            try await openVault(index)
            guard let note = element(number, try await notes(index)) else { return }
            let text = model.write(by: computers[index].id, after: note.title)
            let request = NoteRequest(title: text, body: text, replaces: note.version)
            do {
                let saved = try await computers[index].world.sealed.notes.change(note.id, request, peer: alice)
                if saved.note.id != note.id { model.keepBoth(text, note.title) }
                model.acknowledge(text)
            } catch let error as ControlError where error.code == .noSuchItem {
                // A phone removed it meanwhile.
            } catch let error as ControlError where error.code == .notReadable {
                // The note was resealed after the change had read the vault's keys.
            }
        case .phone(let index):
            guard let note = element(number, phones[index].notes) else { return }
            let text = model.write(by: phones[index].id, after: note.title)
            let isDone = try await attempt(index) { _ = try await $0.write(title: text, body: text, to: note.id) }
            if isDone { model.acknowledge(text) }
        }
    }

    func removeNote(_ number: Int, on device: Device) async throws {
        switch device {
        case .computer(let index):
            try await openVault(index)
            guard let note = element(number, try await notes(index)) else { return }
            do {
                try await computers[index].world.sealed.notes.remove(note.id, version: note.version, peer: alice)
                model.remove(note.title)
            } catch let error as ControlError where error.code == .noSuchItem {
            } catch is RevisionConflict {}
        case .phone(let index):
            guard let note = element(number, phones[index].notes) else { return }
            model.remove(note.title)
            _ = try await attempt(index) { try await $0.removeNote(note.id) }
        }
    }

    // MARK: Revocations

    private func revoke(_ revoked: Int, at index: Int) async throws {
        do {
            _ = try await computers[index].devices.revoke(
                phones[revoked].name, passcode: SecretBytes(utf8: Self.passcode), user: alice.user)
        } catch let error as ControlError where error.code == .busy || error.code == .noSuchItem {
            // The hub has not received the last revocation yet, or this computer not the phone's pairing.
            return
        }
        phones[revoked].isRevoked = true
        model.receive(revocationsOf: [phones[revoked].id], at: computers[index].id)
    }

    private func revoke(_ revoked: Int, on author: Int) async throws {
        let companion = phones[author].companion
        guard let id = try? await companion.computer(nil), let index = computers.firstIndex(where: { $0.id == id }),
            !computers[index].isUnreachable, await computers[index].sync.engine.isConnected
        else { return }
        var state: CommandReply.State?
        let device = phones[revoked].id
        // The computer may notice an earlier disconnection only now. It would perform the command in a later step then,
        // without the model's knowledge.
        let connecting = Task { await keepConnected(index) }
        defer { connecting.cancel() }
        _ = try await attempt(author) {
            state = try await $0.command(.revokeDevice(device: device), to: id, patience: Self.patience).state
        }
        connecting.cancel()
        await connecting.value
        guard state == .done else { return }
        phones[revoked].isRevoked = true
        model.receive(revocationsOf: [device], at: id)
    }

    // MARK: Healing

    /// The network works and the hub behaves, until all devices have the same notes.
    func heal() async throws {
        for device in devices { setUnreachable(device, false) }
        for computer in computers { misbehavingHub.removeAnswer(for: computer.id) }
        for phone in phones { misbehavingHub.removeAnswer(for: phone.id) }
        try await until("all devices show the same notes") {
            for index in computers.indices {
                try await openVault(index)
                guard try await isSettled(computers[index]) else {
                    computers[index].world.time.wakeNext(within: .seconds(400))
                    return false
                }
            }
            let titles = try await allNotes()
            guard await notesAtHub() == titles else { return false }
            for index in members {
                try await read(index)
                guard phones[index].notes.map(\.title).sorted() == titles else { return false }
            }
            return try await allNotes() == titles
        }
        for index in phones.indices where phones[index].isRevoked && !phones[index].isRefused {
            try await read(index)
            guard phones[index].isRefused else {
                throw Violation(description: "The hub still answers \(phones[index].name), which is revoked.")
            }
        }
        for index in computers.indices {
            model.receive(revocationsOf: Set(phones.filter(\.isRevoked).map(\.id)), at: computers[index].id)
        }
        let lost = model.lost(in: try await allNotes())
        guard lost.isEmpty else { throw Violation(description: "Lost: \(lost).\n\(await state())") }
        try await checkKeys()
        for index in members { try await showNotes(index, isComplete: true) }
        backups.append(hub.backup())
    }

    /// The notes that a newly paired device would read.
    private func notesAtHub() async -> [String] {
        let keys = await vaultKeys()
        return hub.records(in: "notes").filter { $0.sealed != nil }.map { Self.title(of: $0, keys) ?? "not readable" }
            .sorted()
    }

    private func restoreHub(_ number: Int) async throws {
        try await heal()
        if let backup = element(number, backups) { hub.restore(backup) }
    }

    private func allNotes() async throws -> [String] {
        var titles: [String] = []
        for index in computers.indices {
            try await openVault(index)
            titles += try await notes(index).map(\.title)
        }
        return titles.sorted()
    }
}
