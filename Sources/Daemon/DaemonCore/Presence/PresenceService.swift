import ControlAPI
import Foundation
import Policy
import Sync

/// Locks everything of a user who is absent: the computer sleeps, the screen is locked, another user switches in, or
/// the user is idle.
actor PresenceService {
    /// A connected desktop agent.
    struct Agent {
        var peer: ControlPeer
        /// How it measures inactivity; nil until it reports that.
        var source: IdleReport.Source?
    }

    /// A session that the system reports.
    struct KnownSession {
        var user: UInt32
        var isKnown: Bool
        /// The time since boot at which it became idle; nil while it is in use.
        var idleSince: Duration?
    }

    let relockables: [any Relockable]
    let time: any TimeSource
    let log: ActivityLog
    let changes: StateChanges
    private let documents: any DocumentStore
    private let authorizer: LaunchAuthorizer
    private let lockGenerations: LockGenerations
    private let port: any SessionSignalsPort
    private(set) var settings = PresenceSettings()
    /// Otherwise two changes at once would both begin with the same settings.
    private let settingsChanges = AsyncSerialQueue()
    /// A sentence if the system's signals are missing or incomplete.
    private(set) var signalsProblem: String?
    var agents: [UInt64: Agent] = [:]
    var known: [String: KnownSession] = [:]
    /// The timers of users whose inactivity the system reports.
    var watches: [UInt32: (due: Duration, task: Task<Void, Never>)] = [:]

    init(
        relockables: [any Relockable], documents: any DocumentStore, authorizer: LaunchAuthorizer,
        lockGenerations: LockGenerations, changes: StateChanges, port: any SessionSignalsPort, time: any TimeSource,
        log: ActivityLog
    ) {
        self.relockables = relockables
        self.documents = documents
        self.authorizer = authorizer
        self.lockGenerations = lockGenerations
        self.changes = changes
        self.port = port
        self.time = time
        self.log = log
    }

    /// - Throws: `UnreadableState`, or what the store throws.
    func load() async throws {
        settings = try await documents.decoded(PresenceSettings.self, PresenceSettings.documentName) ?? settings
    }

    /// - Throws: `ControlError` with `badRequest` or `failed`.
    func changeSettings(_ body: (inout PresenceSettings) -> Void) async throws {
        try await settingsChanges.perform {
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
    }

    // MARK: The system's signals

    /// Reads the system's signals for as long as the daemon runs.
    func followSignals() async {
        for await signal in port.signals { await received(signal) }
        // The end of the port's signals must not end the daemon.
        for await _ in AsyncStream(Void.self, { _ in }) {}
    }

    private func received(_ signal: SessionSignal) async {
        switch signal {
        case .available:
            signalsProblem = nil
            authorizer.update { $0.isAsleep = false }
        case .unavailable(let why):
            signalsProblem = "AppLocker can't notice sleep, screen locks or user switches here: \(why)."
            // No signal would report that the computer is awake again.
            authorizer.update { $0.isAsleep = false }
            known = [:]
        case .unheld(let why):
            signalsProblem = "The computer does not wait for AppLocker before it sleeps: \(why)."
        case .goingToSleep(let number):
            authorizer.update { $0.isAsleep = true }
            await relock(.sleep)
            port.acknowledge(number)
        case .woke: authorizer.update { $0.isAsleep = false }
        case .shuttingDown(let number):
            await relock(.shutdown)
            port.acknowledge(number)
        case .lidClosed: await relock(.lidClosed)
        case .sessionLocked(let user): await relock(.screenLocked(user: user))
        case .switchedAway(let user): await relock(.userSwitched(user: user))
        case .session(let name, let idleness):
            known[name] = KnownSession(
                user: idleness.user, isKnown: idleness.isKnown,
                idleSince: idleness.idle.map { time.elapsed() - $0 })
        case .sessionEnded(let name, let user):
            known[name] = nil
            guard let user else { break }
            await relock(.loggedOut(user: user))
        }
        changes.mark()
    }

    // MARK: Agents

    func agentJoined(_ peer: ControlPeer, connection: UInt64) {
        agents[connection] = Agent(peer: peer)
        changes.mark()
    }

    func agentLeft(connection: UInt64) {
        agents[connection] = nil
        changes.mark()
    }

    // MARK: Locking

    /// Locks everything of the users who are absent. When it returns, grants have ended, the gate's marks are restored,
    /// waiting launches are denied, keys are overwritten and management sessions closed. The log and the disk follow.
    func relock(_ absence: Absence) async {
        lockGenerations.advance(absence.user)
        await withTaskGroup { group in
            for relockable in relockables { group.addTask { await relockable.relock(absence) } }
        }
        await log.enqueue(.relocked, user: absence.user, absence.sentence)
        changes.mark()
    }
}
