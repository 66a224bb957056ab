import GateProtocol
import Glibc

/// The running processes of an app.
extension Gate {
    /// The time between SIGTERM and SIGKILL in nanoseconds.
    private static let closeGrace: UInt64 = 10_000_000_000
    /// The interval at which frozen processes are stopped again, in nanoseconds.
    private static let freezeInterval: UInt64 = 500_000_000

    /// Admits running processes that were admitted before or started before the lock. Only the executable that the
    /// kernel reports counts, because a process can change its command line. A process in another user namespace can
    /// change its executable's link, so it is not admitted: what it starts causes a prompt.
    func admitRunning(_ apps: [GuardedApp]) {
        let waiting = Set(held.launches.values.flatMap(\.processes))
        forEachProcess(of: apps) { process, _, app in
            guard !waiting.contains(process), let handle = ProcessHandle(opening: process),
                let status = ProcessFacts.status(process),
                group == nil || ProcessFacts.isInOwnUserNamespace(process), handle.isAlive
            else { return }
            // Left stopped by a gate that died before the answer.
            if group == nil && status.state == UInt8(ascii: "T") { return }
            admitted.admit(process, start: status.start, app: app.key)
        }
        if group == nil { lookForStarted(before: apps) }
    }

    /// Calls `body` with each process that runs one of these apps, and its executable. Scripts count in the weak mode
    /// only, which can't verify that a process runs one.
    func forEachProcess(of apps: [GuardedApp], _ body: (Int32, FileIdentity, GuardedApp) -> Void) {
        guard !apps.isEmpty else { return }
        for process in ProcessFacts.all() where process != ownProcess {
            guard let program = ProcessFacts.executable(process) else { continue }
            let name = group == nil ? ProcessFacts.status(process)?.name : nil
            for app in apps {
                let isScript = name.map { AppScript.runs(process, name: $0, app) } ?? false
                if isScript || app.runs(process, program) { body(process, program, app) }
            }
        }
    }

    /// Performs an order.
    /// - Returns: the number of processes that it reached.
    func instances(of app: GuardedApp, _ order: InstanceOrder) -> UInt32 {
        let processes = running(app)
        switch order {
        case .freeze:
            for process in processes { process.signal(SIGSTOP) }
            if frozen.insert(app.key).inserted {
                timetable.add(.keepFrozen(app: app.key), after: Self.freezeInterval)
            }
        case .thaw:
            frozen.remove(app.key)
            for process in processes { process.signal(SIGCONT) }
        case .close:
            frozen.remove(app.key)
            for process in processes {
                process.signal(SIGTERM)
                process.signal(SIGCONT)
            }
            // None of them may start another process that would not be ended.
            admitted.forget(app: app.key)
            if !processes.isEmpty { timetable.add(.insist(app: app.key, processes), after: Self.closeGrace) }
        }
        return UInt32(processes.count)
    }

    /// Ends the processes that received SIGTERM, and those that they have started since. Processes that were admitted
    /// since then are kept.
    func insist(_ key: Int, _ processes: [RunningProcess]) {
        for process in processes { process.signal(SIGKILL) }
        guard let app = apps.apps[key], app.isGuarded else { return }
        for process in running(app) where !admitted.covers(process.process, app: key) { process.signal(SIGKILL) }
    }

    /// A user may continue their own processes with SIGCONT; while the app is frozen they are stopped again.
    func keepFrozen(_ key: Int) {
        guard frozen.contains(key), let app = apps.apps[key] else { return }
        for process in running(app) where ProcessFacts.status(process.process)?.state != UInt8(ascii: "T") {
            process.signal(SIGSTOP)
        }
        timetable.add(.keepFrozen(app: key), after: Self.freezeInterval)
    }

    /// Processes that run the app's programs or scripts, admitted processes, and their forks that have not executed
    /// another program.
    private func running(_ app: GuardedApp) -> [RunningProcess] {
        let waiting = Set(held.launches.values.flatMap(\.processes))
        var facts: [Int32: (status: ProcessFacts.Status, program: FileIdentity)] = [:]
        for process in ProcessFacts.all() where process != ownProcess && !waiting.contains(process) {
            guard let status = ProcessFacts.status(process), let program = ProcessFacts.executable(process) else {
                continue
            }
            facts[process] = (status, program)
        }
        var found = Set(
            facts.filter { process, fact in
                admitted.contains(process, fact.status, app: app.key) || app.runs(process, fact.program)
                    || AppScript.runs(process, name: fact.status.name, app)
            }.keys)
        var grew = true
        while grew {
            grew = false
            for (process, fact) in facts where !found.contains(process) {
                guard found.contains(fact.status.parent), facts[fact.status.parent]?.program == fact.program else {
                    continue
                }
                found.insert(process)
                grew = true
            }
        }
        return found.sorted().compactMap { process in
            facts[process].map { RunningProcess(process: process, start: $0.status.start) }
        }
    }
}

/// A process by pid and start time. No descriptor is kept: an app can have more processes than the gate may have
/// descriptors.
struct RunningProcess {
    var process: Int32
    /// Clock ticks after boot.
    var start: UInt64

    func signal(_ number: Int32) {
        guard let handle = ProcessHandle(opening: process), ProcessFacts.status(process)?.start == start else { return }
        handle.signal(number)
    }
}

extension GuardedApp {
    /// Whether `program` is one of the app's executables or is in one of its private directories.
    func runs(_ process: Int32, _ program: FileIdentity) -> Bool {
        if files[program] != nil || formerFiles.contains(program) { return true }
        guard !directories.isEmpty, let path = ProcessFacts.link(process, "exe"),
            paths.contains(where: { $0.kind == .privateDirectory && path.isBelow($0.bytes) })
        else { return false }
        // The link's path is of the process' mount namespace; only the gate's own namespace counts.
        return FileIdentity(following: path) == program
    }
}

/// A script that the kernel started through its "#!" line: an interpreter runs with the script's path as its first or
/// second argument, and the script's name is the process' name.
enum AppScript {
    /// A process can imitate this, so it is used to stop processes, and never alone to admit one.
    static func runs(_ process: Int32, name: [UInt8], _ app: GuardedApp) -> Bool {
        let candidates = app.paths.filter { path in
            guard path.kind == .executable, let (_, file) = path.bytes.directoryAndName else { return false }
            return Array(file.prefix(15)) == name
        }
        guard !candidates.isEmpty else { return false }
        let arguments = ProcessFacts.arguments(process, limit: 4)
        return arguments.dropFirst().prefix(2).contains { argument in candidates.contains { $0.bytes == argument } }
    }

    /// Whether the process is named like its first or second argument's file, whatever path led there. A process can
    /// imitate this too; but the environment controls what the interpreter of an allowed script does in any case.
    static func isInterpreted(_ process: Int32, name: [UInt8]) -> Bool {
        ProcessFacts.arguments(process, limit: 4).dropFirst().prefix(2).contains { argument in
            let file = argument.split(separator: UInt8(ascii: "/")).last ?? []
            return !file.isEmpty && Array(file.prefix(15)) == name
        }
    }
}
