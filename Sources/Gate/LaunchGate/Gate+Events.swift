import CLinux
import GateProtocol
import Glibc

/// Decisions of the gate itself, because the kernel is waiting: each function answers before it does anything that the
/// answer does not need.
extension Gate {
    /// Reads all events for which there is room, so that users do not wait for each other, and handles some of them.
    func readEvents() {
        guard let group else { return }
        while !events.isFull, group.readEvents({ enqueue($0) }) {}
    }

    /// A number that takes a few milliseconds: the daemon's answers are read in between.
    func handleQueued() {
        for _ in 0..<32 {
            guard let event = events.popFirst() else { return }
            handle(event)
        }
    }

    private func enqueue(_ event: PermissionEvent) {
        if event.process == ownProcess { return event.answer(allow: true) }
        // The daemon must not be held: the launches of all users wait for its answers.
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
            if !apps.isFormer(file) { unmark(event) }
        case .unknown:
            deny(event, file)
            guard isSynchronised else { return }
            report("denied process \(event.process): \(event.path.text) belongs to no known app")
        }
    }

    private func handleExecution(_ event: PermissionEvent, _ file: FileIdentity, of app: GuardedApp) {
        if admitted.covers(event.process, app: app.key) {
            return allow(event, file, of: app)
        }
        guard isSynchronised, let users = event.handle.users else { return deny(event, file) }
        if daemon?.unaskedUsers.contains(users.real) == true { return denyWithoutAsking(event, file, app, users) }
        if desktops.include(event.process, user: users.real) {
            guard execRequestBudget.take(users.real), hasRoomForReport else {
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

    /// A daemon that is slow to read is sent no more than its buffer holds; otherwise it would be disconnected.
    private var hasRoomForReport: Bool { (daemon?.unread ?? .max) < DaemonConnection.bufferBytes / 2 }

    /// Only the first ones of a burst are reported.
    func reportTooMany(by user: UInt32) {
        guard refusalBudget.take(user) else { return }
        send(.ended(held.newToken(), .tooManyWaiting))
    }

    /// The launcher has its answer before the daemon is notified.
    private func denyWithoutAsking(
        _ event: PermissionEvent, _ file: FileIdentity, _ app: GuardedApp, _ users: ProcessFacts.Users
    ) {
        deny(event, file)
        guard hasRoomForReport else { return reportTooMany(by: users.real) }
        send(.denied(question(event, app, users, deniedAtOnce: true)))
    }

    /// With a new token.
    func question(
        _ event: PermissionEvent, _ app: GuardedApp, _ users: ProcessFacts.Users, deniedAtOnce: Bool
    ) -> LaunchQuestion {
        LaunchQuestion(
            launch: held.newToken(), app: app.token, process: event.process, parent: users.parent, user: users.real,
            loginUser: ProcessFacts.loginUser(event.process), deniedAtOnce: deniedAtOnce, path: event.path)
    }

    private func ask(
        _ event: PermissionEvent, _ file: FileIdentity, _ app: GuardedApp, _ users: ProcessFacts.Users
    ) {
        let question = question(event, app, users, deniedAtOnce: false)
        guard daemon?.send(.launch(question)) == true else { return deny(event, file) }
        hold(
            PendingLaunch(
                app: app, process: event.process, user: users.real, file: file,
                deadline: Timetable.now + answerWithin, hold: .event(event)),
            watching: event.handle, as: question.launch)
    }

    private func handleOpening(_ event: PermissionEvent, _ file: FileIdentity) {
        if event.process == daemon?.process { return event.answer(allow: true) }
        let owner = owner(of: event, file)
        if case .guarded(let app) = owner, admitted.covers(event.process, app: app.key, opens: file) {
            return event.answer(allow: true)
        }
        if case .unguarded = owner {
            event.answer(allow: true)
            if !apps.isFormer(file) { unmark(event) }
            return
        }
        let users = event.handle.users
        // Root may read, for backups and package managers. A launch by root requires the passcode.
        if users?.effective == 0 { return event.answer(allow: true) }
        // Looked up before the answer: the process may end because of the refusal.
        let start = ProcessFacts.status(event.process)?.start
        event.answer(allow: false)
        guard let start, denied.note(.init(process: event.process, start: start, file: file)),
            case .guarded(let app) = owner,
            let users, let daemon, isSynchronised,
            daemon.unread < 1_000_000, refusalBudget.take(users.real)
        else { return }
        // Skipped if the daemon is slow to read, because launches need the buffer.
        _ = daemon.send(.readDenied(app.token, process: event.process, user: users.real, path: event.path))
    }

    /// Denies the event and records it, so that the next event of the same process is not reported again.
    func deny(_ event: PermissionEvent, _ file: FileIdentity) {
        event.answer(allow: false)
        guard let start = ProcessFacts.status(event.process)?.start else { return }
        _ = denied.note(.init(process: event.process, start: start, file: file))
    }

    /// Records an admitted process. The pidfd is checked after the start time was read: if the process had ended, the
    /// time could be that of another process.
    func admit(_ handle: ProcessHandle, to app: GuardedApp) {
        guard let status = ProcessFacts.status(handle.process), handle.isAlive else { return }
        admitted.admit(handle.process, start: status.start, app: app.key)
    }

    /// Removes a leftover mark of the event's file. Returns whether there was one.
    @discardableResult
    private func unmark(_ event: PermissionEvent) -> Bool {
        marks.overlayGuard?.remove(event.file)
        return group?.unmark(event) ?? false
    }

    private enum Owner {
        case guarded(GuardedApp)
        /// No guarded app owns it: a leftover mark, which is removed.
        case unguarded
        /// Unknown, or not known yet: denied.
        case unknown
    }

    private func owner(of event: PermissionEvent, _ file: FileIdentity) -> Owner {
        switch apps.owner(of: file) {
        case .guarded(let app): return .guarded(app)
        case .unguarded: return isSynchronised ? .unguarded : .unknown
        case .nobody: break
        }
        // The mark of a private directory reports executions only.
        let place = event.isExecution ? Place(of: event, file) : nil
        if let place {
            switch apps.owner(ofDirectory: place.directory) {
            case .guarded(let app): return .guarded(app)
            case .unguarded: return isSynchronised ? .unguarded : .unknown
            case .nobody: break
            }
        }
        guard isSynchronised, let group else { return .unknown }
        // No app owns the file. Allowed only if a leftover mark of an earlier run explains the event.
        if unmark(event) { return .unguarded }
        if let place, group.unmarkDirectory(place.descriptor) { return .unguarded }
        return .unknown
    }
}

/// The directory that contains an executed file.
private struct Place {
    let directory: FileIdentity
    let descriptor: Descriptor

    /// Looks in the gate's mount namespace and in that of the process. The directory must contain this file under this
    /// name. Nil if there is none, for example for a bind mount of a file.
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
