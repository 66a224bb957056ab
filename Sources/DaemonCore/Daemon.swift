import Policy
public import SealedFormats
import WireProtocol

/// The daemon's services, put together.
public struct Daemon: Sendable {
    public let control: ControlPlane
    private let apps: AppService
    private let passcodes: PasscodeService
    private let launches: LaunchService
    private let presence: PresenceService
    private let log: ActivityLog
    private let sealed: SealedServices

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
        /// The camera of this input; "auto" for the first one there is. Which are understood is the camera's affair.
        var makeCamera: @Sendable (_ input: String) -> any PhotoSource
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
            sessionSignals: any SessionSignalsPort, makeCamera: @escaping @Sendable (String) -> any PhotoSource,
            eraseKeys: @escaping @Sendable () throws -> Void, startAnew: @escaping @Sendable () -> Void,
            stop: @escaping @Sendable () -> Void
        ) {
            self.startAnew = startAnew
            self.stop = stop
            self.makeCamera = makeCamera
            self.sessionSignals = sessionSignals
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
            verifyLog: { try await ports.activity.verifyLog(known: $0) },
            stop: { user in
                await log.record(.stopped, user: user, "AppLocker was stopped with the passcode.")
                await log.flush()
                ports.stop()
            })
        control = ControlPlane(
            apps: apps, passcodes: passcodes, launches: launches, sessions: sessions, presence: presence,
            relocks: relocks,
            sealed: sealed, judge: judge, activity: ports.activity, time: ports.time, version: version,
            ownUser: ownUser,
            ownProcess: ownProcess)
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
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await launches.followGate() }
                group.addTask { try await apps.followTime() }
                group.addTask { await presence.followSignals() }
                group.addTask { await presence.followChanges() }
                group.addTask { await presence.followLog() }
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
