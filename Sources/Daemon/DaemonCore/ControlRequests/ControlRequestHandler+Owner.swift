import ControlAPI
import SealedFormats

// Requests with the owner's passcode or recovery code.
extension ControlRequestHandler {
    func addOwnerRequests(to table: inout RequestTable) {
        table.answer(\.setUp, setUp)
        table.answer(\.openSession) { request in
            let passcode = SecretBytes(utf8: try request.body.passcode)
            let generation = lockGenerations.generation(for: request.user)
            try await passcodes.verify(passcode, user: request.user)
            return try await sessions.open(for: request.peer, since: generation)
        }
        table.perform(\.endSession) { await sessions.end($0.token) }
        table.answer(\.changePasscode) { request in
            let body = try request.body
            let notes = try await passcodes.change(
                from: SecretBytes(utf8: body.old), to: SecretBytes(utf8: body.new), user: request.user)
            await endSessions(of: request.user, "The vault was locked: the passcode was changed.")
            return DoneReport(notes: notes)
        }
        table.answer(\.makeRecovery) { request in
            let passcode = SecretBytes(utf8: try request.body.passcode)
            let code = try await passcodes.makeRecoveryCode(passcode, user: request.user)
            return RecoveryReply(code: code.printed.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
        table.answer(\.testRecovery) { request in
            try await passcodes.testRecoveryCode(Self.code(in: request.body), user: request.user)
            return DoneReport(notes: ["The recovery code is valid: it opens the vault."])
        }
        table.answer(\.useRecovery, useRecovery)
        table.answer(\.reset, reset)
        // From then on locked apps are open.
        table.answer(\.stop) { request in
            try await passcodes.verify(SecretBytes(utf8: request.body.passcode), user: request.user)
            await endSessions(of: request.user, "The vault was locked: AppLocker is stopped.")
            await sealed.stop(request.user)
            return DoneReport(notes: ["Locked apps start without a prompt until AppLocker runs again."])
        }
    }

    private func setUp(_ request: TypedRequest<SetUpRequest>) async throws -> DoneReport {
        let body = try request.body
        guard request.user == 0 || request.user == ownUser else {
            throw ControlError(
                .notYours, "Only the computer's owner can set AppLocker up. Run `sudo applocker setup`.")
        }
        // The user who runs `sudo applocker setup` is the owner: another user's wrong passcodes must not lock them out.
        let owners = [request.user, launches.directory.loginUser(of: request.peer.process)].compactMap { $0 }
        switch (body.passcode, body.earlierVerifier) {
        case (let passcode?, nil):
            return DoneReport(notes: try await passcodes.setUp(SecretBytes(utf8: passcode), owners: owners))
        case (nil, let earlier?):
            try await passcodes.setUp(try PasscodeVerifier(earlier), owners: owners)
            return DoneReport()
        default:
            throw ControlError(.badRequest, "Setting up needs either a passcode or an earlier verifier.")
        }
    }

    private func useRecovery(_ request: TypedRequest<RecoveryRequest>) async throws -> DoneReport {
        let body = try request.body
        let code = try Self.code(in: body)
        guard let newPasscode = body.newPasscode else {
            throw ControlError(.badRequest, "The field \"newPasscode\" is missing.")
        }
        let notes = try await passcodes.useRecoveryCode(
            code, newPasscode: SecretBytes(utf8: newPasscode), user: request.user)
        await endSessions(of: request.user, "The vault was locked: the passcode was changed.")
        return DoneReport(notes: notes)
    }

    private static func code(in body: RecoveryRequest) throws -> RecoveryCode {
        do {
            return try RecoveryCode(text: SecretBytes(utf8: body.code))
        } catch {
            // A typing mistake can't open the vault, so it is not counted.
            throw ControlError(.badRequest, error.sentence)
        }
    }

    private func reset(_ request: TypedRequest<ResetRequest>) async throws -> DoneReport {
        let body = try request.body
        guard body.confirmation == ResetRequest.confirmationText else {
            throw ControlError(
                .badRequest, "To erase everything, the confirmation has to be \"\(ResetRequest.confirmationText)\".")
        }
        try await passcodes.verify(SecretBytes(utf8: body.passcode), user: request.user)
        await endSessions(of: request.user, "The vault was locked: everything is erased.")
        // Before erasing, while there is a token to inform the hub with.
        let notes = await devices.household.leaveBeforeErasing() + [sealed.shared.noteBeforeErasing].compactMap { $0 }
        try await sealed.erase()
        return DoneReport(notes: ["Everything is erased. Set AppLocker up again with `applocker setup`."] + notes)
    }

    /// Ends everybody's management sessions and locks the vault.
    private func endSessions(of user: UInt32, _ sentence: String) async {
        await sessions.endAll()
        await sealed.vault.lock(user: user, sentence)
    }
}
