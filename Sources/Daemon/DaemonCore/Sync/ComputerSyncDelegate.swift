import ControlAPI
import Household
import HubAPI
import SealedFormats
import Sync

/// A computer as the sync engine sees it.
struct ComputerSyncDelegate: SyncDelegate {
    let household: HouseholdService
    let log: ActivityLog
    /// Receives whether the hub is connected.
    let authorizer: LaunchAuthorizer
    let events: DaemonEvents
    let commands: AsyncStream<CheckedRecord>.Continuation

    // MARK: The household

    var session: SyncSession? { get async { await household.session?.sync } }
    func requireSession() async throws -> SyncSession { try await household.requireSession().sync }
    /// The hub of `applocker up`, once there is a passcode.
    func connect() async -> Bool { await household.connectEmbedded() }
    func followRoster() async throws -> Roster { try await household.followRoster() }
    func finishRevocation() async throws { try await household.finishRevocation() }
    func answerOthers(upTo number: UInt64) async throws { try await household.answerOthers(upTo: number) }
    func deviceJoined() async { await household.deviceJoined() }
    func leaveIfRevoked() async throws -> Bool { try await household.leaveIfRevoked() }
    func departing() async -> Set<ItemID> { await household.departing() }

    // MARK: Records

    func keepsRecords() async throws -> @Sendable (_ vault: ItemID) -> Bool { try await household.keepsRecords() }

    func use(of record: CheckedRecord) -> RecordUse {
        switch record.name.collection {
        case .commands: record.name.revision == 1 ? .pass : .ignore
        // Records from other computers to companions.
        case .status, .apps, .icons, .events, .requests: .ignore
        default: .keep
        }
    }

    func ingestKeys(_ record: CheckedRecord) async throws { try await household.ingestKeys(record) }
    func received(_ records: [CheckedRecord]) { for command in records { commands.yield(command) } }
    func vaultRecordsReceived() { events.send(.vaultRecordsReceived) }
    /// Only members of a shared vault receive notices.
    func sent(_ record: HubRecord) async {}

    func resealed(_ record: StoredRecord, revision: UInt64) async throws -> StoredRecord {
        // Under newer keys the secrets that a revoked phone has read would look new.
        guard record.name.collection != .vaults else {
            throw ControlError(.hub, "Only a phone can replace how phones enter a shared vault.")
        }
        guard let resealed = try await household.vault.openKeys()?.resealed(record, revision: revision) else {
            throw ControlError(.vaultLocked, "It is sent once the vault is open.")
        }
        return resealed
    }

    func waitsForNewestKeys() -> String {
        "It is sent once it is sealed under the newest keys, which needs the open vault."
    }

    // MARK: Reports

    func connectionChanged(isConnected: Bool) { authorizer.update { $0.isHubConnected = isConnected } }
    func caughtUp() { events.send(.hubConnected) }
    func report(_ sentence: String) async { await log.enqueue(.hubMisbehaved, sentence) }
    func reportLoss(_ sentence: String) async { await log.enqueue(.eventsLost, sentence) }
    func sentence(for error: any Error) -> String { ControlError(hub: error).message }

    func sentence(afterSendingAgain count: Int) -> String { Self.sentence(afterSendingAgain: count) }

    static func sentence(afterSendingAgain count: Int) -> String {
        count == 1
            ? "The hub's store has changed, as after a restored backup. This computer compared its records with it; "
                + "1 record was sent again."
            : "The hub's store has changed, as after a restored backup. This computer compared its records with it; "
                + "\(count) records were sent again."
    }
}
