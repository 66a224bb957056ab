import ControlAPI
import DBus
import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

/// A simulated daemon.
final class ScriptedSession: SessionConnection {
    typealias Events = AsyncThrowingStream<SessionEvent, any Error>

    private let stream = Mutex<Events.Continuation?>(nil)
    let calls = Mutex<[String]>([])
    let reports = Mutex<[IdleReport]>([])
    let isThere = Atomic(true)
    /// The daemon's sentences after "lock all".
    let notes = Mutex<[String]>([])

    func events() async throws -> any AsyncSequence<SessionEvent, any Error> & Sendable {
        guard isThere.load(ordering: .relaxed) else { throw IdleSourceUnavailable(description: "no daemon listens") }
        let (events, continuation) = Events.makeStream()
        stream.withLock { $0 = continuation }
        continuation.yield(.ready)
        return events
    }

    func report(_ idle: IdleReport) async throws { reports.withLock { $0.append(idle) } }
    func lockAll() async throws -> [String] {
        calls.withLock { $0.append("lock all") }
        return notes.withLock { $0 }
    }

    func lockVault() async throws { calls.withLock { $0.append("lock vault") } }

    var isConnected: Bool { stream.withLock { $0 != nil } }

    func send(_ event: SessionEvent) { _ = stream.withLock { $0?.yield(event) } }

    func end() {
        stream.withLock {
            $0?.finish()
            $0 = nil
        }
    }
}

