import Foundation
import MessageBus
import WireProtocol

/// Shows AppLocker's state and news in a desktop session and tells the daemon when nobody is there. It holds no secret
/// and decides nothing.
actor DesktopAgent {
    /// After the daemon or a bus went away; doubled with each failure.
    static let firstPause: Duration = .milliseconds(500)
    static let longestPause: Duration = .seconds(5)
    /// A bus that is not there will hardly come in a running session.
    static let longestBusPause: Duration = .seconds(600)
    /// What worked for so long is worth trying again at once.
    private static let success: Duration = .seconds(10)

    private let connection: any SessionConnection
    private let programs: SessionPrograms
    private let captures: CaptureWatch
    private let sessionBus: MessageBus.Address
    private let systemBus: MessageBus.Address
    private(set) var choice: IdleChoice
    private let keeper: IdleKeeper
    private var session: SessionState?
    private var tray: TrayItem?
    private var notifications: NotificationServer?
    private var filter = NoticeFilter<Notice>()
    private var releasing: Task<Void, Never>?
    private var capturing: Task<Void, Never>?
    /// By what it is about.
    private var lastTrouble: [String: String] = [:]

    init(
        connection: any SessionConnection, programs: SessionPrograms, captures: CaptureWatch = CaptureWatch(),
        sessionBus: MessageBus.Address = .session, systemBus: MessageBus.Address = .system,
        lead: Duration = IdlePolicy.warningLead
    ) {
        self.sessionBus = sessionBus
        self.systemBus = systemBus
        self.connection = connection
        self.programs = programs
        self.captures = captures
        choice = IdleChoice(environment: programs.environment)
        keeper = IdleKeeper(lead: lead)
    }

    /// Serves until the task is cancelled.
    func run() async {
        await keeper.tell(
            .init(
                idle: { [weak self] in await self?.report($0) },
                warn: { [weak self] in await self?.warn($0) },
                withdrawWarning: { [weak self] in await self?.notifications?.withdraw("inactivity") },
                lost: { [weak self] source, error in await self?.lose(source, error) }))
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

    /// Does something that should never end, and again after a pause when it does.
    private func keepTrying(
        _ what: String, _ longest: Duration = DesktopAgent.longestPause, _ work: @Sendable () async throws -> Void
    ) async {
        var pause = Self.firstPause
        while !Task.isCancelled {
            let began = ContinuousClock.now
            do {
                try await work()
                note(what, "The connection ended.")
            } catch {
                note(what, error)
            }
            if began.duration(to: .now) > Self.success { pause = Self.firstPause }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, longest)
        }
    }

    private func note(_ what: String, _ error: any Error) {
        note(what, (error as? ControlError)?.message ?? "\(error)")
    }

    /// One line on standard error each time something else is the matter than before.
    private func note(_ what: String, _ sentence: String) {
        guard lastTrouble[what] != sentence else { return }
        lastTrouble[what] = sentence
        StandardError.write("applocker-agent: \(what): \(sentence)\n")
    }

    // MARK: The daemon

    private func serveDaemon() async throws {
        do {
            for try await event in try await connection.events() {
                switch event {
                case .ready: await keeper.report()
                case .state(let state): await take(state)
                case .notice(let notice): await offer(notice)
                }
            }
        } catch {
            await take(nil)
            throw error
        }
        await take(nil)
    }

    /// - Parameter state: nil while the daemon is away. What was open may still be: the watch for inactivity goes on.
    private func take(_ state: SessionState?) async {
        session = state
        await tray?.show(TrayState(state, means: programs.means))
        guard let state else { return }
        await keeper.update(state.inactivity)
        watchCaptures(state)
    }

    private func report(_ idle: IdleReport) async {
        do {
            try await connection.report(idle)
        } catch {
            // Said again at the next connection, and at the limit every minute.
            note("reporting inactivity", error)
        }
    }

    private func lockNow() async {
        do {
            try await connection.lockAll()
            if session?.vaultIsOpen == true { try await connection.lockVault() }
        } catch {
            note("locking", error)
            await notifications?.show(.failed("Locking failed.", error))
        }
    }

    /// Where the owner wants it, an open vault is locked when the screen is recorded.
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

    private func offer(_ notice: Notice) async {
        let bubble = Bubble(notice)
        if filter.admits(notice, for: bubble.key, at: .now) {
            await notifications?.show(bubble)
        } else {
            releaseLater()
        }
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
        for notice in filter.release(at: .now) { await notifications?.show(Bubble(notice)) }
        releaseLater()
    }

    private func warn(_ left: Duration) async {
        let seconds = Int((left / .seconds(1)).rounded())
        await notifications?.show(.inactivity(secondsLeft: max(1, seconds)))
    }

    private func act(_ action: Bubble.Action) async {
        switch action {
        case .lockNow: await lockNow()
        case .showLog: try? programs.showLog()
        }
    }

    // MARK: The buses

    private func serveSessionBus() async throws {
        let bus = try MessageBus(sessionBus)
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

    private func serve(_ bus: MessageBus) async throws {
        let server = NotificationServer(bus, offered: programs.offeredActions) { [programs] in programs.icon($0) }
        choice.sessionBus = bus
        notifications = server
        let monitors = try await bus.owners(of: MutterIdle.name)
        await chooseIdleSource()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in monitors { await self.chooseIdleSource() } }
            group.addTask { try await server.serve { await self.act($0) } }
            group.addTask { await bus.untilEnd() }
            group.addTask { try await self.serveTray() }
            defer { group.cancelAll() }
            // The tray may end by the person's wish; everything else only with the bus.
            for try await _ in group where !bus.isOpen { return }
        }
    }

    private func serveTray() async throws {
        let bus = try MessageBus(sessionBus)
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
            case .lockAll: await lockNow()
            case .unlock: try programs.unlockAll()
            case .stop: try programs.stop()
            case .openPanel: break
            case .closeIcon: tray?.close()
            }
        } catch {
            note("the menu", error)
        }
    }

    private func serveSystemBus() async throws {
        let bus = try MessageBus(systemBus)
        choice.systemBus = bus
        defer { choice.systemBus = nil }
        await chooseIdleSource()
        guard let path = try? await LogindIdle.path(bus, session: choice.session) else { return await bus.untilEnd() }
        for await _ in try await LogindIdle.changes(bus, path: path) {
            // The first hint of a desktop that had never given one.
            let kind = await keeper.kind
            if kind == .none || kind == .xscreensaver { await chooseIdleSource() }
        }
    }

    private func chooseIdleSource() async {
        let best = await choice.best()
        let kind = await keeper.kind
        guard best?.kind ?? .none != kind else { return }
        await keeper.use(best)
    }

    private func lose(_ source: any IdleSource, _ error: any Error) async {
        note("idle time", error)
        await keeper.use(await choice.best())
    }
}

extension Bubble {
    static func failed(_ what: String, _ error: any Error) -> Bubble {
        Bubble(
            key: "failure", summary: what,
            body: ShownLine.plain((error as? ControlError)?.message ?? "\(error)"),
            icon: TrayState.Protection.degraded.icon, urgency: .normal, actions: [], shown: nil)
    }
}
