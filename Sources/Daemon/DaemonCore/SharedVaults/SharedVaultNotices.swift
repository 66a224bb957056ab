import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

/// Pushes to the other members of a shared vault that this computer added a moment. docs/formats.md, "Notices of a shared
/// vault".
actor SharedVaultNotices {
    /// An import of hundreds of moments is not hundreds of notifications.
    private static let pause = Duration.seconds(60)
    private static let secondsOfPush = 86_400

    private let deviceName: String
    private let time: any TimeSource
    /// When a notice was last pushed, since boot.
    private var pushed: Duration?

    init(deviceName: String, time: any TimeSource) {
        self.deviceName = deviceName
        self.time = time
    }

    /// The hub has a record of this computer. Returns without waiting for the push, which is sent once: members that are
    /// not reached see the moment when they open the vault.
    func sent(_ record: HubRecord, by member: SharedVaultMember) async {
        // One that a restored hub had lost is nothing new to the members.
        guard record.collection == RecordCollection.moments.rawValue, record.replaces == 0,
            record.ancestors?.isEmpty ?? true,
            let keys = try? await member.openKeys(), let hub = await member.session?.hub
        else { return }
        let now = time.elapsed()
        guard pushed.map({ now - $0 >= Self.pause }) ?? true, isNew(record, keys),
            let notice = RecordNotice(of: record), let payload = try? JSONEncoder().encode(notice)
        else { return }
        pushed = now
        Task {
            do {
                _ = try await hub.push(
                    PushMessageRequest(payload: payload, urgency: .high, ttl: Self.secondsOfPush))
            } catch {
                // The next moment is announced instead.
                if pushed == now { pushed = nil }
            }
        }
    }

    /// Whether it is neither in the trash nor the copy of a moment that the members have.
    private func isNew(_ record: HubRecord, _ keys: VaultKeys) -> Bool {
        let name = RecordName(
            vault: record.vault.item, collection: .moments, id: record.id.item, revision: record.revision)
        let stored = StoredRecord(
            name: name, epoch: record.epoch, author: record.author.item, sealed: record.sealed.map { [UInt8]($0) })
        guard let body = try? keys.open(stored), let moment = try? MomentBody(bytes: body) else { return false }
        return moment.removed == nil && !ConflictSettling.isCopy(moment, by: deviceName)
    }
}
