import CLinux
public import GateProtocol
import Glibc

/// The gate: one thread with one event loop, which blocks only in epoll_wait(2).
///
/// It owns the fanotify group, the marks and all held launches. It decides only what must not wait for the daemon
/// (`Gate+Events.swift`), sends everything else to the daemon, and denies launches without a clear answer.
public final class Gate {
    let configuration: GateConfiguration
    let poller: Poller
    let listener: DaemonListener
    let store: DescriptorStore?
    /// Nil in the weak mode.
    let group: (any PermissionEventSource)?
    /// Nil if the kernel holds launches.
    let startWatch: StartWatch?
    let marks: FileMarks
    let fileWatch: FileWatch
    let ownProcess = getpid()
    private let signals: Descriptor
    private let isNeeded: () -> Bool
    private let mounts: Descriptor
    /// The errno with which the kernel refused fanotify; 0 if it did not.
    let refusal: Int32
    /// The number of denied launches of an earlier run; reported once.
    var orphansDenied: UInt32 = 0

    var timetable: Timetable
    var daemon: DaemonConnection?
    var apps = AppTable()
    /// Apps of the file of known apps, while it is read.
    var knownApps = IncomingApps()
    var events = EventQueue()
    var held = PendingLaunches()
    var admitted = AdmittedProcesses()
    /// The number of `Timetable.Task.confirm` in the timetable.
    var confirmations = 0
    var denied = DeniedLaunches()
    var desktops = DesktopProcesses()
    var execRequests = ExecRequestReader()
    /// Limits launches of the desktop whose memory is read: each can block the loop for `ExecRequestReader.patience`, and
    /// longer on a busy computer.
    var execRequestBudget = UserBudget(burst: 16, interval: 1_000_000_000)
    /// Limits refusals that the daemon is notified of and records.
    var refusalBudget = UserBudget(burst: 16, interval: 1_000_000_000)
    var frozen: Set<Int> = []
    /// Apps that will be marked again, because descriptors or memory were missing.
    var appsToMarkAgain: Set<Int> = []
    /// Apps whose changed files will be reported.
    var changedApps: Set<Int> = []
    /// The weak mode's latest search for the process that opened a watched file.
    var latestSearch = 0
    /// The time limit for an answer, in nanoseconds.
    var answerWithin: UInt64 = 30_000_000_000
    var maximumWaitingPerUser: UInt32 = 64
    private var isStopping = false

    /// How launches are detected.
    struct Mechanism {
        /// Nil in the weak mode.
        var group: (any PermissionEventSource)?
        var store: DescriptorStore?
        /// Nil in the weak mode, and where it is not attached.
        var overlayGuard: (any OverlayGuard)?
        /// The errno with which the kernel refused fanotify; 0 if it did not.
        var refusal: Int32 = 0
        /// The number of denied launches of an earlier run.
        var orphansDenied: UInt32 = 0
        /// How directories are watched for changed files.
        var addWatch: FileWatch.AddWatch = FileWatch.add
        /// A signalfd: readable once the gate has to stop.
        var signals: Descriptor
        /// Whether a gate that holds launches stays although it was asked to stop.
        var isNeeded: () -> Bool = FinalKill.isNeeded
    }

    /// Creates or takes over the fanotify group, denies what an earlier run left unanswered, and listens. No file is
    /// marked yet.
    /// - Throws: `GateError`.
    public convenience init(_ configuration: GateConfiguration) throws(GateError) {
        try GateProcess.prepare()
        var mechanism = try Self.findMechanism(configuration)
        if mechanism.group != nil {
            mechanism.overlayGuard = configuration.overlayGuard.flatMap { PinnedOverlayGuard(path: $0) }
        }
        try self.init(configuration, by: mechanism)
    }

    init(_ configuration: GateConfiguration, by mechanism: Mechanism) throws(GateError) {
        self.configuration = configuration
        store = mechanism.store
        group = mechanism.group
        refusal = mechanism.refusal
        orphansDenied = mechanism.orphansDenied
        signals = mechanism.signals
        isNeeded = mechanism.isNeeded
        var neverMarked = GateProcess.ownFiles()
        var daemonProgram: FileIdentity?
        if let path = configuration.daemonExecutable {
            daemonProgram = FileIdentity(following: path)
            guard let daemonProgram else {
                throw GateError(.usage, "--daemon-executable names no file: \(path.text)")
            }
            neverMarked.insert(daemonProgram)
        }
        let hook: any LaunchHook
        if let group {
            startWatch = nil
            hook = group
        } else {
            let startWatch = try StartWatch()
            self.startWatch = startWatch
            hook = startWatch
        }
        marks = FileMarks(hook: hook, overlayGuard: mechanism.overlayGuard, neverMarked: neverMarked)
        fileWatch = try FileWatch(by: mechanism.addWatch)
        timetable = try Timetable()
        let mountinfo = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        mounts = try Descriptor(mountinfo < 0 ? -errno : mountinfo, "open of /proc/self/mountinfo")
        listener = try DaemonListener(
            path: configuration.socket, daemonUser: configuration.daemonUser, daemonProgram: daemonProgram)
        poller = try Poller()
        try poller.add(listener.descriptor.number, .newDaemon)
        try poller.add(timetable.alarm.number, .alarm)
        try poller.add(signals.number, .signal)
        try poller.addMounts(mounts.number)
        try poller.add(fileWatch.descriptor.number, .changedFiles)
        if let group { try poller.add(group.descriptor.number, .permissionEvents) }
        if let startWatch { try poller.add(startWatch.descriptor.number, .startedFiles) }
    }

