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
        let starter = prompter(of: user)
        // Denied at once, and nobody there to start it again: its user may do so.
        let isLeftToUser = launch.deniedAtOnce && starter == nil
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
        var peer = ControlPeer(user: user, process: 0)
        // What was denied at once is started again by a prompter of its user: nobody else can.
        if launch.deniedAtOnce, let recipe = entry.recipe, let starter {
            peer = starter.peer
            starter.events.yield(.start(entry.report, recipe))
        }
        await allow(launch, by: peer, .granted)
        if scope != .thisLaunch { await letIn([launch.app], by: peer) }
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
