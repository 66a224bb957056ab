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

    /// Whose launches of guarded apps are all denied, unless a prompter starts the app again: no prompter or phone
    /// is connected, and there is no grant for one launch.
    var unaskedUsers: UnaskedUsers {
        guard promptedUsers.isEmpty, !phoneCanAnswer, !policy.grants.values.contains(where: { $0.scope == .thisLaunch })
        else { return .none }
        return policy.settings.holdsRoot ? .all : .allButRoot
    }
}

/// The users whose launches the gate denies without asking the daemon.
public enum UnaskedUsers: Sendable { case none, allButRoot, all }

/// A launch that was denied at once and that its prompter may start again.
private struct RestartPermit {
    var app: AppID
    var prompter: Int32
    var user: UInt32
    var expiresAt: Duration
}

/// A launch that was denied after asking.
private struct RecentDenial {
    var app: AppID
    var process: Int32
    var reason: Reason
    var expiresAt: Duration
}

private struct AuthorizerState {
    var snapshot = AuthorizationSnapshot()
    /// Launches that wait for an answer, by user.
    var waiting: [UInt32: Int] = [:]
    var restarts: [RestartPermit] = []
    var denials: [RecentDenial] = []
    /// Called within the lock, so that its last call has the newest value.
    var follower: (@Sendable (UnaskedUsers) -> Void)?
    /// The value of the follower's last call.
    var followed = UnaskedUsers.none

    mutating func notifyFollower(ifChanged: Bool) {
        let users = restarts.isEmpty ? snapshot.unaskedUsers : .none
        guard !ifChanged || users != followed else { return }
        followed = users
        follower?(users)
    }

    mutating func removeExpiredRestarts(at now: Duration) { restarts.removeAll { $0.expiresAt <= now } }

    /// The user whose prompter shows the prompt: the user who started the app, or who logged in and became another
    /// user. If a phone is asked instead, the user whose prompter may still connect.
    func promptedUser(of launch: HeldLaunch) -> UInt32? {
        let users = [launch.user, launch.loginUser].compactMap { $0 }
        if let user = users.first(where: snapshot.promptedUsers.contains) { return user }
        return snapshot.phoneCanAnswer ? users.last : nil
    }

    func facts(of launch: HeldLaunch) -> LaunchFacts {
        let promptedUser = promptedUser(of: launch)
        return LaunchFacts(
            app: launch.app, uid: launch.user, isRoot: launch.user == 0, hasPrompter: promptedUser != nil,
            waitingForUser: waiting[launch.user, default: 0],
            lockout: snapshot.lockouts.ladder(of: promptedUser ?? launch.user),
            phoneReceivesPrompts: snapshot.phoneReceivesPrompts)
    }
}

/// Decides launches on the thread that reads from the gate, without waiting for any actor, disk or other request. It
/// uses one `AuthorizationSnapshot`, which the services keep up to date.
///
/// Sendable because its state is one `Mutex`.
public final class LaunchAuthorizer: Sendable {
    /// How long a prompter has to start a launch again.
    static let restartWindow = Duration.seconds(10)
    /// How long a denial holds for the same process: a shell that is refused tries the next directory of PATH at once,
    /// which is often the same file.
    static let denialWindow = Duration.seconds(5)

    private let state = Mutex(AuthorizerState())
    private let time: any TimeSource

    public init(time: any TimeSource) { self.time = time }

    /// Called on the gate's reader thread. A launch that needs a prompt counts as waiting from here on.
    public func authorize(_ launch: HeldLaunch, mayUseGrantForOneLaunch: Bool = true) -> Decision {
        let now = time.now()
        return state.withLock { state in
            let snapshot = state.snapshot
            if let index = state.restarts.firstIndex(where: {
                $0.app == launch.app && $0.prompter == launch.parent && $0.user == launch.user
                    && now.elapsed < $0.expiresAt
            }) {
                state.restarts.remove(at: index)
                state.notifyFollower(ifChanged: true)
                return Decision(verdict: .allow, reason: .restarted)
            }
            let facts = state.facts(of: launch)
            var decision = snapshot.policy.decide(facts, at: now)
            if decision.reason == .grantedOnce, !mayUseGrantForOneLaunch {
                var policy = snapshot.policy
                _ = try? policy.lock([launch.app])
                decision = policy.decide(facts, at: now)
            }
            if decision.verdict == .ask, snapshot.isAsleep { return Decision(verdict: .deny, reason: .relocked) }
            if decision.verdict == .ask,
                let denial = state.denials.last(where: {
                    $0.app == launch.app && $0.process == launch.process && now.elapsed < $0.expiresAt
                })
            {
                return Decision(verdict: .deny, reason: denial.reason)
            }
            if decision.verdict == .ask { state.waiting[launch.user, default: 0] += 1 }
            return decision
        }
    }

    /// The reason for a launch that the gate denied without asking, as a decision. What has changed since has no effect.
    public func decisionWithoutAsking(_ launch: HeldLaunch) -> Decision {
        let now = time.now()
        let decision = state.withLock { state in
            state.snapshot.policy.decide(state.facts(of: launch), at: now)
        }
        return decision.verdict == .deny ? decision : Decision(verdict: .deny, reason: .nobodyToAsk)
    }

    /// The user whose prompter shows the prompt; nil if nobody can be asked.
    func promptedUser(of launch: HeldLaunch) -> UInt32? { state.withLock { $0.promptedUser(of: launch) } }

    /// The newest snapshot.
    var snapshot: AuthorizationSnapshot { state.withLock { $0.snapshot } }

    /// Replaces the snapshot: of changes at the same moment, each is made to the other's result.
    func update(_ change: (inout sending AuthorizationSnapshot) -> Void) {
        let now = time.elapsed()
        state.withLock { state in
            change(&state.snapshot)
            state.removeExpiredRestarts(at: now)
            state.notifyFollower(ifChanged: true)
        }
    }

    /// Calls `body` with the users whose launches are denied without asking, whenever they change and before the change
    /// returns. For one follower, the gate's client.
    public func follow(_ body: @escaping @Sendable (UnaskedUsers) -> Void) { state.withLock { $0.follower = body } }

    /// Calls the follower with the present value.
    public func notifyFollower() { state.withLock { $0.notifyFollower(ifChanged: false) } }

    func waitingEnded(of user: UInt32) {
        state.withLock { state in
            let remaining = state.waiting[user, default: 0] - 1
            state.waiting[user] = remaining > 0 ? remaining : nil
        }
    }

    /// To be called before the gate answers: the process tries again at once.
    func remember(denied launch: HeldLaunch, _ reason: Reason) {
        let now = time.elapsed()
        state.withLock { state in
            state.denials.removeAll { $0.expiresAt <= now }
            state.denials.append(
                RecentDenial(
                    app: launch.app, process: launch.process, reason: reason, expiresAt: now + Self.denialWindow))
        }
    }

    func allowRestart(of app: AppID, by prompter: Int32, user: UInt32) {
        let now = time.elapsed()
        state.withLock { state in
            state.removeExpiredRestarts(at: now)
            state.restarts.append(
                RestartPermit(app: app, prompter: prompter, user: user, expiresAt: now + Self.restartWindow))
            state.notifyFollower(ifChanged: true)
        }
    }

    /// Revokes permits to start a launch again.
    /// - Parameter user: nil for all users.
    func endRestarts(of user: UInt32?) {
        state.withLock { state in
            state.restarts.removeAll { user == nil || $0.user == user }
            state.notifyFollower(ifChanged: true)
        }
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
