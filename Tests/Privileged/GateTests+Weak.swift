import CLinux
import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

/// The weak mode as an ordinary user: programs are stopped after they started.
extension GateTests {
    private static let nobody: uid_t = 65534

    /// Connects to the gate as an ordinary user: the kernel records the user when the connection is made, so a process
    /// of that user makes it and passes its descriptor.
    private func connectAsNobody(
        _ gate: GateUnderTest, answering: @escaping @Sendable (LaunchQuestion) -> Bool? = { _ in nil }
    ) async throws -> DaemonUnderTest {
        var failure: Int32 = 0
        let path = gate.directory.path("run/handover")
        let handover = clinux_notify_socket_open(path, &failure)
        try #require(handover >= 0)
        defer { close(handover) }
        chmod(path, 0o666)
        let script = """
            import socket, sys
            gate = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            gate.connect(sys.argv[1])
            test = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            test.connect(sys.argv[2])
            socket.send_fds(test, [b"X=1"], [gate.fileno()])
            """
        let made = try await ChildProcess.run(
            "/usr/bin/python3", ["-c", script, gate.socketPath, path], user: Self.nobody)
        try #require(made.exit == .code(0), "\(made.errorOutput)")
        var received = clinux_notification()
        var buffer = [CChar](repeating: 0, count: 64)
        try #require(clinux_notify_socket_receive(handover, &buffer, buffer.count, &received) == 0)
        try #require(received.descriptor_count == 1)
        let daemon = DaemonUnderTest(connected: received.descriptors.0, answering: answering)
        daemon.send(.hello(version: GateProtocol.version))
        let hello = try await daemon.next("hello") {
            if case .hello(GateProtocol.version, let mode, 0, let refusal) = $0 { (mode, refusal) } else { nil }
        }
        #expect(hello == (.watched, EPERM))
        return daemon
    }

    private struct WeakApp: Sendable {
        let gate: GateUnderTest
        let daemon: DaemonUnderTest
        let program: TestProgram
    }

    private func weakApp(
        guarded: Bool = true, isUndisturbed: Bool = false,
        answering: @escaping @Sendable (LaunchQuestion) -> Bool? = { _ in nil }
    ) async throws -> WeakApp {
        let gate = try await GateUnderTest(user: Self.nobody, isUndisturbed: isUndisturbed)
        await eventually("it reports it") { gate.errorOutput.contains("WEAK MODE") }
        #expect(gate.store.log.contains { $0.contains("STATUS=Weak mode") })
        let program = try TestProgram(at: gate.directory.path("apps/program"))
        let daemon = try await connectAsNobody(gate, answering: answering)
        #expect(
            try await daemon.commit(7, executables: [program.path], guarded: guarded)
                == .init(marks: guarded ? 1 : 0, failures: 0))
        try await daemon.synchronise()
        return WeakApp(gate: gate, daemon: daemon, program: program)
    }

    @Test func `weak mode stops a started app and continues it after approval`() async throws {
        let app = try await weakApp()
        let child = try ChildProcess(app.program.path, ["count"], user: Self.nobody)
        let question = try await app.daemon.nextLaunch()
        #expect(question.process == child.pid && question.app == 7 && question.user == Self.nobody)
        #expect(String(decoding: question.path, as: UTF8.self) == app.program.path)
        await eventually("it is stopped") { processState(child.pid) == "T" }
        let before = child.output
        app.daemon.send(.answer(question.launch, allow: true))
        await eventually("it continues") { processState(child.pid) != "T" && child.output.count > before.count }
        #expect(app.daemon.questions == 1)
    }

    @Test func `weak mode kills denied launches, unanswered ones, and those without a daemon`() async throws {
        let app = try await weakApp()
        let denied = try ChildProcess(app.program.path, ["stay"], user: Self.nobody)
        let question = try await app.daemon.nextLaunch()
        app.daemon.send(.answer(question.launch, allow: false))
        #expect(try await denied.wait() == .signal(SIGKILL))

        app.daemon.send(.settings(answerWithinMilliseconds: 200, maximumWaitingPerUser: 64))
        try await app.daemon.roundTrip()
        let unanswered = try ChildProcess(app.program.path, ["stay"], user: Self.nobody)
        let second = try await app.daemon.nextLaunch()
        #expect(try await unanswered.wait() == .signal(SIGKILL))
        #expect(try await app.daemon.nextEnd(of: second.launch) == .timedOut)

        let waiting = try ChildProcess(app.program.path, ["stay"], user: Self.nobody)
        _ = try await app.daemon.nextLaunch()
        app.daemon.shutDown()
        #expect(try await waiting.wait() == .signal(SIGKILL))
        let late = try ChildProcess(app.program.path, ["stay"], user: Self.nobody)
        #expect(try await late.wait() == .signal(SIGKILL))
    }

    @Test func `weak mode notices a script and does not stop running instances`() async throws {
        let app = try await weakApp(guarded: false)
        let script = try app.gate.directory.write(
            "#!/bin/sh\nwhile :; do sleep 0.05; echo tick; done\n", to: "apps/script", permissions: 0o755)
        try await app.daemon.commit(8, executables: [script], guarded: false)
        let running = try ChildProcess(app.program.path, ["count"], user: Self.nobody)
        let runningScript = try ChildProcess(script, user: Self.nobody)
        await eventually("both run") { !running.output.isEmpty && !runningScript.output.isEmpty }
        try await app.daemon.setGuarded(7, true)
        try await app.daemon.setGuarded(8, true)
        let started = try ChildProcess(script, user: Self.nobody)
        let question = try await app.daemon.nextLaunch()
        #expect(question.app == 8 && question.process == started.pid)
        app.daemon.send(.answer(question.launch, allow: false))
        #expect(try await started.wait() == .signal(SIGKILL))
        let (first, second) = (running.output.count, runningScript.output.count)
        await eventually("both continue") { running.output.count > first && runningScript.output.count > second }
        // A child of the killed script may cause a question: it is not a running instance.
        for case .launch(let other) in app.daemon.messages {
            #expect(![other.process, other.parent].contains { [running.pid, runningScript.pid].contains($0) })
        }
    }

    @Test func `weak mode asks again about a launch that a killed gate left stopped`() async throws {
        let app = try await weakApp()
        let child = try ChildProcess(app.program.path, ["count"], user: Self.nobody)
        _ = try await app.daemon.nextLaunch()
        try await app.gate.kill()
        try await app.gate.start()
        let daemon = try await connectAsNobody(app.gate)
        try await daemon.commit(7, executables: [app.program.path])
        try await daemon.synchronise()
        let question = try await daemon.nextLaunch()
        #expect(question.process == child.pid)
        daemon.send(.answer(question.launch, allow: false))
        #expect(try await child.wait() == .signal(SIGKILL))
    }

    @Test func `weak mode uses no processor time while nothing starts`() async throws {
        let app = try await weakApp(isUndisturbed: true)
        /// How often a thread of the gate has waited (proc_pid_status(5), voluntary_ctxt_switches).
        func waits() throws -> Int {
            let tasks = "/proc/\(app.gate.pid)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
                let status = try String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
                let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
                return sum + (try #require(line.flatMap { Int($0.split(separator: "\t").last ?? "") }))
            }
        }
        var before = 0
        // Real time is what is tested: a polling gate would wake up in it. It is longer than the longest wait between
        // two searches for a started program, two seconds, and much shorter than the gate's timer of a minute.
        await eventually(every: .milliseconds(3_100), "the gate does not wake up") {
            let now = try waits()
            defer { before = now }
            return now > 0 && now == before
        }
    }
}
