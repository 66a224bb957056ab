import Policy
public import SealedFormats
public import WireProtocol

/// The daemon's services, put together.
public struct Daemon: Sendable {
    public let control: ControlPlane
    private let apps: AppService
    private let passcodes: PasscodeService
    private let launches: LaunchService
    private let presence: PresenceService
    private let log: ActivityLog
    private let sealed: SealedServices
    private let household: HouseholdService
    private let sync: SyncService
    private let events: EventPublisher
    private let statusPublisher: StatusPublisher
    private let remote: RemoteService

    /// What the daemon stands on.
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
        /// The camera of this input; "auto" for the first one there is. Which are understood is the camera's affair.
        var makeCamera: @Sendable (_ input: String) -> any PhotoSource
        /// Tests of this computer that only read.
        var inspectHost: @Sendable () async -> [IntegrityFinding]
        /// Overwrites and removes the keys that lie beside the database. From then on there is no way back: what is left
        /// is erased at the next start, where it is not before.
        var eraseKeys: @Sendable () throws -> Void
        /// Has the daemon end soon after, to be started again.
        var startAnew: @Sendable () -> Void
        /// Has the daemon end for good soon after, and with it AppLocker.
        var stop: @Sendable () -> Void

        public init(
            records: any RecordStore, blobs: any BlobStore, activity: any ActivityStore, resolver: any AppResolver,
            gate: any LaunchGatePort, time: any TimeSource, directory: any ProcessDirectory,
            sessionSignals: any SessionSignalsPort, household: HouseholdPorts,
            makeCamera: @escaping @Sendable (String) -> any PhotoSource,
            inspectHost: @escaping @Sendable () async -> [IntegrityFinding],
            eraseKeys: @escaping @Sendable () throws -> Void, startAnew: @escaping @Sendable () -> Void,
            stop: @escaping @Sendable () -> Void
        ) {
            self.startAnew = startAnew
            self.stop = stop
            self.makeCamera = makeCamera
            self.inspectHost = inspectHost
            self.sessionSignals = sessionSignals
            self.household = household
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
    ///   - judge: the same that the gate's reader asks.
    ///   - cost: of new passcode verifiers; called on a thread of its own.
    ///   - device: this computer's key; its id is written into each record.
    ///   - ownUser: the user the daemon runs as.
    public init(
        ports: Ports, judge: LaunchJudge, machineSecret: SecretBytes, device: DevicePublicKey,
        deviceName: String, cost: @escaping @Sendable () throws -> ScryptCost, version: String,
        ownUser: UInt32, ownProcess: Int32
    ) {
        let log = ActivityLog(store: ports.activity, time: ports.time)
        self.log = log
        let (relocks, changes) = (Relocks(), StateChanges())
        apps = AppService(
            documents: ports.records, resolver: ports.resolver, gate: ports.gate, time: ports.time, judge: judge,
            log: log, relocks: relocks, changes: changes)
        passcodes = PasscodeService(
            documents: ports.records, machineSecret: machineSecret, cost: cost, time: ports.time, judge: judge,
            log: log)
        launches = LaunchService(
            apps: apps, passcodes: passcodes, gate: ports.gate, judge: judge, time: ports.time,
            directory: ports.directory, log: log, relocks: relocks, changes: changes)
        let vault = VaultService(
            passcodes: passcodes, documents: ports.records, device: device.id, time: ports.time, log: log,
            relocks: relocks, changes: changes)
        let sessions = SessionService(time: ports.time, relocks: relocks, changes: changes)
        presence = PresenceService(
            apps: apps, launches: launches, vault: vault, sessions: sessions, passcodes: passcodes,
            documents: ports.records, judge: judge, relocks: relocks, changes: changes, port: ports.sessionSignals,
            time: ports.time, log: log)
        sealed = SealedServices(
            vault: vault,
            notes: NoteService(records: ports.records, vault: vault, time: ports.time, deviceName: deviceName),
            files: FileService(records: ports.records, blobs: ports.blobs, vault: vault, time: ports.time),
            moments: MomentService(records: ports.records, blobs: ports.blobs, vault: vault, time: ports.time),
            intruders: IntruderService(
                records: ports.records, blobs: ports.blobs, vault: vault, passcodes: passcodes,
                makeCamera: ports.makeCamera, device: device.id, time: ports.time, log: log),
            backups: BackupService(
                records: ports.records, blobs: ports.blobs, passcodes: passcodes, vault: vault, apps: apps,
                device: device.id, time: ports.time, log: log),
            erase: {
                try ports.eraseKeys()
                defer { ports.startAnew() }
                try await ports.records.eraseAll()
                try await ports.blobs.sweep(keeping: [])
            },
            verifyLog: { [verifier = LogVerifier(store: ports.activity)] in try await verifier.verify(known: $0) },
            stop: { user in
                await log.record(.stopped, user: user, "AppLocker was stopped with the passcode.")
                await log.flush()
                ports.stop()
            })
        let household = HouseholdService(
            ports: ports.household, passcodes: passcodes, vault: vault, machineSecret: machineSecret,
            deviceName: deviceName, time: ports.time, log: log, judge: judge)
        let store = ports.household.store
        let sync = SyncService(
            household: household, store: store, blobs: ports.blobs, time: ports.time, log: log, judge: judge)
        let events = EventPublisher(
            household: household, sync: sync, apps: apps, log: log, documents: ports.records, time: ports.time,
            deviceName: deviceName)
        (self.household, self.sync, self.events) = (household, sync, events)
        let control = ControlPlane(
            apps: apps, passcodes: passcodes, launches: launches, sessions: sessions, presence: presence,
            relocks: relocks, sealed: sealed,
            devices: HouseholdServices(
                household: household, sync: sync,
                notes: ConflictService(
                    store: store, vault: vault, household: household, deviceName: deviceName,
                    readAgain: { try await sync.readAgain() })),
            judge: judge, activity: ports.activity, time: ports.time, version: version, ownUser: ownUser,
            ownProcess: ownProcess)
        self.control = control
        let statusPublisher = StatusPublisher(
            household: household, sync: sync, events: events, apps: apps, documents: ports.records, time: ports.time,
            changes: changes, deviceName: deviceName,
            sources: .init(
                status: { await control.statusForOtherDevices() }, inspectHost: ports.inspectHost,
                lockable: { await ports.resolver.lockable(user: await control.viewer()) }))
        self.statusPublisher = statusPublisher
        remote = RemoteService(
            household: household, sync: sync, store: store,
            actions: RemoteActions(
                apps: apps, launches: launches, passcodes: passcodes, vault: vault, sessions: sessions,
                intruders: sealed.intruders, household: household, relocks: relocks, judge: judge,
                viewer: { await control.viewer() }, refreshStatus: { await statusPublisher.refresh(looksAgain: true) }),
            log: log)
    }

    /// Reads what is stored. The gate may be connected after it, not before.
    ///
    /// - Throws: `UnreadableState`, or what the store throws.
    public func load() async throws {
        try await passcodes.load()
        try await apps.load()
        try await sealed.vault.load()
        try await presence.load { [control] user in await control.sessionState(of: user) }
        try await sealed.files.sweep()
        try await household.load()
        await sealed.files.fetchMissing { [sync] in try await sync.fetch($0) }
        await sealed.backups.fetchMissing { [files = sealed.files] in try await files.fetchWhereMissing($0) }
        try await events.load()
        await household.tell(
            session: { [sync, events, statusPublisher] in
                await sync.sessionChanged()
                await events.sessionChanged()
                await statusPublisher.refresh()
            },
            queued: { [sync, statusPublisher] in
                await sync.queued()
                // Other devices, or other keys: they are told what it is like here once more.
                await statusPublisher.refresh()
            },
            readUpToDate: { [sync] in try await sync.readUpToDate() })
        await sync.tell(
            connected: { [statusPublisher] in await statusPublisher.refresh() },
            taken: { [conflicts = control.devices.notes] in await conflicts.recordsTaken() })
        let launchNews = AsyncStream<PromptEvent>.makeStream()
        await launches.tellNews { launchNews.continuation.yield($0) }
        Task { [events] in
            for await news in launchNews.stream {
                switch news {
                case .ask(let report): await events.waiting(report)
                case .settled(let prompt, let outcome): await events.settled(prompt, outcome)
                case .ready, .start: break
                }
            }
        }
        await passcodes.tellWrongPasscodes { [intruders = sealed.intruders] failures, app, user in
            await intruders.noticeWrongPasscode(failures: failures, app: app, user: user)
        }
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
        await events.announce(.started, "AppLocker was started.")
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await launches.followGate() }
                group.addTask { try await apps.followTime() }
                group.addTask { await presence.followSignals() }
                group.addTask { await presence.followChanges() }
                group.addTask { await presence.followLog() }
                group.addTask { await events.followLog() }
                group.addTask { await sync.run() }
                group.addTask { await statusPublisher.run() }
                group.addTask { await remote.followCommands() }
                group.addTask { await sealed.files.followAbandoned() }
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
