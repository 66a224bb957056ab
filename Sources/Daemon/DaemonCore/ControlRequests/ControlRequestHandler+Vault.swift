public import ControlAPI
import Foundation
import SealedFormats

/// The vault and the services that use its keys.
public struct SealedServices: Sendable {
    public let vault: VaultService
    public let notes: NoteService
    public let files: FileService
    public let moments: MomentService
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
    public func admit(_ route: ControlRoute, from peer: ControlPeer) async throws {
        _ = try await sealed.vault.keys(for: peer)
    }

    /// The reply of a route that returns bytes.
    func blobReply(to request: ControlRequest) async throws -> [UInt8] {
        try await sealed.files.readBlob(
            request.parameter ?? "", offset: UInt64(number("offset", in: request, default: 0, range: 0...Int.max)),
            length: number(
                "length", in: request, default: ControlRoute.maximumBlobPiece, range: 1...ControlRoute.maximumBlobPiece),
            peer: request.peer)
    }

    func sealedReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        switch request.route {
        case .vault: return try await sealed.vault.status()
        case .openVault:
            let body: PasscodeRequest = try decode(request)
            let status = try await sealed.vault.open(SecretBytes(utf8: body.passcode), for: request.peer)
            // A user who opens the vault usually lists notes next. They are opened without delaying this reply.
            Task {
                [notes = sealed.notes, moments = sealed.moments, vault = sealed.vault, conflicts = devices.conflicts] in
                await conflicts.vaultOpened(peer: request.peer)
                if let keys = await vault.openKeys() { await moments.purge(keys) }
                await notes.prepare(peer: request.peer)
            }
            return status
        case .closeVault:
            if request.token != nil { try await sessions.require(request.token, of: request.peer) }
            guard
                await sealed.vault.lock(
                    by: request.peer.user, mayReachOthers: request.token != nil, "it was locked by a user")
            else {
                throw ControlError(
                    .sessionNeeded, "The vault is open for another user; locking it needs the owner's passcode.")
            }
            return try await sealed.vault.status()
        case .seal, .open: return try await envelopeReply(to: request)
        case .listNotes, .addNote, .readNote, .changeNote, .removeNote: return try await noteReply(to: request)
        case .listFiles, .addFile, .readFile, .removeFile, .putBlob, .removeBlob:
            return try await fileReply(to: request)
        case .listMoments, .addMoment, .readMoment, .changeMoment, .removeMoment, .knownPhotos, .readPhoto:
            return try await momentReply(to: request)
        case .listIntruders: return try await sealed.intruders.list(peer: request.peer)
        case .readIntruder: return try await sealed.intruders.read(request.parameter ?? "", peer: request.peer)
        case .removeIntruder:
            try await sealed.intruders.remove(request.parameter ?? "", peer: request.peer)
            return DoneReport()
        case .exportBackup: return try await sealed.backups.export(try decode(request), peer: request.peer)
        case .importBackup:
            let body: ImportRequest = try decode(request)
            let report = try await sealed.backups.import(body, peer: request.peer)
            if !body.isTrial { await devices.conflicts.ringChanged() }
            return report
        case .makeRecovery, .testRecovery, .useRecovery: return try await recoveryReply(to: request)
        default: return try await verifyLogReply(to: request)
        }
    }

    private func envelopeReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        let keys = try await sealed.vault.keys(for: request.peer)
        if request.route == .seal {
            let body: SealRequest = try decode(request)
            guard let id = ItemID(body.id) else { throw Self.noID }
            let record = try keys.seal(body.plaintext, .lockedFiles, id, revision: 1)
            return SealReply(vault: keys.vault.description, envelope: Data(record.sealed ?? []))
        }
        let body: OpenRequest = try decode(request)
        guard let id = ItemID(body.id), let vault = ItemID(body.vault) else { throw Self.noID }
        return OpenReply(
            plaintext: try keys.open(
                RecordEnvelope(bytes: [UInt8](body.envelope)), as: LockedFileHeader.name(vault: vault, id: id)))
    }

    private func noteReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        let (note, peer) = (request.parameter ?? "", request.peer)
        switch request.route {
        case .listNotes: return try await sealed.notes.list(search: request.query["search"], peer: peer)
        case .addNote: return try await sealed.notes.add(try decode(request), peer: peer)
        case .readNote: return try await sealed.notes.read(note, peer: peer)
        case .changeNote: return try await sealed.notes.change(note, try decode(request), peer: peer)
        default:
            try await sealed.notes.remove(note, version: request.query["version"], peer: peer)
            return DoneReport()
        }
    }

    private func fileReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        let (name, peer) = (request.parameter ?? "", request.peer)
        switch request.route {
        case .listFiles: return try await sealed.files.list(peer: peer)
        case .addFile: return try await sealed.files.add(try decode(request), peer: peer)
        case .readFile: return try await sealed.files.read(name, peer: peer)
        case .removeFile: try await sealed.files.remove(name, peer: peer)
        case .putBlob:
            try await sealed.files.putBlob(
                name, offset: UInt64(number("offset", in: request, default: 0, range: 0...Int.max)),
                bytes: request.body,
                peer: peer)
        default: try await sealed.files.removeBlob(name, peer: peer)
        }
        return DoneReport()
    }

    private func momentReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        let (name, peer, moments) = (request.parameter ?? "", request.peer, sealed.moments)
        switch request.route {
        case .listMoments: return try await moments.list(MomentFilter(query: request.query), peer: peer)
        case .addMoment: return try await moments.add(try decode(request), peer: peer)
        case .readMoment: return try await moments.read(name, peer: peer)
        case .changeMoment: return try await moments.change(name, try decode(request), peer: peer)
        case .removeMoment: return try await moments.remove(name, peer: peer)
        case .knownPhotos: return try await moments.known(try decode(request), peer: peer)
        default: return try await moments.photo(name, peer: peer)
        }
    }

    private func recoveryReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        let user = request.peer.user
        if request.route == .makeRecovery {
            let body: PasscodeRequest = try decode(request)
            let code = try await passcodes.makeRecoveryCode(SecretBytes(utf8: body.passcode), user: user)
            return RecoveryReply(code: code.printed.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
        let body: RecoveryRequest = try decode(request)
        let code: RecoveryCode
        do {
            code = try RecoveryCode(text: SecretBytes(utf8: body.code))
        } catch {
            // A typing mistake can't open the vault, so it is not counted.
            throw ControlError(.badRequest, error.sentence)
        }
        guard request.route == .useRecovery else {
            try await passcodes.testRecoveryCode(code, user: user)
            return DoneReport(notes: ["The recovery code is valid: it opens the vault."])
        }
        guard let newPasscode = body.newPasscode else {
            throw ControlError(.badRequest, "The field \"newPasscode\" is missing.")
        }
        let notes = try await passcodes.useRecoveryCode(code, newPasscode: SecretBytes(utf8: newPasscode), user: user)
        await sessions.endAll()
        await sealed.vault.lock(user: user, "the passcode was changed")
        return DoneReport(notes: notes)
    }

    private func verifyLogReply(to request: ControlRequest) async throws -> LogVerification {
        guard try await reachesEverybody(request) else {
            throw ControlError(.sessionNeeded, "Verifying the log needs the owner's passcode.")
        }
        let known = try request.query["head"].map { text in
            guard let head = AuditChain.Head(text) else {
                throw ControlError(.badRequest, "A head is NUMBER:HASH, as `applocker log verify` printed it.")
            }
            return head
        }
        return try await sealed.verifyLog(known)
    }

    func reset(_ request: ControlRequest) async throws -> DoneReport {
        let body: ResetRequest = try decode(request)
        guard body.confirmation == ResetRequest.confirmationText else {
            throw ControlError(
                .badRequest, "To erase everything, the confirmation has to be \"\(ResetRequest.confirmationText)\".")
        }
        try await passcodes.verify(SecretBytes(utf8: body.passcode), user: request.peer.user)
        await sealed.vault.lock(user: request.peer.user, "everything is erased")
        await sessions.endAll()
        // Before erasing, while there is a token to inform the hub with.
        let notes = await devices.household.leaveBeforeErasing()
        try await sealed.erase()
        return DoneReport(notes: ["Everything is erased. Set AppLocker up again with `applocker setup`."] + notes)
    }

    /// Ends AppLocker: locked apps are open from then on.
    func stop(_ request: ControlRequest) async throws -> DoneReport {
        let body: PasscodeRequest = try decode(request)
        try await passcodes.verify(SecretBytes(utf8: body.passcode), user: request.peer.user)
        await sealed.vault.lock(user: request.peer.user, "AppLocker is stopped")
        await sessions.endAll()
        await sealed.stop(request.peer.user)
        return DoneReport(notes: ["Locked apps start without a prompt until AppLocker runs again."])
    }

    private static var noID: ControlError { ControlError(.badRequest, "An id has 32 hexadecimal digits.") }
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
        case is RevisionConflict:
            self.init(.busy, "The item was changed at the same time. Try again.")
        default: return nil
        }
    }
}
