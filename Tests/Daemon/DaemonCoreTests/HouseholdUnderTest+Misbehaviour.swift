import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import Sync

@testable import DaemonCore

// Protocol violations of the hub. Each is refused and reported, or has no effect: the notes that the devices show are
// checked after each step.
extension HouseholdUnderTest {
    func apply(_ misbehaviour: HubMisbehaviour, to device: Device) async throws {
        if case .phone(let index) = device, phones[index].isRevoked { return }
        setUnreachable(device, false)
        switch misbehaviour {
        case .changedRecord:
            guard let record = try changedRecord() else { return }
            try await mustRefuse([record], device)
        case .strangersRecord:
            guard let secrets = await phones.first?.companion.secrets else { return }
            let stranger = HouseholdSecrets(
                household: secrets.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(),
                token: secrets.token, ring: secrets.ring)
            try await mustRefuse(try forgeries(by: stranger), device)
        case .revokedRecord:
            guard let secrets = try await removedPhone(asKnownTo: device) else { return }
            try await serve(to: device, Self.inserting(try forgeries(by: secrets)))
        case .olderRecord:
            let current = Dictionary(hub.records(in: "notes").map { ($0.id, $0.revision) }) { $1 }
            let older = misbehavingHub.written.filter { $0.collection == "notes" && $0.revision < current[$0.id] ?? 0 }
            try await serve(to: device, Self.inserting(older))
        case .repeatedNumbers, .reversedOrder:
            let all = hub.records
            try await serve(to: device) { page in
                page.records = Array((all + page.records).reversed())
                guard misbehaviour == .repeatedNumbers else { return }
                for index in page.records.indices { page.records[index].sequence = page.next }
            }
        case .withheldRecords: try await serve(to: device) { $0 = HubRecordPage(records: [], next: 0, more: false) }
        case .shorterRoster: try await serveRoster([], to: device)
        case .anotherRoster: try await serveRoster(hub.backup().roster.prefix(1) + [], to: device)
        case .olderConflict:
            let written = misbehavingHub.written
            try await answerWrite(of: device) { record in
                let older = written.first { $0.collection == record.collection && $0.id == record.id }
                return older.map { HubWriteOutcome(conflict: $0) }
                    ?? HubWriteOutcome(error: HubError(.unavailable, "Not now."))
            }
        case .anotherConflict:
            guard let other = hub.records(in: "devices").first else { return }
            try await answerWrite(of: device) { _ in HubWriteOutcome(conflict: other) }
            if case .computer = device { try await mustReport("a conflict with", device) }
        case .refusal:
            try await answerWrite(of: device) { _ in HubWriteOutcome(error: HubError(.failed, "It can't be done.")) }
        case .lostAnswer:
            try await write(
                on: device,
                MisbehavingHub.AlteredAnswer(route: .writeRecords) { _, _ in
                    throw HubUnreachable(.timeout, "No answer.")
                })
        }
    }

    // MARK: Forged records

    /// Higher than any revision of a run, because older revisions are ignored without a report.
    private static let ahead: UInt64 = 100

    /// A version of a note with an invalid signature.
    private func changedRecord() throws -> HubRecord? {
        // Records of a revoked device are ignored without a report.
        let revoked = Set(phones.filter(\.isRevoked).map(\.id))
        let notes = hub.records(in: "notes").filter { $0.sealed != nil && !revoked.contains($0.author) }
        guard var record = notes.last else { return nil }
        record.revision += Self.ahead
        record.sealed?[200] ^= 1
        return record
    }

    /// A new note and a change of an existing one, sealed with keys of the household.
    private func forgeries(by secrets: HouseholdSecrets) throws -> [HubRecord] {
        guard let entry = secrets.ring.entries.last(where: { $0.kind == .vault }) else { return [] }
        let known = hub.records(in: "notes").last { $0.vault == HubID(entry.vault) }
        let names = [
            RecordName(vault: entry.vault, collection: .notes, id: .random(), revision: 1),
            RecordName(
                vault: entry.vault, collection: .notes, id: known?.id.item ?? .random(),
                revision: (known?.revision ?? 0) + Self.ahead),
        ]
        return try names.map { name in
            let body = SealedNote(title: model.forge(), body: "", created: 0, modified: 0)
            let envelope = try RecordEnvelope(
                sealing: JSONEncoder().encode(body), as: name, vaultKey: entry.key, epoch: entry.epoch)
            return secrets.sign(name, epoch: entry.epoch, sealed: envelope.bytes)
        }
    }

    /// The keys of a revoked phone, if this device has received the revocation and all earlier records of the phone.
    private func removedPhone(asKnownTo device: Device) async throws -> HouseholdSecrets? {
        let roster: Roster?
        switch device {
        case .computer(let index):
            guard try await isSettled(computers[index]) else { return nil }
            roster = await computers[index].household.session?.roster
        case .phone(let index): roster = await phones[index].companion.roster
        }
        let phone = phones.last { roster?.revoked.contains($0.id.item) == true }
        return await phone?.companion.secrets
    }

