import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

extension GateTests {
    /// A gate with one guarded app whose only executable is a fresh test program.
    struct OneApp: Sendable {
        let gate: GateUnderTest
        let daemon: DaemonUnderTest
        let program: TestProgram
        static let app: AppToken = 7

        init(
            guarded: Bool = true, gateArguments: [String] = [],
            answering: @escaping @Sendable (LaunchQuestion) -> Bool? = { _ in nil }
        ) async throws {
            gate = try await GateUnderTest(gateArguments)
            program = try TestProgram(at: gate.directory.path("apps/program"))
            daemon = try await gate.connect(answering: answering)
            let applied = try await daemon.commit(Self.app, executables: [program.path], guarded: guarded)
            #expect(applied == .init(marks: guarded ? 1 : 0, failures: 0))
            try await daemon.synchronise()
        }
    }

    @Test func `the service manager holds the descriptor before anything is marked`() async throws {
        let gate = try await GateUnderTest()
        #expect(gate.store.kept.map(\.name) == ["fanotify"])
        let log = gate.store.log
        let stored = try #require(log.firstIndex { $0.contains("FDSTORE=1") && $0.contains("FDPOLL=0") })
        let barrier = try #require(log.firstIndex { $0.contains("BARRIER=1") })
        let ready = try #require(log.firstIndex { $0.contains("READY=1") && $0.contains("STATUS=Holding launches") })
        #expect(stored < barrier && barrier < ready)
    }

