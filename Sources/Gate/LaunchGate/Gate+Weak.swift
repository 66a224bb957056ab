import GateProtocol
import Glibc

/// The weak mode: a locked app is stopped just after it started; after the answer it continues or is killed. A few of
/// its instructions have run by then.
extension Gate {
    /// A watched file was opened. The kernel opens it before the process becomes the app, so the processes are searched
    /// after 0, 1, 3, 7, 15, 31, 63 ms and so on up to 2 s, for a busy machine.
    func noticeStarted() {
        guard startWatch?.read() == true else { return }
        latestSearch += 1
        lookForStarted(attempt: 0, search: latestSearch)
    }

    private static let attempts = 12

    /// Searches once, for processes that started before the watch was added: of these apps alone, because hundreds can
    /// be added one after another.
    func lookForStarted(before apps: [GuardedApp]) { stopStarted(of: apps.filter(\.isGuarded)) }

    func lookForStarted(attempt: Int, search: Int) {
        // A later search replaces the rest of this one.
        guard search == latestSearch else { return }
        stopStarted(of: apps.apps.values.filter(\.isGuarded))
        guard let pause = Self.pause(after: attempt) else { return }
        timetable.add(.lookForStarted(attempt: attempt + 1, search: search), after: pause)
    }

    /// In nanoseconds; nil after the last search.
    static func pause(after attempt: Int) -> UInt64? {
        attempt + 1 < attempts ? 1_000_000 << UInt64(attempt) : nil
    }

    private func stopStarted(of apps: [GuardedApp]) {
        forEachProcess(of: apps) { process, program, app in
            if process != daemon?.process { stop(process, program, of: app) }
        }
    }

    private func stop(_ process: Int32, _ file: FileIdentity, of app: GuardedApp) {
        guard !held.launches.values.contains(where: { $0.processes.contains(process) }) else { return }
        guard let handle = ProcessHandle(opening: process), let status = ProcessFacts.status(process),
            status.state != UInt8(ascii: "Z"), let users = ProcessFacts.users(process), handle.isAlive
        else { return }
        // Denied and killed, but not dead yet: no second prompt.
        if denied.contains(.init(process: process, start: status.start, file: file)) {
            handle.signal(SIGKILL)
            return
        }
        if admitted.covers(process, app: app.key) {
            admitted.admit(process, start: status.start, app: app.key)
            return
        }
        // Fails for another user's process if the gate is not root.
        guard handle.signal(SIGSTOP) else { return }
        if let launch = launch(of: app, above: status.parent) { return held.attach(handle, to: launch) }
        guard let daemon, daemon.isSynchronised else {
            handle.signal(SIGKILL)
            return
        }
        guard held.hasRoom(for: users.real, limit: maximumWaitingPerUser) else {
            handle.signal(SIGKILL)
            reportTooMany(by: users.real)
            return
        }
        let launch = held.newToken()
        let path = app.files[file] ?? ProcessFacts.link(process, "exe") ?? app.paths.first?.bytes ?? []
        let question = LaunchQuestion(
            launch: launch, app: app.token, process: process, parent: status.parent, user: users.real,
            loginUser: ProcessFacts.loginUser(process), deniedAtOnce: false, path: path)
        guard daemon.send(.launch(question)) else {
            handle.signal(SIGKILL)
            return
        }
        hold(
            PendingLaunch(
                app: app, process: process, user: users.real, file: file, deadline: Timetable.now + answerWithin,
                hold: .stopped([handle])),
            watching: handle, as: launch)
    }

    /// The held launch of an ancestor, of which a stopped process is then a part.
    private func launch(of app: GuardedApp, above parent: Int32) -> LaunchToken? {
        var process = parent
        for _ in 0..<16 where process > 1 {
            if let found = held.launches.first(where: { $0.value.app === app && $0.value.processes.contains(process) })
            {
                return found.key
            }
            process = ProcessFacts.status(process)?.parent ?? 0
        }
        return nil
    }
}
