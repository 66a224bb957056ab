import BlockingThread
public import ControlAPI
import Foundation
import Household
import Policy
import SealedFormats
import Sync

// Importing a backup: all of it is read and authenticated before the change is written in one transaction.
extension BackupService {
    /// What a backup holds.
    struct Contents {
        var report: ImportReport
        var settings: BackupSettings
        var ring: KeyRing?
        var records: [StoredRecord] = []
        /// Content that was stored as passing blobs.
        var blobs: [ItemID] = []
    }

    public func `import`(_ request: ImportRequest, peer: ControlPeer) async throws -> ImportReport {
        guard let blob = ItemID(request.blob), let size = try await blobs.size(blob) else {
            throw ControlError(.badRequest, "The backup does not exist. Upload it as a blob first.")
        }
        let generation = await vault.generation(for: peer.user)
        let passcode = SecretBytes(utf8: request.passcode)
        let (ring, rootKey) = try await passcodes.openRing(passcode, user: peer.user)
        let passphrase = request.passphrase.map { SecretBytes(utf8: $0) } ?? passcode
        var contents = try await read(blob, size: size, passphrase: passphrase)
        do {
            return try await apply(&contents, request, ring: ring, rootKey: rootKey, peer: peer, since: generation)
        } catch {
            await discard(contents)
            throw error
        }
    }

    /// Removes the content of an import that changed nothing.
    private func discard(_ contents: Contents) async {
        for content in contents.blobs {
            // A part would be mistaken for the content of a record that is here.
            try? await blobs.removePassing(content)
            try? await records.removeUnnamed(content, from: blobs)
        }
    }

    // MARK: Reading

    private func read(_ blob: ItemID, size: UInt64, passphrase: SecretBytes) async throws -> Contents {
        let start = try await blobs.read(blob, offset: 0, length: BackupHeader.length)
        if EarlierContainer.isOne(start) || !start.starts(with: Array("APLK".utf8)) {
            return try await readEarlier(blob, size: size, passphrase: passphrase)
        }
        let slots = try BackupHeader(bytes: start).slots
        let stretched = try await runBlocking { try slots.stretch(passphrase, mixedSecret: nil) }
        guard let rootKey = slots.open(stretched)?.rootKey else {
            throw ControlError(
                .notReadable, "The passphrase does not open this backup. Use the one it was made with.")
        }
        var reader = try await BackupReader(blob, in: blobs, size: size, rootKey: rootKey)
        let first = try await reader.entry()
        guard first.kind == .manifest else { throw BackupReader.tooShort }
        let manifest = try Self.decode(BackupManifest.self, from: await reader.read(Int(first.length)))
        guard manifest.version == 2 else {
            throw ControlError(
                .notReadable, "The backup's content has version \(manifest.version); install a newer AppLocker.")
        }
        var contents = Contents(
            report: ImportReport(version: 2, created: manifest.created),
            settings: BackupSettings(apps: [], categories: []))
        do {
            try await readEntries(&reader, into: &contents)
            guard contents.records.count == manifest.records else { throw BackupReader.tooShort }
        } catch {
            await discard(contents)
            throw error
        }
        return contents
    }

    private func readEntries(_ reader: inout BackupReader, into contents: inout Contents) async throws {
        var present = Set(try await blobs.kept())
        while true {
            let entry = try await reader.entry()
            switch entry.kind {
            case .manifest: throw BackupReader.tooShort
            case .settings:
                contents.settings = try Self.decode(
                    BackupSettings.self, from: await reader.read(Int(entry.length)))
            case .keyRing:
                var bytes = try await reader.read(Int(entry.length))
                let plaintext = bytes.withUnsafeMutableBytes { SecretBytes(wiping: $0) }
                let ring = try KeyRing(plaintext: plaintext)
                // Each revocation needs a higher epoch, so the highest ones are refused.
                guard ring.entries.allSatisfy({ $0.epoch <= HouseholdSecrets.largestFirstEpoch }) else {
                    throw ControlError(
                        .notReadable, "The backup contains an invalid key; nothing was changed.")
                }
                contents.ring = ring
            case .record:
                contents.records.append(
                    try Self.decode(BackupRecord.self, from: await reader.read(Int(entry.length))).record())
            case .blob: try await stage(entry, from: &reader, into: &contents, &present)
            case .end:
                guard entry.length == 0 else { throw BackupReader.tooShort }
                return try reader.end()
            }
        }
    }

    /// Content that is there already, or twice in the backup, stays as it is: the content of an id never changes.
    ///
    /// - Parameter present: what need not be stored, the kept content at first.
    private func stage(
        _ entry: BackupEntry, from reader: inout BackupReader, into contents: inout Contents,
        _ present: inout Set<ItemID>
    ) async throws {
        guard entry.length >= UInt64(ItemID.length), let id = ItemID(bytes: try await reader.read(ItemID.length)) else {
            throw BackupReader.tooShort
        }
        let isNew = present.insert(id).inserted
        if isNew { contents.blobs.append(id) }
        let size = entry.length - UInt64(ItemID.length)
        for offset in stride(from: 0, to: size, by: 1 << 20) {
            let piece = try await reader.read(Int(min(1 << 20, size - offset)))
            if isNew { try await blobs.put(id, offset: offset, bytes: [UInt8](piece)) }
        }
    }

