import CLinux
import GateProtocol
import Glibc

/// What the gate decides by itself, because the kernel waits: in each function the answer comes before anything that
/// is not needed for it.
extension Gate {
    /// Reads everything there is room for, so that nobody waits behind what another user does, and then handles some.
    func readEvents() {
        guard let group else { return }
        while !events.isFull, group.readEvents({ enqueue($0) }) {}
    }

    /// As many as take some milliseconds: the daemon's answers are read in between.
    func handleQueued() {
        for _ in 0..<32 {
            guard let event = events.popFirst() else { return }
            handle(event)
        }
    }

    private func enqueue(_ event: PermissionEvent) {
        if event.process == ownProcess { return event.answer(allow: true) }
        // Launches of all users wait for the daemon's reading.
        if event.process == daemon?.process { return handle(event) }
        guard let user = event.handle.users?.real else { return event.answer(allow: false) }
        guard events.append(event, of: user) else {
            event.answer(allow: false)
            return reportTooMany(by: user)
        }
    }

    private func handle(_ event: PermissionEvent) {
        guard let file = FileIdentity(descriptor: event.file) else { return event.answer(allow: false) }
        if event.isExecution {
            handleExecution(event, file)
        } else {
            handleOpening(event, file)
        }
    }

    private var isSynchronised: Bool { daemon?.isSynchronised ?? false }

    private func handleExecution(_ event: PermissionEvent, _ file: FileIdentity) {
        switch owner(of: event, file) {
        case .guarded(let app): handleExecution(event, file, of: app)
        case .unguarded:
            event.answer(allow: true)
            _ = group?.unmark(event)
        case .unknown:
            deny(event, file)
            guard isSynchronised else { return }
            report("denied process \(event.process): \(event.path.text) belongs to no known app")
        }
    }

    private func handleExecution(_ event: PermissionEvent, _ file: FileIdentity, of app: GuardedApp) {
        if admitted.covers(event.process, app: app.key) {
            // Looked up while it waits: afterwards it may be the app already.
            admit(event.handle, to: app, isLaunching: true)
            event.answer(allow: true)
            return
        }
        guard isSynchronised, let users = event.handle.users else { return deny(event, file) }
        if desktops.include(event.process, user: users.real) {
            guard execRequestBudget.take(users.real), hasRoomForExecRequest else {
                deny(event, file)
                return reportTooMany(by: users.real)
            }
            return denyAndKeepExecRequest(event, file, app, users)
        }
        guard held.hasRoom(for: users.real, limit: maximumWaitingPerUser) else {
            deny(event, file)
            return reportTooMany(by: users.real)
        }
        ask(event, file, app, users)
    }

    /// A daemon that is behind is not sent more than it can take: it would be cut off.
    private var hasRoomForExecRequest: Bool { (daemon?.unread ?? .max) < DaemonConnection.bufferBytes / 2 }

    /// The first of them in a while stand for the rest.
    func reportTooMany(by user: UInt32) {
        guard refusalBudget.take(user) else { return }
        send(.ended(held.newToken(), .tooManyWaiting))
    }

    private func ask(
        _ event: PermissionEvent, _ file: FileIdentity, _ app: GuardedApp, _ users: ProcessFacts.Users
    ) {
        let launch = held.newToken()
        let question = LaunchQuestion(
            launch: launch, app: app.token, process: event.process, parent: users.parent, user: users.real,
            loginUser: ProcessFacts.loginUser(event.process), deniedAtOnce: false, path: event.path)
        guard daemon?.send(.launch(question)) == true else { return deny(event, file) }
        hold(
            HeldLaunch(
                app: app, process: event.process, user: users.real, file: file,
                deadline: Timetable.now + answerWithin, hold: .event(event)),
            watching: event.handle, as: launch)
    }

