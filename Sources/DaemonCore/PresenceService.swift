import Foundation
import Policy
import WireProtocol

/// Whether the people whose things are open are still there. When the computer sleeps, a screen is locked, somebody
/// else sits down or nobody does, everything of theirs is locked.
public actor PresenceService {
    struct Agent {
        var peer: ControlPeer
        var events: AsyncStream<SessionEvent>.Continuation
        var source: IdleReport.Source?
        /// What it was sent last.
        var state: SessionState?
    }

    /// A session that the system knows.
    struct KnownSession {
        var user: UInt32
        var isKnown: Bool
        /// Since this time after boot; nil while somebody touches it.
        var idleSince: Duration?
    }

    let apps: AppService
    let launches: LaunchService
    let vault: VaultService
    let sessions: SessionService
    let passcodes: PasscodeService
    let time: any TimeSource
    let log: ActivityLog
    let changes: StateChanges
    private let documents: any DocumentStore
    private let judge: LaunchJudge
    private let relocks: Relocks
    private let port: any SessionSignalsPort
    private(set) var settings = PresenceSettings()
    /// A sentence where the system's signals don't come as they should.
    private(set) var signalsProblem: String?
    var agents: [UInt64: Agent] = [:]
    var known: [String: KnownSession] = [:]
    /// Waits for a user's inactivity, where the system tells of it.
    var watches: [UInt32: (due: Duration, task: Task<Void, Never>)] = [:]
    var stateOf: (@Sendable (UInt32) async -> SessionState)?

    init(
        apps: AppService, launches: LaunchService, vault: VaultService, sessions: SessionService,
        passcodes: PasscodeService, documents: any DocumentStore, judge: LaunchJudge, relocks: Relocks,
        changes: StateChanges, port: any SessionSignalsPort, time: any TimeSource, log: ActivityLog
    ) {
        self.apps = apps
        self.launches = launches
        self.vault = vault
        self.sessions = sessions
        self.passcodes = passcodes
        self.documents = documents
        self.judge = judge
        self.relocks = relocks
        self.changes = changes
        self.port = port
        self.time = time
        self.log = log
    }

    func load(stateOf: @escaping @Sendable (UInt32) async -> SessionState) async throws {
        self.stateOf = stateOf
        guard let bytes = try await documents.document(PresenceSettings.documentName) else { return }
        settings = try UnreadableState.decode(PresenceSettings.self, from: bytes, named: PresenceSettings.documentName)
    }

    /// - Throws: `ControlError` with `badRequest` or `failed`.
    func changeSettings(_ body: (inout PresenceSettings) -> Void) async throws {
        var changed = settings
        body(&changed)
        try changed.validate()
        do {
            try await documents.save([UInt8](JSONEncoder().encode(changed)), as: PresenceSettings.documentName)
        } catch {
            throw ControlError(
                .failed, "AppLocker could not write its state (\(error)). Free some disk space and try again.")
        }
        settings = changed
        changes.mark()
    }

    // MARK: The system's signals

    /// Reads them for as long as the daemon runs.
    func followSignals() async {
        for await signal in port.signals { await received(signal) }
        // The port has nothing more to say, which must not end the daemon.
        for await _ in AsyncStream(Void.self, { _ in }) {}
    }

    private func received(_ signal: SessionSignal) async {
        switch signal {
        case .available:
            signalsProblem = nil
            judge.isAsleep = false
        case .unavailable(let why):
            signalsProblem = "Sleep, screen locks and user switches are not noticed: \(why)."
            // Nobody would say that the computer is awake again.
            judge.isAsleep = false
            known = [:]
        case .unheld(let why):
            signalsProblem = "The computer does not wait for AppLocker before it sleeps: \(why)."
        case .goingToSleep(let number):
            judge.isAsleep = true
            await relock(nil, .sleep, "the computer goes to sleep")
            port.acknowledge(number)
        case .woke: judge.isAsleep = false
        case .shuttingDown(let number):
            await relock(nil, .shutdown, "the computer shuts down")
            port.acknowledge(number)
        case .lidClosed: await relock(nil, .lidClosed, "the lid was closed")
        case .sessionLocked(let user): await relock(user, .screenLocked, "the screen was locked")
        case .switchedAway(let user): await relock(user, .userSwitched, "another user's session came to the front")
        case .session(let name, let idleness):
            known[name] = KnownSession(
                user: idleness.user, isKnown: idleness.isKnown,
                idleSince: idleness.idle.map { time.now().elapsed - $0 })
        case .sessionEnded(let name, let user):
            known[name] = nil
            if let user { await relock(user, .loggedOut, "the session ended") }
        }
        changes.mark()
    }

    // MARK: Locking

    /// Locks everything of a user, or of everybody: grants are over and the gate has its marks back, waiting launches
    /// are denied, keys are overwritten and management sessions closed when it returns. The log and the disk follow.
    func relock(_ user: UInt32?, _ reason: GrantEndReason, _ why: String) async {
        relocks.advance(user)
        // The gate reads in order: what it is told of the launches is done when it confirms its marks.
        async let denied: Void = launches.relock(user)
        async let forgotten: Void = vault.relock(user, why)
        async let closed: Void = sessions.end(of: user)
        await apps.relock(user, reason)
        _ = await (denied, forgotten, closed)
        let whose = user.map { "Everything of user \($0)" } ?? "Everything"
        await log.note(.relocked, user: user, "\(whose) was locked: \(why).")
        changes.mark()
    }
}
