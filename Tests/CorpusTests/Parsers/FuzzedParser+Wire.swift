import ControlAPI
import Foundation
import Household
import HubAPI
import HubStore
import Policy
import SealedFormats
import Sync

@testable import DaemonCore

#if canImport(TestSupport)
    import TestSupport
#endif

/// JSON of devices, hubs and backups, with what daemon and hub do with it before anything else.
extension FuzzedParser {
    private static let computer = HouseholdSecrets(
        household: roster.household, signingKey: computerKey, boxKey: computerBox, token: .random(count: 32),
        ring: KeyRing([]))
    private static let computerKey = DeviceSigningKey()
    private static let computerBox = BoxKeyPair()
    private static let roster = Roster(founder: computerKey, boxKey: computerBox.publicKey, at: 0)
    private static let clocks: [UInt64] = [0, 1_800_000_000_000, .max]

    /// Unchanged, and with each of its numbers replaced by each extreme one.
    static func wire(_ bytes: [UInt8]) {
        exercise(Data(bytes))
        // A text of only digits would have more than these.
        for variant in ExtremeNumbers.variants(of: bytes).prefix(1_024) { exercise(Data(variant)) }
    }

    private static func exercise(_ json: Data) {
        let decoder = JSONDecoder()
        func read<Value: Decodable>(_ type: Value.Type) -> Value? { try? decoder.decode(type, from: json) }
        if let record = read(HubRecord.self) { exercise(record) }
        for record in read(HubRecordPage.self)?.records ?? [] { exercise(record) }
        if let command = read(RemoteCommand.self) { exercise(command) }
        if let status = read(ComputerStatus.self) { exercise(status) }
        if let report = read(HouseholdReport.self) { exercise(report) }
        if let record = read(BackupRecord.self), let stored = try? record.record() {
            precondition(1...HubRecord.maximumNumber ~= stored.name.revision, "a revision that no device accepts")
        }
        if let backup = read(EarlierBackup.self) {
            _ = backup.exportDate?.text
            let seconds = (try? backup.converted())?.defaultGrantSeconds ?? 300
            precondition(30...3_600 ~= seconds, "an unlock time that is not allowed")
        }
        if let settings = read(PrivacySettings.self) {
            precondition(PrivacySettings.allowedIdleSeconds ~= settings.vaultIdleSeconds, "a forbidden idle time")
        }
        if let settings = read(PresenceSettings.self) {
            precondition((try? settings.validate()) != nil, "settings that are not allowed")
        }
        if let moment = try? MomentBody(bytes: json) {
            precondition(1...9_999 ~= LocalDay(date: moment.date, offset: moment.offset).year, "no day of a calendar")
        }
    }

    /// The hub's decision about a record, and a device's check of the same record, signed by a device of the roster.
    private static func exercise(_ record: HubRecord) {
        for stored in [1, 5, UInt64(Int64.max)] {
            var other = record
            (other.revision, other.sequence) = (stored, stored)
            _ = RecordDecision(record, stored: other)
        }
        if case .isNext = RecordDecision(record, stored: nil) {
            precondition(1...(1 << 32) ~= record.revision, "a first revision that is too high")
        }
        _ = RecordDecision.ancestors(of: record, after: record)
        guard let collection = RecordCollection(rawValue: record.collection) else { return }
        let name = RecordName(
            vault: record.vault.item, collection: collection, id: record.id.item, revision: record.revision)
        var signed = computer.sign(
            name, epoch: record.epoch, sealed: record.sealed.map { [UInt8]($0) }, blobs: record.blobs.map(\.item),
            replaces: record.replaces)
        (signed.sequence, signed.ancestors) = (record.sequence, record.ancestors)
        guard let checked = try? RecordCheck(roster).check(signed, known: 0) else { return }
        precondition(checked.name.revision < UInt64(Int64.max), "no revision is left")
        precondition(checked.sequence < UInt64(Int64.max), "a sequence number that is too high")
        _ = RecordVersion.versions(in: checked.ancestors)
        _ = roster.nextStatusEpoch(after: checked.epoch, by: computer.device)
    }

    private static func exercise(_ command: RemoteCommand) {
        for clock in clocks { _ = RemoteService.lateness(command, at: clock) }
        let asked: GrantRequest? =
            switch command.action {
            case .unlockAll(let grant), .unlockApp(_, let grant), .approve(_, let grant): grant
            default: nil
            }
        guard let seconds = asked?.seconds else { return }
        let isAllowed = (try? GrantScope.duration(.seconds(seconds)).validate()) != nil
        precondition(isAllowed == (30...3_600 ~= seconds), "an unlock time that is not allowed")
    }

    private static func exercise(_ status: ComputerStatus) {
        for own in clocks {
            var clock = ComputerClock()
            clock.received(status.clock, at: own)
            clock.received(status.clock, at: own / 2)
            for now in clocks { _ = clock.now(now) }
            clock.correct(own, at: status.clock)
            for now in clocks { _ = clock.now(now) }
        }
    }

    private static func exercise(_ report: HouseholdReport) {
        for newest in clocks {
            let common = HubHistory.common(
                known: report.generations, newest: newest, served: report.generations, sequence: report.sequence)
            precondition(common <= max(newest, report.sequence), "a common history beyond the newest record")
        }
    }
}
