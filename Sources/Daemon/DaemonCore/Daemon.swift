import ControlAPI
public import Household
import Policy
public import SealedFormats
public import Sync

/// The daemon's services, put together.
public struct Daemon: Sendable {
    public let control: ControlRequestHandler
    private let log: ActivityLog
    private let publisher: EventPublisher
    private let statusPublisher: StatusPublisher
    private let remote: RemoteService

    /// The adapters that the daemon uses.
    public struct Ports: Sendable {
        var records: any RecordStore
        var blobs: any BlobStore
        var activity: any ActivityStore
        var resolver: any AppResolver
        var gate: any LaunchGatePort
        var time: any TimeSource
        var directory: any ProcessDirectory
        var sessionSignals: any SessionSignalsPort
        var household: HouseholdPorts
        var vaultReplicas: any VaultReplicas
        /// Returns the camera of this input; "auto" is the first one. The adapter defines which inputs are valid.
        var makeCamera: @Sendable (_ input: String) -> any PhotoSource
        /// Runs the integrity checks of this computer, which only read.
        var inspectHost: @Sendable () async -> [IntegrityFinding]
        /// Overwrites and removes the keys beside the database. This can't be undone: anything that remains is erased
        /// at the next start at the latest.
        var eraseKeys: @Sendable () throws -> Void
        /// Ends the daemon soon after, so that it is restarted.
        var restart: @Sendable () -> Void
        /// Ends the daemon and all of AppLocker soon after.
        var stop: @Sendable () -> Void

        public init(
            records: any RecordStore, blobs: any BlobStore, activity: any ActivityStore, resolver: any AppResolver,
            gate: any LaunchGatePort, time: any TimeSource, directory: any ProcessDirectory,
            sessionSignals: any SessionSignalsPort, household: HouseholdPorts, vaultReplicas: any VaultReplicas,
            makeCamera: @escaping @Sendable (String) -> any PhotoSource,
            inspectHost: @escaping @Sendable () async -> [IntegrityFinding],
            eraseKeys: @escaping @Sendable () throws -> Void, restart: @escaping @Sendable () -> Void,
            stop: @escaping @Sendable () -> Void
        ) {
            self.restart = restart
            self.stop = stop
            self.makeCamera = makeCamera
            self.inspectHost = inspectHost
            self.sessionSignals = sessionSignals
            self.household = household
            self.vaultReplicas = vaultReplicas
            self.eraseKeys = eraseKeys
            self.records = records
            self.blobs = blobs
            self.activity = activity
            self.resolver = resolver
            self.gate = gate
            self.time = time
            self.directory = directory
        }
    }