    @Test func `a held launch that is allowed continues as the same process`() async throws {
        let app = try await OneApp()
        let child = try ChildProcess(
            app.program.path, ["seven", "two words", "", "ü"],
            environment: ["ONE": "1", "TWO": "a b=c"], workingDirectory: "/usr")
        let question = try await app.daemon.nextLaunch()
        #expect(question.app == OneApp.app)
        #expect(question.process == child.pid)
        #expect(question.parent == getpid())
        #expect(question.user == 0)
        #expect(!question.deniedAtOnce)
        #expect(String(decoding: question.path, as: UTF8.self) == app.program.path)
        await eventually("the kernel holds it") { child.isHeldInExecve }
        #expect(!app.program.hasRun)
        app.daemon.send(.answer(question.launch, allow: true))
        #expect(try await child.wait() == .code(7))
        #expect(
            app.program.runs == [
                .init(
                    pid: child.pid, directory: "/usr", arguments: [app.program.path, "seven", "two words", "", "ü"],
                    environment: ["ONE=1", "TWO=a b=c"])
            ])
        #expect(app.daemon.questions == 1, "opening the file for the same execve causes no question")
    }

    @Test func `a held launch keeps its terminal`() async throws {
        let app = try await OneApp()
        var (terminal, side): (Int32, Int32) = (-1, -1)
        try #require(openpty(&terminal, &side, nil, nil, nil) == 0)
        defer { close(terminal) }
        let child = try ChildProcess(
            app.program.path, ["stay"], descriptors: [0: side, 1: side, 2: side], grouping: .terminal)
        close(side)
        let question = try await app.daemon.nextLaunch()
        app.daemon.send(.answer(question.launch, allow: true))
        await eventually("it runs") { app.program.hasRun }
        let fields = try String(contentsOfFile: "/proc/\(child.pid)/stat", encoding: .utf8)
            .split(separator: ") ").last!.split(separator: " ")
        #expect(fields[4] != "0", "field 7 of stat is its controlling terminal")
        #expect(tcgetsid(terminal) == child.pid)
    }

    @Test func `a denied launch fails with EPERM and runs no instruction`() async throws {
        let app = try await OneApp { _ in false }
        let child = try ChildProcess(app.program.path)
        #expect(try await child.wait() == .notStarted(errno: EPERM))
        #expect(!app.program.hasRun)
    }

    @Test func `an unlocked app starts without a prompt`() async throws {
        let app = try await OneApp(guarded: false)
        #expect(try await ChildProcess.run(app.program.path, ["seven"]).exit == .code(7))
        #expect(app.daemon.questions == 0)
    }

    @Test func `the marks of an unlocked app are removed before its launch is answered and restored by the lock`()
        async throws
    {
        let app = try await OneApp()
        let child = try ChildProcess(app.program.path, ["seven"])
        let question = try await app.daemon.nextLaunch()
        app.daemon.send(.setGuarded(OneApp.app, guarded: false, sequence: 99))
        app.daemon.send(.answer(question.launch, allow: true))
        #expect(try await child.wait() == .code(7))
        #expect(try await ChildProcess.run(app.program.path, ["seven"]).exit == .code(7))
        #expect(app.daemon.questions == 1)
        #expect(try await app.daemon.setGuarded(OneApp.app, true) == .init(marks: 1, failures: 0))
        let again = try ChildProcess(app.program.path)
        let second = try await app.daemon.nextLaunch()
        app.daemon.send(.answer(second.launch, allow: false))
        #expect(try await again.wait() == .notStarted(errno: EPERM))
    }

    @Test func `a process that is killed while it is held leaves nothing behind`() async throws {
        let app = try await OneApp()
        let descriptors = try openDescriptors(of: app.gate.pid)
        let child = try ChildProcess(app.program.path)
        let question = try await app.daemon.nextLaunch()
        child.kill(SIGKILL)
        #expect(try await child.wait() == .signal(SIGKILL))
        #expect(try await app.daemon.nextEnd(of: question.launch) == .processGone)
        // A late answer has no effect.
        app.daemon.send(.answer(question.launch, allow: true))
        let next = try ChildProcess(app.program.path)
        let second = try await app.daemon.nextLaunch()
        app.daemon.send(.answer(second.launch, allow: false))
        #expect(try await next.wait() == .notStarted(errno: EPERM))
        // For a moment the gate may have one open for another purpose.
        await eventually("its descriptors are closed; there were \(descriptors)") {
            try openDescriptors(of: app.gate.pid) <= descriptors
        }
        #expect(!app.program.hasRun)
    }

    @Test func `a launch without an answer is denied at its time limit`() async throws {
        let app = try await OneApp()
        app.daemon.send(.settings(answerWithinMilliseconds: 300, maximumWaitingPerUser: 64))
        try await app.daemon.roundTrip()
        let start = ContinuousClock.now
        let child = try ChildProcess(app.program.path)
        let question = try await app.daemon.nextLaunch()
        #expect(try await child.wait() == .notStarted(errno: EPERM))
        let waited = ContinuousClock.now - start
        #expect(waited > .milliseconds(290) && waited < .seconds(29), "by default a gate waits for 30 s")
        #expect(try await app.daemon.nextEnd(of: question.launch) == .timedOut)
        #expect(!app.program.hasRun)
    }

    @Test func `a daemon that disconnects denies every held launch, and none starts without a daemon`()
        async throws
    {
        let app = try await OneApp()
        let child = try ChildProcess(app.program.path)
        _ = try await app.daemon.nextLaunch()
        app.daemon.shutDown()
        #expect(try await child.wait() == .notStarted(errno: EPERM))
        #expect(try await ChildProcess.run(app.program.path).exit == .notStarted(errno: EPERM))

        // It reconnects with other numbers for the same app, and is used only after it has sent everything.
        let daemon = try await app.gate.connect { _ in true }
        #expect(try await daemon.commit(70, executables: [app.program.path]) == .init(marks: 1, failures: 0))
        #expect(try await ChildProcess.run(app.program.path).exit == .notStarted(errno: EPERM))
        #expect(!app.program.hasRun)
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(app.program.path, ["seven"]).exit == .code(7))
        #expect(try await daemon.nextLaunch().app == 70)
    }

    @Test func `a second connection of the daemon replaces the first`() async throws {
        let app = try await OneApp()
        let child = try ChildProcess(app.program.path)
        _ = try await app.daemon.nextLaunch()
        let second = try await app.gate.connect { _ in false }
        #expect(try await child.wait() == .notStarted(errno: EPERM))
        await eventually("the first is disconnected") { app.daemon.isClosed }
        try await second.commit(1, executables: [app.program.path])
        try await second.synchronise()
        #expect(try await ChildProcess.run(app.program.path).exit == .notStarted(errno: EPERM))
        #expect(second.questions == 1)
    }

    @Test func `an app that is not on the list of a new daemon starts freely`() async throws {
        let app = try await OneApp()
        let other = try TestProgram(at: app.gate.directory.path("apps/other"))
        app.daemon.shutDown()
        let daemon = try await app.gate.connect { _ in false }
        try await daemon.commit(1, executables: [other.path])
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(app.program.path, ["seven"]).exit == .code(7))
        #expect(try await ChildProcess.run(other.path).exit == .notStarted(errno: EPERM))
    }

    @Test(
        arguments: [
            ("another version", DaemonMessage.hello(version: GateProtocol.version + 1).encoded()),
            ("no hello", DaemonMessage.synchronised.encoded()),
            ("an unknown kind", [77, 1, 2]),
            ("a truncated message", Array(DaemonMessage.hello(version: GateProtocol.version).encoded().dropLast())),
            ("an empty message", []),
        ])
    func `a daemon that breaks the protocol is disconnected, nothing starts`(name: String, bytes: [UInt8]) async throws
    {
        let app = try await OneApp { _ in true }
        app.daemon.shutDown()
        let daemon = try DaemonUnderTest(socketPath: app.gate.socketPath) { _ in true }
        daemon.send(raw: bytes)
        await eventually("\(name) ends the connection") { daemon.isClosed }
        #expect(try await ChildProcess.run(app.program.path).exit == .notStarted(errno: EPERM))
        #expect(app.gate.isRunning)
    }

    @Test func `at most 64 launches of a user are held, the rest is denied at once`() async throws {
        let app = try await OneApp()
        let children = try (0..<70).map { _ in try ChildProcess(app.program.path) }
        await eventually("the surplus is denied") { children.count { $0.exit != nil } == 6 }
        #expect(children.compactMap(\.exit).allSatisfy { $0 == .notStarted(errno: EPERM) })
        try await app.daemon.roundTrip()
        #expect(app.daemon.questions == 64)
        for _ in 0..<6 {
            _ = try await app.daemon.next("too many") {
                if case .ended(_, .tooManyWaiting) = $0 { true } else { nil }
            }
        }
        // Another user has a separate limit of 64.
        let other = try ChildProcess(app.program.path, user: 65534)
        await eventually("another user's launch causes a question") { app.daemon.questions == 65 }
        app.daemon.shutDown()
        for child in children + [other] { #expect(try await child.wait() == .notStarted(errno: EPERM)) }
        #expect(!app.program.hasRun)
    }

    @Test func `thousands of launches at once never overflow the queue`() async throws {
        let app = try await OneApp { _ in false }
        let evader = try CompiledPrograms.evader()
        let launchers = try (0..<16).map { _ in try ChildProcess(evader, ["many", app.program.path, "250"]) }
        for launcher in launchers {
            #expect(try await launcher.wait() == .code(0))
            #expect(launcher.output == "250 0\n")
        }
        #expect(!app.program.hasRun)
    }

    @Test func `a private directory guards files that are added later, at any depth`() async throws {
        let gate = try await GateUnderTest()
        let directory = gate.directory.path("opt/suite")
        let first = try TestProgram(at: directory + "/deep/er/first")
        let daemon = try await gate.connect { _ in false }
        let applied = try await daemon.commit(1, directories: [directory])
        #expect(applied == .init(marks: 3, failures: 0))
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(first.path).exit == .notStarted(errno: EPERM))
        let second = try TestProgram(at: directory + "/second")
        #expect(try await ChildProcess.run(second.path).exit == .notStarted(errno: EPERM))
        let third = try TestProgram(at: directory + "/new/third")
        // A report may still be that of the second program.
        try await daemon.filesNoticed()
        _ = try await daemon.next("report of the change") { if case .filesChanged(1) = $0 { true } else { nil } }
        #expect(try await ChildProcess.run(third.path).exit == .notStarted(errno: EPERM))
        #expect(daemon.questions == 3)
    }

    @Test func `a path that is missing, a link, or the gate's own file is counted as a failure and never marked`()
        async throws
    {
        let gate = try await GateUnderTest()
        let program = try TestProgram(at: gate.directory.path("program"))
        let link = gate.directory.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: program.path)
        let daemon = try await gate.connect { _ in false }
        let applied = try await daemon.commit(
            1,
            executables: [
                link, gate.directory.path("missing"), gate.directory.path, try BuiltProducts.path("applocker-gate"),
                "/usr/lib/x86_64-linux-gnu/libc.so.6",
            ])
        #expect(applied == .init(marks: 0, failures: 5))
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(program.path, ["seven"]).exit == .code(7))
        #expect(try await ChildProcess.run("/bin/true").exit == .code(0))
    }

    /// Nested folders that are created faster than each can be watched.
    @Test func `paths that are created later are guarded from then on`() async throws {
        let gate = try await GateUnderTest()
        let paths = (0..<100).map { gate.directory.path("not\($0)/yet/there/program") }
        let daemon = try await gate.connect { _ in false }
        for (app, path) in paths.enumerated() {
            #expect(try await daemon.commit(AppToken(app), executables: [path]) == .init(marks: 0, failures: 1))
        }
        try await daemon.synchronise()
        let programs = try paths.map { try TestProgram(at: $0) }
        _ = try await daemon.next("report of a change") { if case .filesChanged = $0 { true } else { nil } }
        for program in programs {
            await eventually("\(program.path) is guarded") {
                try await ChildProcess.run(program.path).exit == .notStarted(errno: EPERM)
            }
        }
    }
}

/// How many descriptors a process has open.
func openDescriptors(of process: pid_t) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
}
