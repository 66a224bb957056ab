import Glibc

/// The processes that were let in: a launch that was allowed, whatever of the app already ran, and every program of the
/// app that those started. They and their descendants may start the app's programs for as long as they live, or until
/// the app's instances are ended.
///
/// Nothing is held open for them: a process that has ended is noticed by its start time when its number turns up
/// again, and the dead are swept out when the table has doubled.
struct AdmittedProcesses {
    private struct Entry {
        var start: UInt64
        var apps: Set<Int>
        /// What the process was before a launch that was allowed; nil where it was the app already.
        var before: State?
    }

    /// Of a process that waits in execve, which may still fail after it was allowed.
    struct State {
        var program: FileIdentity?
        var hasOnlyForked: Bool
        /// On the clock of `Timetable`. One launch may need several permissions: for a script and its interpreter.
        var since: UInt64

        init(of process: Int32, _ status: ProcessFacts.Status) {
            program = ProcessFacts.executable(process)
            hasOnlyForked = status.hasOnlyForked
            since = Timetable.now
        }

        /// Whether the process has executed something since. A fork's mark can't be put back; the program's name can be
        /// changed by a process in a user namespace of its own.
        func hasPassed(_ process: Int32) -> Bool {
            if hasOnlyForked { return ProcessFacts.status(process)?.hasOnlyForked == false }
            guard let program, let now = ProcessFacts.executable(process) else { return false }
            return now != program && ProcessFacts.isInOwnUserNamespace(process)
        }
    }

    private var entries: [Int32: Entry] = [:]
    private var sweepAt = 256
    /// How far up a descendant is looked for.
    private static let maximumGenerations = 64
    /// How long an allowed launch may take to become the app, in nanoseconds.
    private static let launchTime: UInt64 = 1_000_000_000

    /// - Parameter before: what the process is as long as its launch, which was allowed, has not become the app.
    mutating func admit(_ process: Int32, start: UInt64, app key: Int, before: State? = nil) {
        if let entry = entries[process], entry.start == start {
            entries[process]!.apps.insert(key)
            // It may be the app already, and start another program of it in its own place.
            if entry.before?.hasPassed(process) == false { entries[process]!.before = before }
            return
        }
        entries[process] = Entry(start: start, apps: [key], before: before)
        guard entries.count >= sweepAt else { return }
        entries = entries.filter { ProcessFacts.status($0.key)?.start == $0.value.start }
        sweepAt = max(256, entries.count * 2)
    }

    /// Whether the process, or one it descends from, was let into the app.
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

    /// Whether this very process was let into the app, and became it.
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