    /// - Parameters:
    ///   - authorizer: the one that the gate's reader calls.
    ///   - cost: of new passcode verifiers; called on a thread of its own.
    ///   - device: this computer's key; its id is written into each record.
    ///   - ownUser: the user the daemon runs as.
    public init(
        ports: Ports, authorizer: LaunchAuthorizer, machineSecret: SecretBytes, device: DevicePublicKey,
        deviceName: String, cost: @escaping @Sendable () throws -> ScryptCost, version: String,
        ownUser: UInt32, ownProcess: Int32
    ) {
        let (lockGenerations, changes, events) = (LockGenerations(), StateChanges(), DaemonEvents())
        let log = ActivityLog(store: ports.activity, time: ports.time)
        let apps = AppService(
            documents: ports.records, resolver: ports.resolver, gate: ports.gate, time: ports.time,
            authorizer: authorizer, log: log, lockGenerations: lockGenerations, changes: changes, events: events)
        let passcodes = PasscodeService(
            documents: ports.records, machineSecret: machineSecret, cost: cost, time: ports.time,
            authorizer: authorizer, events: events, log: log)
        let launches = LaunchService(
            apps: apps, passcodes: passcodes, gate: ports.gate, authorizer: authorizer, time: ports.time,
            directory: ports.directory, log: log, lockGenerations: lockGenerations, changes: changes, events: events)
        let vault = VaultService(
            passcodes: passcodes, documents: ports.records, device: device.id, time: ports.time, log: log,
            lockGenerations: lockGenerations, changes: changes)
        let sessions = SessionService(time: ports.time, lockGenerations: lockGenerations, changes: changes)
        let presence = PresenceService(
            relockables: [launches, vault, sessions, apps], documents: ports.records, authorizer: authorizer,
            lockGenerations: lockGenerations, changes: changes, port: ports.sessionSignals, time: ports.time, log: log)
        let household = HouseholdService(
            ports: ports.household, passcodes: passcodes, vault: vault, machineSecret: machineSecret,
            deviceName: deviceName, time: ports.time, log: log, authorizer: authorizer, events: events)
        let store = ports.household.store
        let sync = SyncService(
            household: household, store: store, blobs: ports.blobs, time: ports.time, log: log, authorizer: authorizer,
            events: events)
        let files = FileService(records: ports.records, blobs: ports.blobs, vault: vault, time: ports.time)
        let contents = ContentService(records: ports.records, blobs: ports.blobs) {
            _ = try await vault.keys(for: $0)
        } fetch: {
            try await sync.engine.fetch($0)
        }
        let moments = MomentService(records: ports.records, blobs: ports.blobs, time: ports.time) {
            try await vault.keys(for: $0)
        }
        let sealed = SealedServices(
            vault: vault,
            notes: NoteService(records: ports.records, vault: vault, time: ports.time, deviceName: deviceName),
            files: files,
            own: MomentVault(moments: moments, contents: contents),
            shared: SharedVaultService(
                vault: vault, household: household, documents: ports.records, replicas: ports.vaultReplicas,
                deviceName: deviceName, time: ports.time, log: log, changes: changes),
            intruders: IntruderService(
                records: ports.records, blobs: ports.blobs, vault: vault, passcodes: passcodes,
                makeCamera: ports.makeCamera, device: device.id, time: ports.time, events: events, log: log),
            backups: BackupService(
                records: ports.records, blobs: ports.blobs, passcodes: passcodes, vault: vault,
                contents: contents, apps: apps, device: device.id, time: ports.time, log: log),
            erase: {
                try ports.eraseKeys()
                defer { ports.restart() }
                try await ports.records.eraseAll()
                try await ports.blobs.sweep(keeping: [])
                try ports.vaultReplicas.removeAll(but: [])
            },
            verifyLog: { [verifier = LogVerifier(store: ports.activity)] in try await verifier.verify(known: $0) },
            stop: { user in
                await log.append(.stopped, user: user, "AppLocker was stopped with the passcode.")
                await log.flush()
                ports.stop()
            })
        let status = StatusReader(
            apps: apps, passcodes: passcodes, launches: launches, presence: presence, vault: vault, sync: sync.engine,
            authorizer: authorizer, version: version, ownUser: ownUser, ownProcess: ownProcess)
        let agents = AgentService(
            presence: presence, status: status, apps: apps, passcodes: passcodes, vault: vault, changes: changes,
            log: log, events: events)
        let conflicts = ConflictService(
            store: store, vault: vault, household: household, sync: sync.engine, deviceName: deviceName, events: events)
        control = ControlRequestHandler(
            apps: apps, passcodes: passcodes, launches: launches, sessions: sessions, presence: presence,
            agents: agents, statusReader: status, lockGenerations: lockGenerations, sealed: sealed,
            devices: HouseholdServices(household: household, sync: sync, conflicts: conflicts),
            activity: ports.activity, time: ports.time, ownUser: ownUser)
        publisher = EventPublisher(
            household: household, sync: sync.engine, apps: apps, log: log, documents: ports.records, time: ports.time,
            deviceName: deviceName, events: events)
        statusPublisher = StatusPublisher(
            household: household, sync: sync.engine, publisher: publisher, apps: apps, status: status,
            resolver: ports.resolver, inspectHost: ports.inspectHost, documents: ports.records, time: ports.time,
            changes: changes, events: events, deviceName: deviceName)
        remote = RemoteService(
            household: household, sync: sync, store: store,
            actions: RemoteActions(
                apps: apps, launches: launches, passcodes: passcodes, vault: vault, sessions: sessions,
                intruders: sealed.intruders, household: household, sync: sync.engine, lockGenerations: lockGenerations,
                authorizer: authorizer, status: status),
            log: log)
        self.log = log
    }

    /// Reads the stored state. Connect the gate only afterwards.
    ///
    /// - Throws: `UnreadableState`, or what the store throws.
    public func load() async throws {
        try await control.passcodes.load()
        try await control.apps.load()
        try await control.sealed.vault.load()
        try await control.presence.load()
        try await control.sealed.files.sweep()
        try await control.devices.household.load()
        try await publisher.load()
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
        await publisher.announce(.started, "AppLocker was started.")
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await control.launches.followGate() }
                group.addTask { try await control.apps.followTime() }
                group.addTask { await control.presence.followSignals() }
                group.addTask { await control.presence.followInactivity() }
                group.addTask { await control.agents.followChanges() }
                group.addTask { await control.agents.followLog() }
                group.addTask { await control.agents.followEvents() }
                group.addTask { await control.sealed.intruders.followWrongPasscodes() }
                group.addTask { await control.sealed.files.followAbandoned() }
                group.addTask { await control.devices.sync.run() }
                group.addTask { await control.sealed.shared.followLocking() }
                group.addTask { await control.devices.conflicts.followEvents() }
                group.addTask { await publisher.followEvents() }
                group.addTask { await publisher.followLog() }
                group.addTask { await statusPublisher.run() }
                group.addTask { await remote.followCommands() }
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
