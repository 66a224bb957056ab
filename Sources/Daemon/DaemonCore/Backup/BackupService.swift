import BlockingThread
public import ControlAPI
import Foundation
import HubAPI
import SealedFormats
import Sync

/// Sealed backups: written from the stored records without opening them, together with the keys that open them, under a
/// passphrase of their own.
public actor BackupService {
    let records: any RecordStore
    let blobs: any BlobStore
    let passcodes: PasscodeService
    let vault: VaultService
    let apps: AppService
    let device: ItemID
    let time: any TimeSource
    let log: ActivityLog
    private let contents: ContentService
    static let collections: [RecordCollection] = [.notes, .files, .intruders, .photos, .moments, .remarks, .dates]

    init(
        records: any RecordStore, blobs: any BlobStore, passcodes: PasscodeService, vault: VaultService,
        contents: ContentService, apps: AppService, device: ItemID, time: any TimeSource, log: ActivityLog
    ) {
        self.records = records
        self.blobs = blobs
        self.passcodes = passcodes
        self.vault = vault
        self.contents = contents
        self.apps = apps
        self.device = device
        self.time = time
        self.log = log
    }

    /// Writes a backup to a passing blob.
    public func export(_ request: ExportRequest, peer: ControlPeer) async throws -> ExportReply {
        let (ring, _) = try await passcodes.openRing(SecretBytes(utf8: request.passcode), user: peer.user)
        let passphrase = SecretBytes(utf8: request.passphrase ?? request.passcode)
        _ = try PasscodeService.check(passphrase)
        let cost = try await passcodes.currentCost()
        let rootKey = SecretBytes.random(count: KeySlots.keyLength)
        let slots = try await runBlocking {
            var slots = KeySlots(derivation: .scrypt(cost), usesMixedSecret: false)
            slots.set(0, to: rootKey, behind: try slots.stretch(passphrase, mixedSecret: nil))
            return slots
        }

        var stored: [StoredRecord] = []
        if !request.settingsOnly {
            for collection in Self.collections { stored += try await records.records(in: collection) }
        }
        let settings = await apps.backupSettings(privacy: vault.settings)
        let plan = BackupPlan(records: stored, settings: settings, ring: request.settingsOnly ? nil : ring)
        var missing: Set<ItemID> = []
        let blob = ItemID.random()
        do {
            var written: (size: UInt64, blobs: Int)
            while true {
                do {
                    written = try await write(plan, without: &missing, to: blob, slots: slots, rootKey: rootKey)
                    break
                } catch let error as UnreadableContent {
                    // Part of it is in the backup already, which begins again without it.
                    missing.insert(error.content)
                }
            }
            await log.append(
                .backupExported, user: peer.user,
                request.settingsOnly ? "A backup of the settings was made." : "A backup of everything was made.")
            return ExportReply(
                blob: blob.description, size: written.size, apps: settings.apps.count, records: stored.count,
                blobs: written.blobs, incomplete: plan.incomplete(without: missing, device: device))
        } catch {
            try? await blobs.remove(blob)
            throw error
        }
    }

    /// - Parameter missing: content that is left out; what is not on this computer is added.
    /// - Throws: `UnreadableContent`.
    private func write(
        _ plan: BackupPlan, without missing: inout Set<ItemID>, to blob: ItemID, slots: KeySlots, rootKey: SecretBytes
    ) async throws -> (size: UInt64, blobs: Int) {
        var contents: [(id: ItemID, size: UInt64)] = []
        for content in plan.contents where !missing.contains(content) {
            // Content from another device may not have been read here yet. What can't be fetched stays missing.
            try? await self.contents.fetchWhereMissing(content)
            if let size = try? await blobs.size(content) {
                contents.append((content, size))
            } else {
                missing.insert(content)
            }
        }
        var writer = try await BackupWriter(to: blob, in: blobs, slots: slots, rootKey: rootKey)
        let manifest = BackupManifest(
            created: Date(timeIntervalSince1970: time.wallClock()).ISO8601Format(),
            contents: plan.ring == nil ? "settings" : "everything", records: plan.records.count, blobs: contents.count)
        try await writer.add(.manifest, Self.json(manifest))
        try await writer.add(.settings, Self.json(plan.settings))
        if let ring = plan.ring { try await writer.add(.keyRing, ring.plaintext.withUnsafeBytes { Array($0) }) }
        for record in plan.records { try await writer.add(.record, Self.json(BackupRecord(record))) }
        for content in contents {
            try await writer.begin(.blob, length: UInt64(ItemID.length) + content.size)
            try await writer.append(content.id.bytes)
            for offset in stride(from: 0, to: content.size, by: 1 << 20) {
                let length = Int(min(1 << 20, content.size - offset))
                guard let piece = try? await blobs.read(content.id, offset: offset, length: length),
                    piece.count == length
                else { throw UnreadableContent(content: content.id) }
                try await writer.append(piece)
            }
        }
        try await writer.finish()
        return (writer.size, contents.count)
    }

    static func json(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try [UInt8](encoder.encode(value))
    }
}

extension BackupRecord {
    init(_ record: StoredRecord) {
        self.init(
            collection: record.name.collection.rawValue, id: record.name.id.description,
            vault: record.name.vault.description, revision: record.name.revision, epoch: record.epoch,
            author: record.author.description, deleted: record.sealed == nil, sealed: record.sealed.map { Data($0) },
            blobs: record.blobs.map(\.description))
    }

    /// - Throws: `ControlError` with `notReadable`.
    func record() throws -> StoredRecord {
        guard let collection = RecordCollection(rawValue: collection), let id = ItemID(id), let vault = ItemID(vault),
            let author = ItemID(author), 1...HubRecord.maximumNumber ~= revision, deleted == (sealed == nil),
            blobs?.count ?? 0 <= HubRecord.maximumBlobs
        else {
            throw ControlError(.notReadable, "The backup contains a record without a valid name; nothing was changed.")
        }
        return StoredRecord(
            name: RecordName(vault: vault, collection: collection, id: id, revision: revision), epoch: epoch,
            author: author, sealed: sealed.map { [UInt8]($0) },
            blobs: blobs?.compactMap { ItemID($0) } ?? ([.files, .intruders].contains(collection) ? [id] : []))
    }
}
