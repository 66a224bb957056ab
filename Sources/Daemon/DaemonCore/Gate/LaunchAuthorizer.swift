public import Policy
import Synchronization

/// What the services publish for the decision about launches. A value: each change replaces the whole, so that a
/// decision sees one state of all of it.
struct AuthorizationSnapshot: Sendable {
    var policy = LockPolicy()
    var lockouts = LockoutLadders()
    /// The users with an open prompter.
    var promptedUsers: Set<UInt32> = []
    /// The computer is about to sleep, or sleeps: no prompt is shown.
    var isAsleep = false
    /// The hub is connected, so that a phone can receive prompts and answer them.
    var isHubConnected = false
    /// The number of paired companions.
    var companions = 0

    /// Whether paired phones receive waiting launches and may answer them.
    var phoneReceivesPrompts: Bool { isHubConnected && companions > 0 }

    /// Whether a phone may answer without a connected prompter.
    var phoneCanAnswer: Bool { phoneReceivesPrompts && policy.settings.asksPhoneAlone }
}

/// What the decisions so far have used up or allowed.
private struct DecisionState {
    /// Launches that wait for an answer, by user.
    var waiting: [UInt32: Int] = [:]
    var restarts: [RestartPermit] = []
}

/// A launch that was denied at once and that its prompter may start again.
private struct RestartPermit {
    var app: AppID
    var prompter: Int32
    var user: UInt32
    var expiresAt: Duration
}

/// Decides launches on the thread that reads from the gate, without waiting for any actor, disk or other request. It
/// uses one `AuthorizationSnapshot`, which the services keep up to date.
///
/// Sendable because its state is one `Mutex`.
public final class LaunchAuthorizer: Sendable {
    /// How long a prompter has to start a launch again.
    static let restartWindow = Duration.seconds(10)

    private let state = Mutex((snapshot: AuthorizationSnapshot(), decisions: DecisionState()))
    private let time: any TimeSource

    public init(time: any TimeSource) { self.time = time }

    /// Called on the gate's reader thread. A launch that needs a prompt counts as waiting from here on.
    public func authorize(_ launch: HeldLaunch, mayUseGrantForOneLaunch: Bool = true) -> Decision {
        let now = time.now()
        return state.withLock { state in
            let snapshot = state.snapshot
            if let index = state.decisions.restarts.firstIndex(where: {
                $0.app == launch.app && $0.prompter == launch.parent && $0.user == launch.user
                    && now.elapsed < $0.expiresAt
            }) {
                state.decisions.restarts.remove(at: index)
                return Decision(verdict: .allow, reason: .passcodeEntered)
            }
            let promptedUser = Self.promptedUser(of: launch, in: snapshot)
            let facts = LaunchFacts(
                app: launch.app, uid: launch.user, isRoot: launch.user == 0, hasPrompter: promptedUser != nil,
                waitingForUser: state.decisions.waiting[launch.user, default: 0],
                lockout: snapshot.lockouts.ladder(of: promptedUser ?? launch.user),
                phoneReceivesPrompts: snapshot.phoneReceivesPrompts)
            var decision = snapshot.policy.decide(facts, at: now)
            if decision.reason == .grantedOnce, !mayUseGrantForOneLaunch {
                var policy = snapshot.policy
                _ = try? policy.lock([launch.app])
                decision = policy.decide(facts, at: now)
            }
            if decision.verdict == .ask, snapshot.isAsleep { return Decision(verdict: .deny, reason: .relocked) }
            if decision.verdict == .ask { state.decisions.waiting[launch.user, default: 0] += 1 }
            return decision
        }
    }

    /// The user whose prompter shows the prompt: the user who started the app, or who logged in and became another
    /// user. If a phone is asked instead, the user whose prompter may still connect.
    func promptedUser(of launch: HeldLaunch) -> UInt32? { Self.promptedUser(of: launch, in: snapshot) }

    private static func promptedUser(of launch: HeldLaunch, in snapshot: AuthorizationSnapshot) -> UInt32? {
        let users = [launch.user, launch.loginUser].compactMap { $0 }
        if let user = users.first(where: snapshot.promptedUsers.contains) { return user }
        return snapshot.phoneCanAnswer ? users.last : nil
    }

    /// The newest snapshot.
    var snapshot: AuthorizationSnapshot { state.withLock { $0.snapshot } }

    /// Replaces the snapshot: of changes at the same moment, each is made to the other's result.
    func update(_ change: (inout sending AuthorizationSnapshot) -> Void) { state.withLock { change(&$0.snapshot) } }

    func waitingEnded(of user: UInt32) {
        state.withLock { state in
            let remaining = state.decisions.waiting[user, default: 0] - 1
            state.decisions.waiting[user] = remaining > 0 ? remaining : nil
        }
    }

    func allowRestart(of app: AppID, by prompter: Int32, user: UInt32) {
        let now = time.now().elapsed
        state.withLock { state in
            state.decisions.restarts.removeAll { $0.expiresAt <= now }
            state.decisions.restarts.append(
                RestartPermit(app: app, prompter: prompter, user: user, expiresAt: now + Self.restartWindow))
        }
    }

    /// Revokes permits to start a launch again.
    /// - Parameter user: nil for all users.
    func endRestarts(of user: UInt32?) {
        state.withLock { state in state.decisions.restarts.removeAll { user == nil || $0.user == user } }
    }

    var isAsleep: Bool { snapshot.isAsleep }

    var phoneCanAnswer: Bool { snapshot.phoneCanAnswer }

    /// Whether a prompter or a phone may still answer for this user.
    func canAsk(_ user: UInt32) -> Bool {
        let snapshot = snapshot
        return snapshot.promptedUsers.contains(user) || snapshot.phoneCanAnswer
    }

    func hasPrompter(_ user: UInt32) -> Bool { snapshot.promptedUsers.contains(user) }
}
