import Policy
import WireProtocol

// Answers from a paired phone. Whoever answers first wins, the prompter or the phone.
extension LaunchService {
    /// Lets a waiting launch in.
    /// - Returns: the app's name.
    /// - Throws: `ControlError` with `noSuchPrompt`, `busy` or `failed`.
    func approve(_ prompt: String, scope: GrantScope) async throws -> String {
        let entry = try entry(prompt)
        guard !judge.isAsleep else { throw ControlError(.busy, "The computer goes to sleep; nothing was let in.") }
        let (launch, user) = (entry.launch, entry.askee)
        if scope != .thisLaunch {
            let ticket = relocks.ticket(for: user)
            _ = try await apps.unlock([launch.app], scope: scope, user: user, since: ticket)
            // Somebody else may have answered meanwhile.
            guard waiting[launch.number]?.launch == launch else { return entry.report.name }
        } else {
            gate.order(.thaw, app: launch.app)
        }
        var peer = ControlPeer(user: user, process: 0)
        // What was denied at once is started again by a prompter of its user: nobody else can.
        if launch.deniedAtOnce, let recipe = entry.recipe, let prompter = prompter(of: user) {
            peer = prompter.peer
            prompter.events.yield(.start(entry.report, recipe))
        }
        await allow(launch, by: peer, .granted)
        if scope != .thisLaunch { await letIn([launch.app], by: peer) }
        return entry.report.name
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
