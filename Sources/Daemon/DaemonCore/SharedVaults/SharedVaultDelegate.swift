import ControlAPI
import Household
import HubAPI
import SealedFormats
import Sync

/// A member of a shared vault as the sync engine sees it.
struct SharedVaultDelegate: SyncDelegate {
    let member: SharedVaultMember
    let notices: SharedVaultNotices
    let log: ActivityLog

    // MARK: The household

    var session: SyncSession? { get async { await member.session } }
    func requireSession() async throws -> SyncSession { try await member.requireSession() }
    func connect() async -> Bool { false }
    func followRoster() async throws -> Roster { try await member.followRoster() }
    func finishRevocation() async throws {}
    /// Other members replace the keys.
    func answerOthers(upTo number: UInt64) async throws {}
    /// Only phones invite.
    func deviceJoined() async {}
    func leaveIfRevoked() async throws -> Bool { await member.leaveIfRevoked() }
    func departing() async -> Set<ItemID> { [] }

    // MARK: Records

    func keepsRecords() async throws -> @Sendable (_ vault: ItemID) -> Bool {
        { [vault = member.vault] in $0 == vault }
    }
    func use(of record: CheckedRecord) -> RecordUse { record.name.collection == .devices ? .keep : .ignore }
    func ingestKeys(_ record: CheckedRecord) async throws { try await member.ingestKeys(record) }
    func received(_ records: [CheckedRecord]) {}
    func vaultRecordsReceived() { member.work.raise() }
    func sent(_ record: HubRecord) async { await notices.sent(record, by: member) }

    func resealed(_ record: StoredRecord, revision: UInt64) async throws -> StoredRecord {
        guard let resealed = try await member.openKeys().resealed(record, revision: revision) else {
            throw ControlError(.notReadable, "It does not open with the vault's keys.")
        }
        return resealed
    }

    func waitsForNewestKeys() -> String {
        // They may have arrived while it was written.
        member.work.raise()
        return "It is sent once the phone of a member has made the vault's new keys."
    }

    // MARK: Reports

    func connectionChanged(isConnected: Bool) {}
    func caughtUp() { member.work.raise() }
    func report(_ sentence: String) async { await log.enqueue(.hubMisbehaved, sentence) }
    func reportLoss(_ sentence: String) async { await log.enqueue(.eventsLost, sentence) }
    func sentence(for error: any Error) -> String { ControlError(hub: error).message }
    func sentence(afterSendingAgain count: Int) -> String {
        ComputerSyncDelegate.sentence(afterSendingAgain: count)
    }
}
