import Policy
public import SealedFormats
import WireProtocol

/// The daemon's services, put together.
public struct Daemon: Sendable {
    public let control: ControlPlane
    private let apps: AppService
    private let passcodes: PasscodeService
    private let launches: LaunchService
    private let log: ActivityLog

    /// What the daemon stands on.
    public struct Ports: Sendable {
        var documents: any DocumentStore
        var activity: any ActivityStore
        var resolver: any AppResolver
        var gate: any LaunchGatePort
        var time: any TimeSource
        var directory: any ProcessDirectory

        public init(
            documents: any DocumentStore, activity: any ActivityStore, resolver: any AppResolver,
            gate: any LaunchGatePort, time: any TimeSource, directory: any ProcessDirectory
        ) {
            self.documents = documents
            self.activity = activity
            self.resolver = resolver
            self.gate = gate
            self.time = time
            self.directory = directory
        }
    }

    /// - Parameters:
    ///   - judge: the same that the gate's reader asks.
    ///   - cost: of new passcode verifiers; called on a thread of its own.
    ///   - ownUser: the user the daemon runs as.
    public init(
        ports: Ports, judge: LaunchJudge, machineSecret: SecretBytes, cost: @escaping @Sendable () throws -> ScryptCost,
        version: String,
        ownUser: UInt32, ownProcess: Int32
    ) {
        let log = ActivityLog(store: ports.activity, time: ports.time)
        self.log = log
        apps = AppService(
            documents: ports.documents, resolver: ports.resolver, gate: ports.gate, time: ports.time, judge: judge,
            log: log)
        passcodes = PasscodeService(
            documents: ports.documents, machineSecret: machineSecret, cost: cost, time: ports.time, judge: judge,
            log: log)
        launches = LaunchService(
            apps: apps, passcodes: passcodes, gate: ports.gate, judge: judge, time: ports.time,
            directory: ports.directory, log: log)
        control = ControlPlane(
            apps: apps, passcodes: passcodes, launches: launches, sessions: SessionService(time: ports.time),
            judge: judge, activity: ports.activity, time: ports.time, version: version, ownUser: ownUser,
            ownProcess: ownProcess)
    }

    /// Reads what is stored. The gate may be connected after it, not before.
    ///
    /// - Throws: `UnreadableState`, or what the store throws.
    public func load() async throws {
        try await passcodes.load()
        try await apps.load()
    }

    /// Whether passcodes are stored.
    ///
    /// - Throws: what the store throws.
    public static func isSetUp(in documents: any DocumentStore) async throws -> Bool {
        try await documents.document(PasscodeService.documentName) != nil
    }

    /// Returns when everything that was recorded so far is written.
    public func finish() async { await log.flush() }

    /// Serves the gate and the clock until the task is cancelled.
    public func run() async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await launches.followGate() }
                group.addTask { try await apps.followTime() }
                try await group.next()
                group.cancelAll()
            }
        } catch {
            await log.flush()
            throw error
        }
        await log.flush()
    }
}