    private func readEarlier(_ blob: ItemID, size: UInt64, passphrase: SecretBytes) async throws -> Contents {
        guard size <= EarlierContainer.maximumBackupLength else {
            throw ControlError(.notReadable, "This is not a backup of AppLocker, and it is too large.")
        }
        let bytes = try await blobs.read(blob, offset: 0, length: Int(size))
        let isSealed = EarlierContainer.isOne(bytes)
        let json =
            isSealed
            ? try EarlierContainer.open(bytes, passcode: passphrase, purpose: .backup) : Data(bytes)
        guard let earlier = try? JSONDecoder().decode(EarlierBackup.self, from: json) else {
            throw ControlError(
                .notReadable, "This is not a backup of AppLocker: neither a sealed one nor the earlier system's JSON.")
        }
        var contents = Contents(
            report: ImportReport(version: isSealed ? 1 : 0, created: earlier.exportDate?.text ?? "unknown"),
            settings: try earlier.converted())
        if earlier.lockedApps.contains(where: { $0.schedule != nil }) {
            contents.report.notes.append("Schedules of the earlier system are imported as locked inside their times.")
        }
        return contents
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, from json: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: json)
        } catch {
            throw ControlError(.notReadable, "The backup contains unknown data (\(error)); install a newer AppLocker.")
        }
    }

    /// Opens the vault with the imported keys, unless keys that replace them wait for the passcode.
    private func open(_ ring: KeyRing, user: UInt32, since generation: LockGeneration) async {
        try? await passcodes.whileRingIsStill { [passcodes, vault] in
            guard try await passcodes.pendingKeys().boxes.isEmpty else { return }
            try await vault.use(ring, user: user, since: generation)
        }
    }

    // MARK: Applying

    private func apply(
        _ contents: inout Contents, _ request: ImportRequest, ring: KeyRing, rootKey: SecretBytes, peer: ControlPeer,
        since generation: LockGeneration
    ) async throws -> ImportReport {
        var merged = ring
        if let added = contents.ring { try merged.addMissing(of: added) }
        var document = try await passcodes.requireVaultDocument()
        let keys = VaultKeys(vault: document.vault, ring: merged, device: device)
        var report = contents.report
        var change = try await RecordMerge(records: records, keys: keys, mode: request.mode)
            .change(to: contents.records, holdsRecords: contents.ring != nil, report: &report)
        // Keys may have been replaced while the backup was read, and until the change is written.
        let stored = try await passcodes.storedRingWithPending(rootKey: rootKey)
        try merged.addMissing(of: stored.ring)
        change.unchanged = stored.unchanged
        if contents.ring != nil {
            change.documents[VaultDocuments.ring] = merged.sealed(under: rootKey)
            // Records of the added vaults are read from the hub at once, and a revocation replaces their keys.
            change.unchanged[VaultDocuments.vault] = try await records.document(VaultDocuments.vault)
            document = try await passcodes.requireVaultDocument()
            document.epochs = (document.epochs ?? [:]).merging(merged.vaultEpochs, uniquingKeysWith: max)
            change.documents[VaultDocuments.vault] = try Self.json(document)
        }
        // The records are sealed under the earlier keys.
        if stored.ring.vaultEpochs != ring.vaultEpochs { change.documents[HouseholdDocuments.reseal] = [1] }
        if request.mode == .replace, let privacy = contents.settings.privacy {
            change.documents[PrivacySettings.documentName] = try Self.json(privacy)
        }
        var trial = report
        let removed = try await apps.importSettings(
            contents.settings, request.mode, user: peer.user, with: nil, report: &trial)
        if request.isTrial {
            await discard(contents)
            return trial
        }
        // Content is kept before a record names it. Without a record it is swept at the next start.
        for content in contents.blobs { try await blobs.keep(content) }
        let forgotten: [AppID]
        do {
            let (settings, before) = (contents.settings, report)
            (report, forgotten) = try await passcodes.forget(removed, with: change) { [apps] change in
                var report = before
                let removed = try await apps.importSettings(
                    settings, request.mode, user: peer.user, with: change, report: &report)
                return (report, removed)
            }
        } catch is DocumentChanged {
            throw ControlError(
                .busy, "The vault's keys were replaced while the backup was imported; nothing changed. Import it again."
            )
        }
        // Of apps that were added meanwhile: a passcode that stayed would open its app if it is added again.
        for app in forgotten where !removed.contains(app) { try await passcodes.forget(app) }
        contents.blobs = []
        try await vault.load()
        // What was locked meanwhile stays locked; the import itself is done.
        await open(merged, user: peer.user, since: generation)
        for removed in change.records where removed.sealed == nil {
            for content in removed.blobs { try? await records.removeUnnamed(content, from: blobs) }
        }
        await log.append(
            .backupImported, user: peer.user,
            "A backup of \(report.created) was imported (\(request.mode.rawValue)): \(report.recordsAdded) records, "
                + "\(report.appsAdded.count) apps.")
        return report
    }
}
