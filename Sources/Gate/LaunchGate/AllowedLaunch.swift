import CLinux

/// A process in an allowed execve, which may still fail: by a bad argument, or because another of its threads executes
/// a program first. A launch can need several permissions: for a script and for its interpreter.
final class AllowedLaunch {
    let app: GuardedApp
    /// On the clock of `Timetable`.
    let since = Timetable.now
    private let file: FileIdentity
    private let isScript: Bool
    private let earlierProgram: FileIdentity?
    private let hadOnlyForked: Bool
    private var hasBecomeApp = false

    /// Must be created before the kernel is answered: afterwards the process may already be the app.
    init(_ event: PermissionEvent, _ file: FileIdentity, of app: GuardedApp, _ status: ProcessFacts.Status) {
        self.app = app
        self.file = file
        isScript = clinux_may_be_script(event.file)
        earlierProgram = ProcessFacts.executable(event.process)
        hadOnlyForked = status.hasOnlyForked
    }

    /// Whether the process was seen to run the app since. It may execute another program afterwards, as a launcher
    /// does.
    ///
    /// That it has executed *some* program is shown by PF_FORKNOEXEC, which can't be set again, or by another
    /// executable, whose link a process in its own user namespace can change.
    ///
    /// - Parameter opens: the file that the process is opening. An interpreter opens the script that it runs.
    func hasBecomeApp(_ process: Int32, _ status: ProcessFacts.Status, opens: FileIdentity? = nil) -> Bool {
        guard !hasBecomeApp else { return true }
        guard let program = ProcessFacts.executable(process) else { return false }
        if hadOnlyForked {
            guard !status.hasOnlyForked else { return false }
        } else {
            guard let earlierProgram, program != earlierProgram, ProcessFacts.isInOwnUserNamespace(process) else {
                return false
            }
        }
        hasBecomeApp =
            program == file || app.runs(process, program)
            || (isScript && (opens == file || AppScript.isInterpreted(process, name: status.name)))
        return hasBecomeApp
    }
}

extension Gate {
    /// Allows a launch and admits its process.
    func allow(_ event: PermissionEvent, _ file: FileIdentity, of app: GuardedApp) {
        guard let status = ProcessFacts.status(event.process) else { return event.answer(allow: true) }
        let launch = AllowedLaunch(event, file, of: app, status)
        guard event.handle.isAlive else { return event.answer(allow: true) }
        admitted.admit(event.process, start: status.start, app: app.key, launch: launch)
        event.answer(allow: true)
        confirm(launch, of: event.process, start: status.start, attempt: 0)
    }

    private static let attempts = 17
    /// For all processes together. Launches beyond it are looked at when their process needs the admission.
    private static let maximumConfirmations = 512

    /// Looks after 0, 0.25, 0.75, 1.75 ms and so on up to half a minute whether the process has become the app: a
    /// launcher soon executes another program, and a busy computer needs long.
    func confirm(_ launch: AllowedLaunch, of process: Int32, start: UInt64, attempt: Int) {
        guard let status = ProcessFacts.status(process), status.start == start, !launch.hasBecomeApp(process, status)
        else { return }
        guard attempt < Self.attempts else { return admitted.forget(launch, of: process) }
        guard confirmations < Self.maximumConfirmations else { return }
        confirmations += 1
        timetable.add(
            .confirm(launch, process: process, start: start, attempt: attempt + 1), after: 250_000 << UInt64(attempt))
    }
}
