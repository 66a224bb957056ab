import ControlAPI
import Foundation
import SealedFormats
import Sync

/// The vault and the services that use its keys.
public struct SealedServices: Sendable {
    public let vault: VaultService
    public let notes: NoteService
    public let files: FileService
    /// Of this computer's own vault.
    public let own: MomentVault
    public let shared: SharedVaultService
    public let intruders: IntruderService
    public let backups: BackupService
    /// Erases every key on disk, then everything else.
    let erase: @Sendable () async throws -> Void
    let verifyLog: @Sendable (AuditChain.Head?) async throws -> LogVerification
    /// Ends AppLocker soon after, once the log has it.
    let stop: @Sendable (_ user: UInt32) async -> Void
}

// Requests that need the vault, or belong to it.
extension ControlRequestHandler {
    func addVaultRequests(to table: inout RequestTable) {
        let (vault, notes, files) = (sealed.vault, sealed.notes, sealed.files)
        let (intruders, backups) = (sealed.intruders, sealed.backups)
        table.answer(\.vault) { _ in try await vault.status() }
        table.answer(\.openVault, openVault)
        table.answer(\.closeVault, closeVault)
        table.answer(\.seal) { request in
            let keys = try await vault.keys(for: request.peer)
            let body = try request.body
            let record = try keys.seal(body.plaintext, .lockedFiles, ItemID(requested: body.id), revision: 1)
            return SealReply(vault: keys.vault.description, envelope: Data(record.sealed ?? []))
        }
        table.answer(\.open) { request in
            let keys = try await vault.keys(for: request.peer)
            let body = try request.body
            let name = try LockedFileHeader.name(vault: ItemID(requested: body.vault), id: ItemID(requested: body.id))
            return OpenReply(plaintext: try keys.open(RecordEnvelope(bytes: [UInt8](body.envelope)), as: name))
        }

        table.answer(\.listNotes) { try await notes.list(search: $0.query.search, peer: $0.peer) }
        table.answer(\.addNote) { try await notes.add($0.body, peer: $0.peer) }
        table.answer(\.readNote) { try await notes.read($0.name, peer: $0.peer) }
        table.answer(\.changeNote) { try await notes.change($0.name, $0.body, peer: $0.peer) }
        table.perform(\.removeNote) { try await notes.remove($0.name, version: $0.query.version, peer: $0.peer) }

        table.answer(\.listFiles) { try await files.list(peer: $0.peer) }
        table.answer(\.addFile) { try await files.add($0.body, peer: $0.peer) }
        table.answer(\.readFile) { try await files.read($0.name, peer: $0.peer) }
        table.perform(\.removeFile) { try await files.remove($0.name, peer: $0.peer) }
        table.answer(\.listIntruders) { try await intruders.list(peer: $0.peer) }
        table.answer(\.readIntruder) { try await intruders.read($0.name, peer: $0.peer) }
        table.perform(\.removeIntruder) { try await intruders.remove($0.name, peer: $0.peer) }

        table.answer(\.exportBackup) { try await backups.export($0.body, peer: $0.peer) }
        table.answer(\.importBackup) { request in
            let body = try request.body
            let report = try await backups.import(body, peer: request.peer)
            if !body.isTrial { await devices.conflicts.ringChanged() }
            return report
        }
    }

    private func openVault(_ request: TypedRequest<PasscodeRequest>) async throws -> VaultStatus {
        let status = try await sealed.vault.open(SecretBytes(utf8: request.body.passcode), for: request.peer)
        // A user who opens the vault usually lists notes next. They are opened without delaying this reply.
        Task {
            await devices.conflicts.vaultOpened(peer: request.peer)
            await purge()
            await sealed.shared.vaultOpened()
            await sealed.notes.prepare(peer: request.peer)
        }
        return status
    }

    /// Removes moments and intruder photos that are too old.
    func purge() async {
        guard let keys = await sealed.vault.openKeys() else { return }
        // Another device may have restored a moment meanwhile: then its photos have to stay too.
        if await devices.sync.isCurrent() { await sealed.own.moments.purge(keys) }
        await sealed.intruders.purge(keys)
    }

    private func closeVault(_ request: TypedRequest<NoInput>) async throws -> VaultStatus {
        let mayReachOthers = request.token != nil
        if mayReachOthers { try await sessions.require(request.token, of: request.peer) }
        guard
            await sealed.vault.lock(
                by: request.user, mayReachOthers: mayReachOthers, "The vault was locked: a user locked it.")
        else {
            throw ControlError(
                .sessionNeeded, "The vault is open for another user; locking it needs the owner's passcode.")
        }
        return try await sealed.vault.status()
    }
}

extension ControlError {
    /// Converts an error of a lower layer; nil for an unexpected one.
    init?(lower error: any Error) {
        switch error {
        case let error as SealedFormatsError:
            self.init(error.code == .tooLarge ? .tooLarge : .notReadable, error.sentence)
        case let error as BlobError:
            let code: Code =
                switch error.code {
                case .noSuchBlob: .noSuchItem
                case .wrongOffset: .badRequest
                case .diskFull, .failed: .failed
                }
            self.init(code, error.sentence)
        case let error as IncompleteContent:
            self.init(.noSuchItem, error.description)
        case is RevisionConflict:
            self.init(.busy, "The item was changed at the same time. Try again.")
        default: return nil
        }
    }
}
