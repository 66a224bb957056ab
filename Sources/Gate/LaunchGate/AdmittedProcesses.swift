import Glibc

/// Processes that may start an app's programs while they live, or until the app's instances are ended: launches that
/// were allowed, instances that were already running, and their descendants.
///
/// No descriptor is kept for them. A reused pid is detected by its start time, and ended processes are removed when the
/// table has doubled.
struct AdmittedProcesses {
    private struct Entry {
        var start: UInt64
        var apps: [Int: Admission]
    }

    private enum Admission {
        case complete
        case launching(AllowedLaunch)
    }

    private var entries: [Int32: Entry] = [:]
    private var sweepAt = 256
    /// The number of ancestors that are checked.
    private static let maximumGenerations = 64
    /// The time for an allowed launch to become the app, in nanoseconds.
    private static let launchTime: UInt64 = 1_000_000_000

    /// - Parameter launch: the process counts only until `launchTime` has passed, unless it has become the app.
    mutating func admit(_ process: Int32, start: UInt64, app key: Int, launch: AllowedLaunch? = nil) {
        let admission = launch.map { Admission.launching($0) } ?? .complete
        if let entry = entries[process], entry.start == start {
            // The process may be the app already, and execute another of its programs.
            if launch != nil, let earlier = entry.apps[key], Self.isComplete(earlier, process) { return }
            entries[process]!.apps[key] = admission
            return
        }
        entries[process] = Entry(start: start, apps: [key: admission])
        guard entries.count >= sweepAt else { return }
        entries = entries.filter { ProcessFacts.status($0.key)?.start == $0.value.start }
        sweepAt = max(256, entries.count * 2)
    }

    private static func isComplete(_ admission: Admission, _ process: Int32) -> Bool {
        guard case .launching(let launch) = admission else { return true }
        return ProcessFacts.status(process).map { launch.hasBecomeApp(process, $0) } ?? false
    }

    /// Whether the process or an ancestor was admitted to the app.
    ///
    /// - Parameter opens: the file that the process is opening. It completes the allowed launch of a script, whose process
    ///   may execute another program before it is looked at again.
    func covers(_ process: Int32, app key: Int, opens: FileIdentity? = nil) -> Bool {
        guard !entries.isEmpty else { return false }
        var (process, opens) = (process, opens)
        var youngest = UInt64.max
        for _ in 0..<Self.maximumGenerations {
            guard let status = ProcessFacts.status(process), status.start <= youngest else { return false }
            if contains(process, status, app: key, opens: opens) { return true }
            guard status.parent > 1 else { return false }
            youngest = status.start
            (process, opens) = (status.parent, nil)
        }
        return false
    }

    /// Whether this process itself was admitted to the app and has executed it.
    func contains(
        _ process: Int32, _ status: ProcessFacts.Status, app key: Int, opens: FileIdentity? = nil
    ) -> Bool {
        guard let entry = entries[process], entry.start == status.start, let admission = entry.apps[key] else {
            return false
        }
        guard case .launching(let launch) = admission else { return true }
        return launch.hasBecomeApp(process, status, opens: opens) || Timetable.now - launch.since < Self.launchTime
    }

    /// Removes an allowed launch that has not become the app. No effect if the process has a later one.
    mutating func forget(_ launch: AllowedLaunch, of process: Int32) {
        let key = launch.app.key
        guard case .launching(let current)? = entries[process]?.apps[key], current === launch else { return }
        entries[process]!.apps[key] = nil
        if entries[process]!.apps.isEmpty { entries[process] = nil }
    }

    mutating func forget(app key: Int) {
        for process in entries.keys { entries[process]!.apps[key] = nil }
        entries = entries.filter { !$0.value.apps.isEmpty }
    }

    var count: Int { entries.count }
}