@Suite(.requires(.program("dbus-daemon"))) struct DesktopAgentTests {
    private func agent(_ session: PrivateSessionBus, _ daemon: ScriptedSession, lead: Duration = .milliseconds(500))
        -> DesktopAgent
    {
        DesktopAgent(
            connection: daemon,
            programs: SessionPrograms(environment: [:], socket: nil, directory: session.directory.path),
            captures: CaptureWatch(user: 12_345, address: .address(session.address)),
            sessionBus: .address(session.address), systemBus: .address("unix:path=/nowhere"), lead: lead)
    }

    private func iconName(_ watcher: MockWatcher) async throws -> String? {
        guard let name = watcher.registered.last else { return nil }
        return try await watcher.bus.property(name, TrayItem.path, TrayItem.interface, "IconName").text
    }

    @Test func theTrayFollowsTheDaemonAndItsAbsenceIsDegraded() async throws {
        let session = try await PrivateSessionBus()
        let watcher = try await MockWatcher(on: session)
        let daemon = ScriptedSession()
        let agent = agent(session, daemon)
        let running = Task { await agent.run() }
        defer { running.cancel() }
        await eventually("it is connected") { daemon.isConnected }
        daemon.send(.state(.sample(.locked)))
        await eventually("the icon shows locked") {
            try await iconName(watcher) == "applocker-locked-symbolic"
        }
        daemon.send(.state(.sample(.unlocked, unlockedApps: 1)))
        await eventually("the icon shows unlocked") {
            try await iconName(watcher) == "applocker-unlocked-symbolic"
        }
        daemon.isThere.store(false, ordering: .relaxed)
        daemon.end()
        await eventually("the icon shows degraded") {
            try await iconName(watcher) == "applocker-degraded-symbolic"
        }
        daemon.isThere.store(true, ordering: .relaxed)
        await eventually("it connects again") { daemon.isConnected }
        daemon.send(.state(.sample(.locked)))
        await eventually("the icon shows locked") {
            try await iconName(watcher) == "applocker-locked-symbolic"
        }
    }

    @Test func aBurstOfNoticesShowsTheFirstAndTheLast() async throws {
        let session = try await PrivateSessionBus()
        let server = try await MockNotifications(on: session, capabilities: ["body", "actions"])
        let daemon = ScriptedSession()
        let agent = agent(session, daemon)
        let running = Task { await agent.run() }
        defer { running.cancel() }
        await eventually("it is connected") { daemon.isConnected }
        await eventually("the notification server is found") { await agent.showsNotifications }
        let began = ContinuousClock.now
        for _ in 0..<50 { daemon.send(.notice(.sample(.blocked))) }
        daemon.send(.notice(.sample(.unlocked)))
        await eventually("the last is shown: \(server.summaries)") { server.summaries.last == "Firefox is unlocked" }
        let pauses = Int(began.duration(to: .now) / NoticeFilter<DesktopNotification>.pause)
        #expect(server.summaries.first == "Firefox was blocked")
        // Two, unless the agent was suspended for longer than a pause while they arrived.
        #expect((2...max(2, 1 + pauses)).contains(server.summaries.count), "\(server.summaries)")
        // Each replaces the one before it and has its number.
        try await server.invoke(101, "lock-now")
        await eventually("the button locks") { daemon.calls.withLock { $0 == ["lock all"] } }
    }

    @Test func theButtonOfAClosingAppsWarningStartsThePasscodePromptForIt() async throws {
        let session = try await PrivateSessionBus()
        let server = try await MockNotifications(on: session, capabilities: ["body", "actions"])
        let daemon = ScriptedSession()
        // Stands for the prompt's program; the agent starts it by its name.
        let started = session.directory.path("started")
        let script = session.directory.path("applocker-prompt")
        try Data("#!/bin/sh\necho \"$@\" >> '\(started)'\n".utf8).write(to: URL(fileURLWithPath: script))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        let agent = agent(session, daemon)
        let running = Task { await agent.run() }
        defer { running.cancel() }
        await eventually("it is connected") { daemon.isConnected }
        await eventually("the notification server is found") { await agent.showsNotifications }
        for app in ["gimp", "firefox"] {
            daemon.send(.closing(ClosingNotice(app: app, appName: app.capitalized, secondsLeft: 60)))
        }
        await eventually("both are shown") { server.summaries.count == 2 }
        #expect(server.summaries == ["Gimp closes in 60 s", "Firefox closes in 60 s"])
        let shown = try #require(server.calls["Notify"].last)
        #expect(shown[5].elements?.compactMap(\.text) == ["keep-open", "Keep 5 Minutes"])
        #expect(shown[7].integer == 60_000)
        try await server.invoke(102, "keep-open")
        await eventually("the prompt is started for this app") {
            try String(contentsOfFile: started, encoding: .utf8) == "--keep-open=firefox\n"
        }
        #expect(daemon.calls.withLock { $0.isEmpty }, "the agent itself changes nothing")
        daemon.send(.notice(.sample(.wrongPasscode)))
        await eventually("a notification of its own") { server.summaries.count == 3 }
        #expect(server.calls["Notify"].last?[1].integer == 0, "it replaces none")
        #expect(server.calls["CloseNotification"].isEmpty)
        daemon.send(.closingWithdrawn(app: "firefox"))
        await eventually("the warning is closed") { server.calls["CloseNotification"].count == 1 }
        #expect(server.calls["CloseNotification"].first?[0].integer == 102)
        daemon.end()
        await eventually("without the daemon the other one is closed too") {
            server.calls["CloseNotification"].count == 2
        }
        #expect(server.calls["CloseNotification"].last?[0].integer == 101)
    }

    @Test func whatLockNowLeavesOpenIsShown() async throws {
        let session = try await PrivateSessionBus()
        let server = try await MockNotifications(on: session, capabilities: ["body", "actions"])
        let daemon = ScriptedSession()
        daemon.notes.withLock { $0 = ["Unlocked for another user and still open: Firefox."] }
        let agent = agent(session, daemon)
        let running = Task { await agent.run() }
        defer { running.cancel() }
        await eventually("the notification server is found") { await agent.showsNotifications }
        await eventually("it is connected") { daemon.isConnected }
        daemon.send(.notice(.sample(.unlocked)))
        await eventually("the notice is shown") { !server.summaries.isEmpty }
        try await server.invoke(101, "lock-now")
        await eventually("the button locks") { daemon.calls.withLock { $0 == ["lock all"] } }
        await eventually("the note is shown") { server.summaries.last == "Not everything is locked" }
        #expect(server.calls["Notify"].last?[4].text == "Unlocked for another user and still open: Firefox.")
    }

    @Test func inactivityCausesAWarningAndAReport() async throws {
        let session = try await PrivateSessionBus()
        let server = try await MockNotifications(on: session, capabilities: ["body"])
        let mutter = try await MockMutter(on: session)
        let daemon = ScriptedSession()
        let agent = agent(session, daemon)
        let running = Task { await agent.run() }
        defer { running.cancel() }
        await eventually("the source is reported") { daemon.reports.withLock { $0.last?.source } == .mutter }
        daemon.send(.state(.sample(.unlocked, limitSeconds: 1, isArmed: true)))
        await eventually("it sets a watch") { mutter.calls["AddIdleWatch"].count == 1 }
        #expect(mutter.calls["AddIdleWatch"][0][0].integer == 500)
        // No input: the compositor reports it, and continues to count.
        // Real time is what is tested: inactivity also counts from when something was opened.
        try await Task.sleep(for: .milliseconds(600))
        mutter.idleMilliseconds.withLock { $0 = 600 }
        await eventually("it asks for the idle time") { mutter.calls["GetIdletime"].count > 2 }
        try await mutter.fire(1)
        await eventually("the warning") { server.summaries.contains { $0.hasPrefix("AppLocker locks in") } }
        mutter.idleMilliseconds.withLock { $0 = 1_100 }
        await eventually("the limit") {
            daemon.reports.withLock { $0.contains(IdleReport(source: .mutter, idleSeconds: 1)) }
        }
        await eventually("the warning is withdrawn") { server.calls["CloseNotification"].count == 1 }
    }

    @Test func anOpenVaultIsLockedDuringARecordingIfTheOwnerTurnedItOn() async throws {
        let session = try await PrivateSessionBus()
        let server = try await MockNotifications(on: session, capabilities: ["body"])
        let daemon = ScriptedSession()
        // A recorder is detected by its executable: a copy under its name.
        let recorder = session.directory.path("wf-recorder")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: session.directory.path)
        try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: recorder)
        let captures = CaptureWatch(user: getuid(), address: .address(session.address))
        let agent = DesktopAgent(
            connection: daemon,
            programs: SessionPrograms(environment: [:], socket: nil, directory: session.directory.path),
            captures: captures,
            sessionBus: .address(session.address), systemBus: .address("unix:path=/nowhere"))
        let running = Task { await agent.run() }
        defer { running.cancel() }
        await eventually("it is connected") { daemon.isConnected }
        await eventually("the notification server is found") { await agent.showsNotifications }
        let recording = try ChildProcess(recorder, ["600"])
        await eventually("it is detected") { await !captures.look().isEmpty }
        daemon.send(.state(.sample(.unlocked, vaultIsOpen: true, locksOnCapture: false)))
        daemon.send(.notice(.sample(.blocked)))
        await eventually("the agent has processed the state") { server.summaries.count == 1 }
        // A reading that had begun with the state has ended once two more have.
        for _ in 0..<2 { #expect(await !captures.look().isEmpty) }
        #expect(daemon.calls.withLock { $0.isEmpty }, "the owner has not turned it on")
        daemon.send(.state(.sample(.unlocked, vaultIsOpen: true, locksOnCapture: true)))
        // Once for each change of what records: another test's recorder may start meanwhile.
        await eventually("the vault is locked") { daemon.calls.withLock { Set($0) } == ["lock vault"] }
        recording.kill()
    }
}

struct AgentOptionsTests {
    @Test func theCommandLineIsParsed() throws {
        func socket(_ arguments: [String]) throws -> String? {
            guard case .options(let options) = AgentOptions.parsed(arguments) else { throw CancellationError() }
            return options.daemon.socket
        }
        func exitCode(_ arguments: [String]) -> Int32? {
            guard case .exit(let code) = AgentOptions.parsed(arguments) else { return nil }
            return code
        }
        #expect(try socket([]) == nil)
        #expect(try socket(["--socket", "/run/x"]) == "/run/x")
        #expect(try socket(["--socket=/run/x"]) == "/run/x")
        #expect(exitCode(["--help"]) == 0 && exitCode(["--version"]) == 0)
        for wrong in [["--socket"], ["--socket", ""], ["run"]] { #expect(exitCode(wrong) == 2) }
    }
}