    private func handleOpening(_ event: PermissionEvent, _ file: FileIdentity) {
        if event.process == daemon?.process { return event.answer(allow: true) }
        let owner = owner(of: event, file)
        if case .guarded(let app) = owner, admitted.covers(event.process, app: app.key) {
            return event.answer(allow: true)
        }
        if case .unguarded = owner {
            event.answer(allow: true)
            _ = group?.unmark(event)
            return
        }
        let users = event.handle.users
        // Root may read: a backup, the package manager. Root who starts the app is asked like anybody.
        if users?.effective == 0 { return event.answer(allow: true) }
        // Looked up while it waits: it may end over the refusal.
        let start = ProcessFacts.status(event.process)?.start
        event.answer(allow: false)
        guard let start, denied.note(.init(process: event.process, start: start, file: file)),
            case .guarded(let app) = owner,
            let users, let daemon, isSynchronised,
            daemon.unread < 1_000_000, refusalBudget.take(users.real)
        else { return }
        // Left out where the daemon is behind: launches need the room.
        _ = daemon.send(.readDenied(app.token, process: event.process, user: users.real, path: event.path))
    }

    /// Denies and remembers it, so that what the same process opens next is not reported again.
    func deny(_ event: PermissionEvent, _ file: FileIdentity) {
        event.answer(allow: false)
        guard let start = ProcessFacts.status(event.process)?.start else { return }
        _ = denied.note(.init(process: event.process, start: start, file: file))
    }

    /// Remembers a process that was let in. Its number is checked after its start time was read: had it ended
    /// meanwhile, the time could be another's.
    ///
    /// - Parameter isLaunching: it waits in execve, which may fail yet: the process would stay what it is.
    func admit(_ handle: ProcessHandle, to app: GuardedApp, isLaunching: Bool = false) {
        guard let status = ProcessFacts.status(handle.process) else { return }
        let before = isLaunching ? AdmittedProcesses.State(of: handle.process, status) : nil
        guard handle.isAlive else { return }
        admitted.admit(handle.process, start: status.start, app: app.key, before: before)
    }

    private enum Owner {
        case guarded(GuardedApp)
        /// No guarded app has it: a mark left over from before, to be taken off.
        case unguarded
        /// It can't be told, or it is too early to tell: denied.
        case unknown
    }

    private func owner(of event: PermissionEvent, _ file: FileIdentity) -> Owner {
        switch apps.owner(of: file) {
        case .guarded(let app): return .guarded(app)
        case .unguarded: return isSynchronised ? .unguarded : .unknown
        case .nobody: break
        }
        // A private directory has a mark for execution only.
        let place = event.isExecution ? Place(of: event, file) : nil
        if let place {
            switch apps.owner(ofDirectory: place.directory) {
            case .guarded(let app): return .guarded(app)
            case .unguarded: return isSynchronised ? .unguarded : .unknown
            case .nobody: break
            }
        }
        guard isSynchronised, let group else { return .unknown }
        // Nobody has it. It is only let go where a mark of an earlier run is found that explains the event.
        if group.unmark(event) { return .unguarded }
        if let place, group.unmarkDirectory(place.descriptor) { return .unguarded }
        return .unknown
    }
}

/// The directory that an executed file lies in.
private struct Place {
    let directory: FileIdentity
    let descriptor: Descriptor

    /// Looks in the gate's own mount namespace and in the process'. Only a directory that has this very file under
    /// this name counts. Nil where there is none: a file bound over another, for one.
    init?(of event: PermissionEvent, _ file: FileIdentity) {
        guard let (directory, name) = event.path.directoryAndName else { return nil }
        for base in [[], ProcessFacts.path(event.process, "root")] {
            let number = (base + directory).withTerminator { clinux_open_directory_path($0) }
            guard number >= 0 else { continue }
            let descriptor = Descriptor(number)
            guard FileIdentity(named: name, in: number) == file, let identity = FileIdentity(descriptor: number)
            else { continue }
            self.directory = identity
            self.descriptor = descriptor
            return
        }
        return nil
    }
}
