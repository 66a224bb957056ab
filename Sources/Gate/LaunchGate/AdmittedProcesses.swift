import Glibc

/// Processes that may start an app's programs while they live, or until the app's instances are ended: launches that
/// were allowed, instances that were already running, and their descendants.
///
/// No descriptor is kept for them. A reused pid is detected by its start time, and ended processes are removed when the
/// table has doubled.
struct AdmittedProcesses {
    private struct Entry {
        var start: UInt64
        var apps: Set<Int>
        /// The process before its allowed launch; nil if it already ran the app.
        var before: State?
    }

    /// The state of a process in an allowed execve, which may still fail.
    struct State {
        var program: FileIdentity?
        var hasOnlyForked: Bool
        /// On the clock of `Timetable`. A launch can need several permissions: for a script and for its interpreter.
        var since: UInt64

        init(of process: Int32, _ status: ProcessFacts.Status) {
            program = ProcessFacts.executable(process)
            hasOnlyForked = status.hasOnlyForked
            since = Timetable.now
        }

        /// Whether the process has executed a program since. PF_FORKNOEXEC can't be set again; a process in its own
        /// user namespace can change the link of its executable.
        func hasPassed(_ process: Int32) -> Bool {
            if hasOnlyForked { return ProcessFacts.status(process)?.hasOnlyForked == false }
            guard let program, let now = ProcessFacts.executable(process) else { return false }
            return now != program && ProcessFacts.isInOwnUserNamespace(process)
        }
    }

    private var entries: [Int32: Entry] = [:]
    private var sweepAt = 256
    /// The number of ancestors that are checked.
    private static let maximumGenerations = 64
    /// The time for an allowed launch to become the app, in nanoseconds.
    private static let launchTime: UInt64 = 1_000_000_000

    /// - Parameter before: the state of the process until its allowed launch has become the app.
    mutating func admit(_ process: Int32, start: UInt64, app key: Int, before: State? = nil) {
        if let entry = entries[process], entry.start == start {
            entries[process]!.apps.insert(key)
            // The process may be the app already, and execute another of its programs.
            if entry.before?.hasPassed(process) == false { entries[process]!.before = before }
            return
        }
        entries[process] = Entry(start: start, apps: [key], before: before)
        guard entries.count >= sweepAt else { return }
        entries = entries.filter { ProcessFacts.status($0.key)?.start == $0.value.start }
        sweepAt = max(256, entries.count * 2)
    }

    /// Whether the process or an ancestor was admitted to the app.
    func covers(_ process: Int32, app key: Int) -> Bool {
        guard !entries.isEmpty else { return false }
        var process = process
        var youngest = UInt64.max
        for _ in 0..<Self.maximumGenerations {
            guard let status = ProcessFacts.status(process), status.start <= youngest else { return false }
            if contains(process, status, app: key) { return true }
            guard status.parent > 1 else { return false }
            youngest = status.start
            process = status.parent
        }
        return false
    }

    /// Whether this process itself was admitted to the app and has executed it.
    func contains(_ process: Int32, _ status: ProcessFacts.Status, app key: Int) -> Bool {
        guard let entry = entries[process], entry.start == status.start, entry.apps.contains(key) else { return false }
        guard let before = entry.before else { return true }
        return before.hasPassed(process) || Timetable.now - before.since < Self.launchTime
    }

    mutating func forget(app key: Int) {
        for process in entries.keys { entries[process]!.apps.remove(key) }
        entries = entries.filter { !$0.value.apps.isEmpty }
    }

    var count: Int { entries.count }
}