    private static func findMechanism(_ configuration: GateConfiguration) throws(GateError) -> Mechanism {
        let store = DescriptorStore()
        var mechanism = Mechanism(store: store, signals: try Descriptor(clinux_signal_descriptor(), "signalfd"))
        // Launches of an earlier run are still held.
        if let inherited = DescriptorStore.inherited() {
            let group = FanotifyGroup(adopting: inherited)
            mechanism.group = group
            mechanism.orphansDenied = group.denyOrphans(numbers: 0..<Int32(GateProcess.descriptorLimit))
            return mechanism
        }
        if configuration.weak { return mechanism }
        switch FanotifyGroup.create() {
        case .failure(let refused):
            report(
                "the kernel refuses to hold launches (\(String(cString: strerror(refused.number)))): WEAK MODE, "
                    + "programs are stopped after they have started")
            mechanism.refusal = refused.number
        case .success(let group):
            if let store {
                try store.hold(group.descriptor)
            } else if configuration.withoutDescriptorStore {
                report(
                    "no other process holds the descriptor: if this process is killed, ALL LOCKED APPS CAN BE STARTED")
            } else {
                throw GateError(
                    .descriptorStore,
                    "NOTIFY_SOCKET is not set, so launches would be allowed if the gate were killed. Start it "
                        + "through systemd or `applocker up`, or add --no-descriptor-store to accept that.")
            }
            mechanism.group = group
        }
        return mechanism
    }

    public var mode: GateMode { group == nil ? .watched : .held }

    /// Runs until SIGTERM or SIGINT, at a shutdown until the last process that could start an app has ended. Then it
    /// denies all held launches.
    public func run() throws(GateError) {
        guardKnownApps()
        let status = mode == .held ? "Holding launches" : "Weak mode: watching processes"
        try store?.send("READY=1\nSTATUS=\(status)")
        if store != nil, let interval = DescriptorStore.watchdogInterval {
            timetable.add(.watchdog, after: interval)
        }
        timetable.add(.followLinks, after: Self.linkInterval)
        while !isStopping { try runOnce() }
        denyAllHeld()
        while let event = events.popFirst() { event.answer(allow: false) }
        try? store?.send("STOPPING=1")
    }

    /// Waits for an event, unless some are queued, and handles it.
    func runOnce() throws(GateError) {
        timetable.setAlarm(other: held.nextDeadline)
        for wakeup in try poller.wait(isBusy: !events.isEmpty) { handle(wakeup) }
        handleQueued()
    }

    private func handle(_ wakeup: Wakeup) {
        switch wakeup {
        case .permissionEvents: readEvents()
        case .startedFiles: noticeStarted()
        case .changedFiles: noticeChangedFiles()
        case .changedMounts: noticeChangedMounts()
        case .newDaemon: acceptDaemon()
        case .daemon: receiveFromDaemon()
        case .alarm: handleAlarm()
        case .signal:
            // Read, so that the loop waits again.
            var signal = signalfd_siginfo()
            _ = read(signals.number, &signal, MemoryLayout<signalfd_siginfo>.size)
            stop()
        case .held(let token): end(token, .processGone)
        }
    }

    private func handleAlarm() {
        timetable.alarmRang()
        denyOverdue()
        for task in timetable.takeDue() {
            switch task {
            case .reportChanges(let key): reportChanges(of: key)
            case .markAgain(let key): markAgain(key)
            case .followLinks:
                followLinks()
                timetable.add(.followLinks, after: Self.linkInterval)
            case .confirm(let launch, let process, let start, let attempt):
                confirmations -= 1
                confirm(launch, of: process, start: start, attempt: attempt)
            case .insist(let key, let processes): insist(key, processes)
            case .keepFrozen(let key): keepFrozen(key)
            case .lookForStarted(let attempt, let search): lookForStarted(attempt: attempt, search: search)
            case .stop: stop()
            case .watchdog:
                try? store?.send("WATCHDOG=1")
                if let interval = DescriptorStore.watchdogInterval { timetable.add(.watchdog, after: interval) }
            }
        }
    }

    private func stop() {
        guard mode == .held, isNeeded() else {
            isStopping = true
            return
        }
        timetable.add(.stop, after: FinalKill.interval)
    }
}
