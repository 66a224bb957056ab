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
    private let files: FileService
    static let collections: [RecordCollection] = [.notes, .files, .intruders, .photos, .moments, .remarks, .dates]

    init(
        records: any RecordStore, blobs: any BlobStore, passcodes: PasscodeService, vault: VaultService,
        files: FileService, apps: AppService, device: ItemID, time: any TimeSource, log: ActivityLog
    ) {
        self.records = records
        self.blobs = blobs
        self.passcodes = passcodes
        self.vault = vault
        self.files = files
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
        // Two records may name the same content.
        var seen: Set<ItemID> = []
        let contents = stored.flatMap(\.blobs).filter { seen.insert($0).inserted }
        let settings = await apps.backupSettings(privacy: vault.settings)
        let blob = ItemID.random()
        do {
            var writer = try await BackupWriter(to: blob, in: blobs, slots: slots, rootKey: rootKey)
            try await writer.add(
                .manifest,
                Self.json(
                    BackupManifest(
                        created: Date(timeIntervalSince1970: time.wallClock()).ISO8601Format(),
                        contents: request.settingsOnly ? "settings" : "everything", records: stored.count,
                        blobs: contents.count)))
            try await writer.add(.settings, Self.json(settings))
            if !request.settingsOnly { try await writer.add(.keyRing, ring.plaintext.withUnsafeBytes { Array($0) }) }
            for record in stored { try await writer.add(.record, Self.json(BackupRecord(record))) }
            for content in contents { try await add(content, to: &writer) }
            try await writer.finish()
            await log.append(
                .backupExported, user: peer.user,
                request.settingsOnly ? "A backup of the settings was made." : "A backup of everything was made.")
            return ExportReply(
                blob: blob.description, size: writer.size, apps: settings.apps.count, records: stored.count,
                blobs: contents.count)
        } catch {
            try? await blobs.remove(blob)
            throw error
        }
    }

    private func add(_ content: ItemID, to writer: inout BackupWriter) async throws {
        // Content from another device may not have been read here yet.
        try? await files.fetchWhereMissing(content)
        guard let size = try await blobs.size(content) else {
            throw ControlError(
                .failed,
                "The content of a file or photo is not on this computer; connect its hub (`applocker hub`), or remove "
                    + "that item, and make the backup again.")
        }
        try await writer.begin(.blob, length: UInt64(ItemID.length) + size)
        try await writer.append(content.bytes)
        for offset in stride(from: 0, to: size, by: 1 << 20) {
            let piece = try await blobs.read(content, offset: offset, length: Int(min(1 << 20, size - offset)))
            try await writer.append(piece)
        }
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
