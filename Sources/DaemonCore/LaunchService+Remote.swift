import Policy
import WireProtocol

// Answers from a paired phone. Whoever answers first wins, the prompter or the phone.
extension LaunchService {
    /// Lets a waiting launch in.
    /// - Returns: what came of it, as a sentence.
    /// - Throws: `ControlError` with `noSuchPrompt`, `busy` or `failed`.
    func approve(_ prompt: String, scope: GrantScope) async throws -> String {
        let entry = try entry(prompt)
        guard !judge.isAsleep else { throw ControlError(.busy, "The computer goes to sleep; nothing was let in.") }
        let (launch, user) = (entry.launch, entry.askee)
        let starter = prompter(of: launch.user)
        let isLeftToUser = entry.isLeftToItsUser(with: starter?.peer)
        let sentence =
            isLeftToUser
            ? "\(entry.report.name) may be started now; no prompter is there to start it again by itself."
            : "\(entry.report.name) was let in."
        if scope != .thisLaunch || isLeftToUser {
            let ticket = relocks.ticket(for: user)
            _ = try await apps.unlock([launch.app], scope: scope, user: user, since: ticket)
            // Somebody else may have answered meanwhile.
            guard waiting[launch.number]?.launch == launch else { return sentence }
        } else {
            gate.order(.thaw, app: launch.app)
        }
        if let starter, let recipe = entry.recipe(for: starter.peer) {
            judge.allowRestart(of: launch.app, by: starter.peer.process, user: launch.user)
            starter.events.yield(.start(entry.report, recipe))
        }
        await allow(launch, .granted)
        if scope != .thisLaunch { await letIn([launch.app]) }
        return sentence
    }

    /// - Returns: the app's name.
    /// - Throws: `ControlError` with `noSuchPrompt`.
    func refuse(_ prompt: String) async throws -> String {
        let entry = try entry(prompt)
        await deny(entry.launch.number, .cancelled, .denied)
        return entry.report.name
    }

    private func entry(_ prompt: String) throws -> Waiting {
        guard let entry = waiting.values.first(where: { $0.report.prompt == prompt }) else { throw Self.notWaiting }
        return entry
    }
}
