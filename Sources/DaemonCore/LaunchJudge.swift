public import Policy
import Synchronization

/// Decides launches on the thread that reads the gate, without waiting for any actor, disk or other request: what the
/// services decided last lies here as one value.
///
/// Sendable because its state is one `Mutex`.
public final class LaunchJudge: Sendable {
    struct View: Sendable {
        var policy = LockPolicy()
        var lockouts = LockoutLadders()
        /// Open prompters by user.
        var prompters: [UInt32: Int] = [:]
        /// Launches that wait for an answer, by user.
        var waiting: [UInt32: Int] = [:]
        var restarts: [Restart] = []
        /// The computer is about to sleep, or does: nobody is asked.
        var isAsleep = false
        /// There is a connection to the hub, over which a phone is asked and answers.
        var isHubConnected = false
        /// Paired ones.
        var companions = 0

        /// A paired phone is told of launches that wait, and may answer.
        var isPhoneTold: Bool { isHubConnected && companions > 0 }

        /// A phone may answer where no prompter is there.
        var canAskPhone: Bool { isPhoneTold && policy.settings.asksPhoneAlone }
    }

    /// A launch that was denied at once and that its prompter may start again.
    struct Restart: Sendable {
        var app: AppID
        var prompter: Int32
        var user: UInt32
        var expiresAt: Duration
    }

    /// How long a prompter has to start a launch again.
    static let restartWindow = Duration.seconds(10)

    private let view = Mutex(View())
    private let time: any TimeSource

    public init(time: any TimeSource) { self.time = time }

    /// Called on the gate's reader thread. A launch that is to be asked about counts as waiting from here on.
    public func judge(_ launch: HeldLaunch, mayUseGrantForOneLaunch: Bool = true) -> Decision {
        let now = time.now()
        return view.withLock { view in
            if let index = view.restarts.firstIndex(where: {
                $0.app == launch.app && $0.prompter == launch.parent && $0.user == launch.user
                    && now.elapsed < $0.expiresAt
            }) {
                view.restarts.remove(at: index)
                return Decision(verdict: .allow, reason: .passcodeGiven)
            }
            let askee = Self.askee(of: launch, in: view)
            let facts = LaunchFacts(
                app: launch.app, uid: launch.user, isRoot: launch.user == 0, hasPrompter: askee != nil,
                waitingForUser: view.waiting[launch.user, default: 0],
                lockout: view.lockouts.ladder(of: askee ?? launch.user), isPhoneTold: view.isPhoneTold)
            var decision = view.policy.decide(facts, at: now)
            if decision.reason == .grantedOnce, !mayUseGrantForOneLaunch {
                var policy = view.policy
                _ = try? policy.lock([launch.app])
                decision = policy.decide(facts, at: now)
            }
            if decision.verdict == .ask, view.isAsleep { return Decision(verdict: .deny, reason: .relocked) }
            if decision.verdict == .ask { view.waiting[launch.user, default: 0] += 1 }
            return decision
        }
    }

    /// The user whose prompter is asked: who started the app, or who logged in and became somebody else. Where a phone is
    /// asked instead, the one whose prompter may still come.
    func askee(of launch: HeldLaunch) -> UInt32? { view.withLock { Self.askee(of: launch, in: $0) } }

    private static func askee(of launch: HeldLaunch, in view: View) -> UInt32? {
        let users = [launch.user, launch.loginUser].compactMap { $0 }
        if let user = users.first(where: { view.prompters[$0, default: 0] > 0 }) { return user }
        return view.canAskPhone ? users.last : nil
    }

    func update<Result: Sendable>(_ change: (inout sending View) -> sending Result) -> Result {
        view.withLock(change)
    }

    func waitingEnded(of user: UInt32) {
        view.withLock { view in
            let left = view.waiting[user, default: 0] - 1
            view.waiting[user] = left > 0 ? left : nil
        }
    }

    func allowRestart(of app: AppID, by prompter: Int32, user: UInt32) {
        let now = time.now().elapsed
        view.withLock { view in
            view.restarts.removeAll { $0.expiresAt <= now }
            view.restarts.append(
                Restart(app: app, prompter: prompter, user: user, expiresAt: now + Self.restartWindow))
        }
    }

    /// Ends what prompters may start again.
    /// - Parameter user: nil for everybody's.
    func endRestarts(of user: UInt32?) {
        view.withLock { view in view.restarts.removeAll { user == nil || $0.user == user } }
    }

    var isAsleep: Bool {
        get { view.withLock { $0.isAsleep } }
        set { view.withLock { $0.isAsleep = newValue } }
    }

    var canAskPhone: Bool { view.withLock { $0.canAskPhone } }

    /// Whether somebody may still answer for this user.
    func canAsk(_ user: UInt32) -> Bool {
        view.withLock { $0.prompters[user, default: 0] > 0 || $0.canAskPhone }
    }

    func hasPrompter(_ user: UInt32) -> Bool { view.withLock { $0.prompters[user, default: 0] > 0 } }
}
