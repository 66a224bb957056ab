import ControlAPI
import DBus
import Foundation
import HubAPI
import Localization

/// Shows AppLocker's state and events in a desktop session and reports inactivity to the daemon. It holds no secret and
/// decides nothing.
actor DesktopAgent {
    /// The first pause after the daemon or a bus became unreachable; doubled with each failure.
    static let firstPause: Duration = .milliseconds(500)
    static let longestPause: Duration = .seconds(5)
    /// Longer for a bus: a missing one rarely appears during a session.
    static let longestBusPause: Duration = .seconds(600)
    /// After a connection of this length the pause starts from the beginning.
    private static let success: Duration = .seconds(10)

    private let connection: any SessionConnection
    private let programs: SessionPrograms
    private let captures: CaptureWatch
    private let sessionBus: DBusConnection.Address
    private let systemBus: DBusConnection.Address
    private(set) var choice: IdleChoice
    private let monitor: IdleMonitor
    private var session: SessionState?
    private var tray: TrayItem?
    private var notifications: NotificationServer?
    private var filter = NoticeFilter<DesktopNotification>()
    /// The app of each warning that it is closed, by the notification's key.
    private var closing: [String: String] = [:]
    private var releasing: Task<Void, Never>?
    private var capturing: Task<Void, Never>?
    private var lastProblem: [String: String] = [:]

    init(
        connection: any SessionConnection, programs: SessionPrograms, captures: CaptureWatch = CaptureWatch(),
        sessionBus: DBusConnection.Address = .session, systemBus: DBusConnection.Address = .system,
        lead: Duration = IdlePolicy.warningLead
    ) {
        self.sessionBus = sessionBus
        self.systemBus = systemBus
        self.connection = connection
        self.programs = programs
        self.captures = captures
        choice = IdleChoice(environment: programs.environment)
        monitor = IdleMonitor(lead: lead)
    }

    /// Serves until the task is cancelled.
    func run() async {
        await monitor.setReporter(
            .init(
                idle: { [weak self] in await self?.report($0) },
                warn: { [weak self] in await self?.warn($0) },
                withdrawWarning: { [weak self] in await self?.notifications?.withdraw("inactivity") },
                lost: { [weak self] in await self?.chooseIdleSource(after: $0) }))
        await chooseIdleSource()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keepTrying("the daemon") { try await self.serveDaemon() } }
            group.addTask {
                await self.keepTrying("the session bus", Self.longestBusPause) { try await self.serveSessionBus() }
            }
            group.addTask {
                await self.keepTrying("the system bus", Self.longestBusPause) { try await self.serveSystemBus() }
            }
        }
    }

    /// Runs work that should never end, and repeats it after a pause when it does.
    private func keepTrying(
        _ what: String, _ longest: Duration = DesktopAgent.longestPause, _ work: @Sendable () async throws -> Void
    ) async {
        var backoff = Backoff(first: Self.firstPause, longest: longest, jitter: 1...1)
        while !Task.isCancelled {
            let began = ContinuousClock.now
            do {
                try await work()
                note(what, "The connection ended.")
            } catch {
                note(what, error)
            }
            if began.duration(to: .now) > Self.success { backoff.succeeded() }
            try? await Task.sleep(for: backoff.next())
        }
    }

    private func note(_ what: String, _ error: any Error) { note(what, sentence(error)) }

    /// Writes one line to standard error whenever the error changes.
    private func note(_ what: String, _ sentence: String) {
        guard lastProblem[what] != sentence else { return }
        lastProblem[what] = sentence
        StandardError.write("applocker-agent: \(what): \(sentence)\n")
    }

    // MARK: The daemon

    private func serveDaemon() async throws {
        do {
            for try await event in try await connection.events() {
                switch event {
                case .ready: await monitor.report()
                case .state(let state): await update(state)
                case .notice(let notice): await offer(DesktopNotification(notice))
                case .closing(let notice):
                    let notification = DesktopNotification(notice)
                    closing[notification.key] = notice.app
                    await offer(notification)
                case .closingWithdrawn(let app): await withdrawWarning(DesktopNotification.closingKey(app: app))
                }
            }
        } catch {
            await disconnected()
            throw error
        }
        await disconnected()
    }

    /// A daemon that starts again sends the warnings that still apply, and has none of the others.
    private func disconnected() async {
        for key in Array(closing.keys) { await withdrawWarning(key) }
        await update(nil)
    }

    /// - Parameter state: nil while the daemon is unreachable. Apps may still be open then, so inactivity is still
    ///   watched.
    private func update(_ state: SessionState?) async {
        session = state
        await tray?.show(TrayState(state, means: programs.means))
        guard let state else { return }
        await monitor.update(state.inactivity)
        watchCaptures(state)
    }

    private func report(_ idle: IdleReport) async {
        do {
            try await connection.report(idle)
        } catch {
            // Reported again at the next connection, and every minute at the limit.
            note("reporting inactivity", error)
        }
    }

    private func lockNow() async {
        do {
            let notes = try await connection.lockAll()
            if !notes.isEmpty { await notifications?.show(.stillOpen(notes)) }
            if session?.vaultIsOpen == true { try await connection.lockVault() }
        } catch {
            note("locking", error)
            await notifications?.show(.failed(localized("Locking failed."), error))
        }
    }

    /// Locks an open vault while the screen is recorded, if the owner chose that.
    private func watchCaptures(_ state: SessionState) {
        guard state.locksOnCapture, state.vaultIsOpen else {
            capturing?.cancel()
            capturing = nil
            return
        }
        guard capturing == nil else { return }
        capturing = Task { [connection, captures] in
            for await found in captures.captures() where !found.isEmpty { try? await connection.lockVault() }
        }
    }

    // MARK: Notifications

    var showsNotifications: Bool { notifications != nil }

    private func offer(_ notification: DesktopNotification) async {
        if filter.admits(notification, for: notification.key, at: .now) {
            await notifications?.show(notification)
        } else {
            releaseLater()
        }
    }

    private func withdrawWarning(_ key: String) async {
        closing[key] = nil
        filter.drop(key)
        await notifications?.withdraw(key)
    }

    private func releaseLater() {
        guard releasing == nil, let release = filter.nextRelease else { return }
        releasing = Task {
            try? await Task.sleep(until: release, clock: .continuous)
            await self.release()
        }
    }

    private func release() async {
        releasing = nil
        for notification in filter.release(at: .now) { await notifications?.show(notification) }
        releaseLater()
    }

    private func warn(_ left: Duration) async {
        let seconds = Int((left / .seconds(1)).rounded())
        await notifications?.show(.inactivity(secondsLeft: max(1, seconds)))
    }

    private func act(_ action: DesktopNotification.Action, key: String) async {
        switch action {
        case .lockNow: await lockNow()
        case .keepOpen:
            guard let app = closing[key] else { return }
            do {
                try programs.keepOpen(app)
            } catch {
                note("the passcode prompt", error)
            }
        case .open: try? programs.openWindow()
        case .showLog: try? programs.showLog()
        }
    }

    // MARK: The buses

    private func serveSessionBus() async throws {
        let bus = try DBusConnection(sessionBus)
        do {
            try await serve(bus)
        } catch {
            await leaveSessionBus()
            throw error
        }
        await leaveSessionBus()
    }

    private func leaveSessionBus() async {
        choice.sessionBus = nil
        notifications = nil
        tray = nil
        await chooseIdleSource()
    }

    private func serve(_ bus: DBusConnection) async throws {
        let server = NotificationServer(bus, offered: programs.offeredActions) { [programs] in programs.icon($0) }
        choice.sessionBus = bus
        let buttons = try await server.subscribe()
        notifications = server
        let monitors = try await bus.owners(of: MutterIdle.name)
        await chooseIdleSource()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in monitors { await self.chooseIdleSource() } }
            group.addTask { try await server.serve(buttons) { await self.act($0, key: $1) } }
            group.addTask { await bus.untilEnd() }
            group.addTask { try await self.serveTray() }
            defer { group.cancelAll() }
            // The user may end the tray; everything else ends only with the bus.
            for try await _ in group where !bus.isOpen { return }
        }
    }

    private func serveTray() async throws {
        let bus = try DBusConnection(sessionBus)
        let tray = TrayItem(
            bus, state: TrayState(session, means: programs.means), iconDirectory: programs.iconDirectory,
            icon: { [programs] in programs.icon($0) })
        self.tray = tray
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await tray.serve() }
            group.addTask { for await command in tray.chosen { await self.do(command) } }
            defer { group.cancelAll() }
            try await group.next()
        }
        self.tray = nil
    }

    private func `do`(_ command: TrayState.Command) async {
        do {
            switch command {
            case .open: try programs.openWindow()
            case .lockAll: await lockNow()
            case .unlock: try programs.unlockAll()
            case .stop: try programs.stop()
            case .closeIcon: tray?.close()
            }
        } catch {
            note("the menu", error)
        }
    }

    private func serveSystemBus() async throws {
        let bus = try DBusConnection(systemBus)
        choice.systemBus = bus
        defer { choice.systemBus = nil }
        await chooseIdleSource()
        guard let path = try? await LogindIdle.path(bus, session: choice.session) else { return await bus.untilEnd() }
        for await _ in try await LogindIdle.changes(bus, path: path) {
            // A desktop may give its first hint only now.
            let kind = await monitor.kind
            if kind == .none || kind == .xscreensaver { await chooseIdleSource() }
        }
    }

    private func chooseIdleSource() async {
        let best = await choice.best()
        let kind = await monitor.kind
        guard best?.kind ?? .none != kind else { return }
        await monitor.use(best)
    }

    private func chooseIdleSource(after error: any Error) async {
        note("idle time", error)
        await monitor.use(await choice.best())
    }
}

extension DesktopNotification {
    /// - Parameter notes: the daemon's sentences about what it did not lock.
    static func stillOpen(_ notes: [String]) -> DesktopNotification {
        DesktopNotification(
            key: "still open", summary: localized("Not everything is locked"),
            body: ShownLine.plain(notes.map { localized(written: $0) }.joined(separator: " ")),
            icon: TrayState.Protection.unlocked.icon, urgency: .normal, actions: [], shown: nil)
    }

    static func failed(_ what: String, _ error: any Error) -> DesktopNotification {
        DesktopNotification(
            key: "failure", summary: what,
            body: ShownLine.plain(sentence(error)),
            icon: TrayState.Protection.degraded.icon, urgency: .normal, actions: [], shown: nil)
    }
}