    private static func inserting(_ records: [HubRecord]) -> @Sendable (inout HubRecordPage) -> Void {
        { page in
            let last = page.records.last?.sequence ?? page.next
            page.records += records.map { record in
                var record = record
                record.sequence = last
                return record
            }
        }
    }

    // MARK: Altered answers

    private func id(of device: Device) -> HubID {
        switch device {
        case .computer(let index): computers[index].id
        case .phone(let index): phones[index].id
        }
    }

    /// Alters the answer to the device's next request for records.
    private func serve(to device: Device, _ change: @escaping @Sendable (inout HubRecordPage) -> Void) async throws {
        let answer = MisbehavingHub.AlteredAnswer(route: .records) { _, answer in
            var page = try JSONDecoder().decode(HubRecordPage.self, from: answer)
            change(&page)
            return try JSONEncoder().encode(page)
        }
        try await read(on: device, answer)
    }

    private func serveRoster(_ entries: [Data], to device: Device) async throws {
        let answer = MisbehavingHub.AlteredAnswer(route: .roster) { _, _ in
            try JSONEncoder().encode(RosterPage(entries: entries))
        }
        try await read(on: device, answer)
        try await mustReport("list of devices than", device)
    }

    private func answerWrite(
        of device: Device, _ outcome: @escaping @Sendable (HubRecord) -> HubWriteOutcome
    ) async throws {
        let answer = MisbehavingHub.AlteredAnswer(route: .writeRecords, reachesHub: false) { request, _ in
            guard case .json(let json) = request.body else { throw HubError(.badRequest, "no body") }
            let records = try JSONDecoder().decode(HubWriteRequest.self, from: json).records
            return try JSONEncoder().encode(HubWriteAnswer(outcomes: records.map(outcome)))
        }
        try await write(on: device, answer)
    }

    private func read(on device: Device, _ answer: MisbehavingHub.AlteredAnswer) async throws {
        let id = id(of: device)
        switch device {
        case .computer(let index):
            misbehavingHub.prepare(answer, for: id)
            try await receiveAnswer(index)
        case .phone(let index):
            misbehavingHub.prepare(answer, for: id)
            try await read(index)
        }
        misbehavingHub.removeAnswer(for: id)
    }

    private func write(on device: Device, _ answer: MisbehavingHub.AlteredAnswer) async throws {
        if case .computer(let index) = device { try await connect(index) }
        misbehavingHub.prepare(answer, for: id(of: device))
        try await addNote(on: device)
        if case .computer(let index) = device { try await receiveAnswer(index) }
        misbehavingHub.removeAnswer(for: id(of: device))
    }

    private func disconnect(_ device: HubID) {
        hub.setUnreachable(device, true)
        hub.setUnreachable(device, false)
    }

    /// Waits until the computer has received the altered answer and is connected again.
    private func receiveAnswer(_ index: Int) async throws {
        let computer = computers[index]
        try await until("\(computer.world.name) received the altered answer") {
            if !misbehavingHub.isPrepared(for: computer.id) { return true }
            // A computer that was about to connect did not notice the disconnection.
            if await computer.sync.engine.isConnected { disconnect(computer.id) }
            computer.world.time.wakeNext(within: .seconds(400))
            return false
        }
        try await connect(index)
    }

    // MARK: Reports

    /// Serves the records one by one, so that the refusal of each is observed.
    private func mustRefuse(_ records: [HubRecord], _ device: Device) async throws {
        for record in records {
            let before = try await refused(by: device)
            try await serve(to: device, Self.inserting([record]))
            // A computer may be disconnected while it reads the record: once it has settled without a report, it is
            // served again. A phone reads nothing from a restored hub until computers have sent the roster again.
            try await until("a forged record is refused") {
                if try await refused(by: device) > before { return true }
                if case .computer(let index) = device, try await !isSettled(computers[index]) {
                    computers[index].world.time.wakeNext(within: .seconds(400))
                    return false
                }
                if case .phone = device {
                    for computer in computers { computer.world.time.wakeNext(within: .seconds(400)) }
                }
                try await serve(to: device, Self.inserting([record]))
                return false
            }
        }
    }

    private func refused(by device: Device) async throws -> Int {
        switch device {
        case .computer(let index): try await computers[index].sync.status().refused
        case .phone(let index): await phones[index].companion.report().refused
        }
    }

    private func mustReport(_ what: String, _ device: Device) async throws {
        switch device {
        case .computer(let index):
            let world = computers[index].world
            try await until("it is reported: \(what)") {
                try await world.events(.hubMisbehaved).contains { $0.sentence.contains(what) }
            }
        case .phone(let index):
            guard await phones[index].companion.report().misbehaviour.contains(where: { $0.contains(what) }) else {
                throw Violation(description: "\(phones[index].name) did not report \(what).")
            }
        }
    }
}
