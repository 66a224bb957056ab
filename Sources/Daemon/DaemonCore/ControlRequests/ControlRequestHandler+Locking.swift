import ControlAPI
import Policy
import SealedFormats

// Requests that lock and unlock, and those of prompters and desktop agents.
extension ControlRequestHandler {
    func addLockRequests(to table: inout RequestTable) {
        table.answer(\.lock, lock)
        table.answer(\.unlock, unlock)
        table.perform(\.registerDesktop) { await launches.registerDesktop(try $0.body.processes, of: $0.peer) }
        table.answer(\.answerPrompt) { request in
            let body = try request.body
            return try await launches.answer(
                request.name, with: SecretBytes(utf8: body.passcode), scope: try await apps.scope(body.grant),
                by: request.peer)
        }
        table.answer(\.waitingPrompts) { PromptList(prompts: await launches.waitingPrompts(of: $0.peer)) }
        table.perform(\.cancelPrompt) { try await launches.cancel($0.name, by: $0.peer) }
        table.perform(\.reportIdle) { try await presence.report($0.body, by: $0.peer) }
    }

    private func lock(_ request: TypedRequest<LockRequest>) async throws -> AppsChanged {
        let body = try request.body
        guard body.all || !body.apps.isEmpty else {
            throw ControlError(.badRequest, "Name the apps to lock, or set `all`.")
        }
        let mayAdd = request.token != nil
        if mayAdd { try await sessions.require(request.token, of: request.peer) }
        if body.all {
            // A passcode that is being compared unlocks nothing any more.
            lockGenerations.advance(mayAdd ? nil : request.user)
            // Otherwise the next person at the desktop could turn the protection off.
            await sessions.endAll(of: mayAdd || request.user == 0 ? nil : request.user)
            await sealed.vault.lock(
                by: request.user, mayReachOthers: mayAdd, "The vault was locked: a user locked everything.")
        }
        return try await apps.lock(body, user: request.user, mayAdd: mayAdd)
    }

    private func unlock(_ request: TypedRequest<UnlockRequest>) async throws -> AppsChanged {
        let body = try request.body
        let scope = try await apps.scope(body.grant)
        let all = body.all ? await apps.policy.apps.keys.sorted() : []
        var ids = Set(all)
        for reference in body.apps { ids.insert(try await apps.listed(reference)) }
        guard !ids.isEmpty else {
            throw ControlError(
                body.all ? .noSuchApp : .badRequest,
                body.all
                    ? "The list of locked apps is empty; nothing was unlocked."
                    : "Name the apps to unlock, or set `all`.")
        }
        var added: Duration?
        if body.extends {
            guard case .duration(let duration) = scope else {
                throw ControlError(.badRequest, "Only a grant of the kind `duration` can be added to another.")
            }
            try await apps.requireExtendable(ids)
            added = duration
        }
        let generation = lockGenerations.generation(for: request.user)
        // An app's own passcode opens that app and nothing else.
        let only = ids.count == 1 ? ids.first : nil
        try await passcodes.verify(SecretBytes(utf8: body.passcode), app: only, user: request.user)
        if let added {
            return try await apps.extend(ids, by: added, user: request.user, since: generation)
        }
        let changed = try await apps.unlock(ids, scope: scope, user: request.user, since: generation)
        if scope != .thisLaunch { await launches.approveWaiting(of: ids) }
        return changed
    }
}
