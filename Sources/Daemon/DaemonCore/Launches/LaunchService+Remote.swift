import ControlAPI
import Policy

// Answers from a paired phone. The first answer counts, from a prompter or a phone.
extension LaunchService {
    /// Approves a waiting launch.
    /// - Returns: the outcome as a sentence.
    /// - Throws: `ControlError` with `noSuchPrompt`, `busy` or `failed`.
    func approve(_ prompt: String, scope: GrantScope) async throws -> String {
        let entry = try entry(prompt)
        guard !authorizer.isAsleep else {
            throw ControlError(.busy, "The computer is going to sleep; the launch was not approved.")
        }
        let (launch, user) = (entry.launch, entry.promptedUser)
        let starter = prompter(of: launch.user)
        let isLeftToUser = entry.isLeftToItsUser(with: starter?.peer)
        let sentence =
            isLeftToUser
            ? "\(entry.report.name) can be started now; without a prompter it is not started automatically."
            : "\(entry.report.name) was approved."
        let unlocks = scope != .thisLaunch || isLeftToUser
        let reason: Reason = unlocks ? .unlockedRemotely : .approvedRemotely
        if unlocks {
            let generation = lockGenerations.generation(for: user)
            _ = try await apps.unlock(
                [launch.app], scope: scope, user: user, since: generation, reason: reason)
            // Somebody else may have answered meanwhile.
            guard waiting[launch.number]?.launch == launch else { return sentence }
        } else {
            gate.order(.thaw, app: launch.app)
        }
        if let starter, let execRequest = entry.execRequest(for: starter.peer) {
            authorizer.allowRestart(of: launch.app, by: starter.peer.process, user: launch.user)
            starter.events.yield(.start(entry.report, execRequest))
        }
        await allow(launch, reason)
        if scope != .thisLaunch { await approveWaiting(of: [launch.app]) }
        return sentence
    }

    /// - Returns: the app's name.
    /// - Throws: `ControlError` with `noSuchPrompt`.
    func refuse(_ prompt: String) async throws -> String {
        let entry = try entry(prompt)
        await deny(entry.launch, .deniedRemotely, .denied)
        return entry.report.name
    }

    private func entry(_ prompt: String) throws -> Waiting {
        guard let entry = waiting.values.first(where: { $0.report.prompt == prompt }) else { throw Self.notWaiting }
        return entry
    }
}
