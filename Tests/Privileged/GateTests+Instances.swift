import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

/// Running instances continue; new launches cause a question.
extension GateTests {
    /// An instance that starts itself again on command, as a browser starts its content processes.
    private func startObedient(_ app: OneApp) async throws -> ChildProcess {
        let child = try ChildProcess(app.program.path, ["obey"], input: .pipe)
        await eventually("it runs") { child.output == "ready\n" }
        return child
    }

    private func command(_ child: ChildProcess, _ text: String, expecting answer: String) async {
        let before = child.output
        child.write(text + "\n")
        await eventually("\(text): \(answer)") { child.output == before + answer + "\n" }
    }

    @Test func `an approved instance starts more of itself, a second launch causes a question`() async throws {
        let app = try await OneApp()
        let child = try ChildProcess(app.program.path, ["obey"], input: .pipe)
        let question = try await app.daemon.nextLaunch()
        app.daemon.send(.answer(question.launch, allow: true))
        await eventually("it runs") { child.output == "ready\n" }
        await command(child, "again", expecting: "started 0")
        await command(child, "read", expecting: "read 0")
        #expect(app.daemon.questions == 1)
        let second = try ChildProcess(app.program.path)
        let asked = try await app.daemon.nextLaunch()
        app.daemon.send(.answer(asked.launch, allow: false))
        #expect(try await second.wait() == .notStarted(errno: EPERM))
    }

    @Test func `an instance continues when its app is locked again`() async throws {
        let app = try await OneApp(guarded: false) { _ in false }
        let child = try await startObedient(app)
        try await app.daemon.setGuarded(OneApp.app, true)
        await command(child, "again", expecting: "started 0")
        #expect(app.daemon.questions == 0)
        #expect(try await ChildProcess.run(app.program.path).exit == .notStarted(errno: EPERM))
        await command(child, "again", expecting: "started 0")
    }

    @Test func `an instance continues after the gate and the daemon were restarted`() async throws {
        let app = try await OneApp { _ in true }
        let child = try await startObedient(app)
        try await app.gate.kill()
        try await app.gate.start()
        let daemon = try await app.gate.connect { _ in false }
        try await daemon.commit(12, executables: [app.program.path])
        try await daemon.synchronise()
        await command(child, "again", expecting: "started 0")
        #expect(daemon.questions == 0)
        daemon.shutDown()
        await command(child, "again", expecting: "started 0")
    }

    @Test func `a child that lost its parent is not part of the instance`() async throws {
        let app = try await OneApp { question in question.parent == getpid() }
        let child = try await startObedient(app)
        let before = app.program.runs.count
        child.write("orphan\n")
        await eventually("the orphan's launch causes a question") { app.daemon.questions == 2 }
        await eventually("it is refused") { child.output == "ready\nstarted \(EPERM)\n" }
        #expect(app.program.runs.count == before)
    }

    @Test func `an instance admits no program of another app`() async throws {
        let app = try await OneApp { _ in true }
        let other = try TestProgram(at: app.gate.directory.path("apps/other"))
        try await app.daemon.commit(2, executables: [other.path])
        // The first app's instance is a shell script that starts the second app.
        let script = try app.gate.directory.write(
            "#!/bin/sh\n\(other.path)\n", to: "apps/script", permissions: 0o755)
        try await app.daemon.commit(3, executables: [script])
        #expect(try await ChildProcess.run(script).exit == .code(0))
        #expect(app.daemon.questions == 2, "once for the script, once for the other app")
    }

    private func state(of process: pid_t) throws -> String {
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return String(text.split(separator: ") ").last!.prefix(1))
    }

    private func order(_ daemon: DaemonUnderTest, _ app: AppToken, _ order: InstanceOrder) async throws -> UInt32 {
        daemon.send(.instances(app, order))
        return try await daemon.next("instances reached") {
            if case .instancesReached(app, order, let count) = $0 { count } else { nil }
        }
    }

    @Test func `running instances are frozen, stay frozen, and are thawed`() async throws {
        let app = try await OneApp { _ in true }
        let one = try ChildProcess(app.program.path, ["count"])
        let two = try ChildProcess(app.program.path, ["stay"])
        await eventually("both run") { app.program.runs.count == 2 && !one.output.isEmpty }
        #expect(try await order(app.daemon, OneApp.app, .freeze) == 2)
        await eventually("both are stopped") { try self.state(of: one.pid) == "T" && self.state(of: two.pid) == "T" }
        // Its owner can continue it, but only for a moment.
        one.kill(SIGCONT)
        await eventually(every: .milliseconds(50), "it is stopped again") { try self.state(of: one.pid) == "T" }
        // Thawing also reaches what an earlier gate froze.
        try await app.gate.kill()
        try await app.gate.start()
        let daemon = try await app.gate.connect()
        try await daemon.commit(5, executables: [app.program.path])
        try await daemon.synchronise()
        let before = one.output.count
        #expect(try await order(daemon, 5, .thaw) == 2)
        await eventually("it continues") { one.output.count > before }
    }

    @Test func `closing ends the instances of a script too, and kills those that ignore it`() async throws {
        let app = try await OneApp { _ in true }
        let script = try app.gate.directory.write(
            "#!/bin/sh\ntrap '' TERM\necho ready\nwhile :; do read -r line; done\n", to: "apps/stubborn",
            permissions: 0o755)
        try await app.daemon.commit(4, executables: [script])
        let stubborn = try ChildProcess(script, input: .pipe)
        let other = try ChildProcess(app.program.path, ["stay"])
        await eventually("both run") { stubborn.output == "ready\n" && app.program.hasRun }
        let start = ContinuousClock.now
        #expect(try await order(app.daemon, 4, .close) == 1)
        #expect(try await order(app.daemon, OneApp.app, .close) == 1)
        #expect(try await other.wait() == .signal(SIGTERM))
        #expect(try await stubborn.wait() == .signal(SIGKILL))
        #expect(ContinuousClock.now - start > .seconds(9))
    }

    @Test func `many launches leak no descriptor`() async throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil
        let app = try await OneApp { question in question.launch % 2 == 0 }
        let evader = try CompiledPrograms.evader()
        _ = try await ChildProcess.run(evader, ["many", app.program.path, "10"])
        let before = try openDescriptors(of: app.gate.pid)
        let count = isLong ? 100_000 : 2_000
        let many = try ChildProcess(evader, ["many", app.program.path, "\(count)"])
        #expect(try await many.wait(timeout: .seconds(900)) == .code(0))
        #expect(many.output == "\(count / 2) \(count / 2)\n")
        // For a moment the gate may have one open for another purpose.
        await eventually("its descriptors are closed; there were \(before)") {
            try openDescriptors(of: app.gate.pid) <= before
        }
        let status = try String(contentsOfFile: "/proc/\(app.gate.pid)/status", encoding: .utf8)
        let resident = status.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
        print("after \(count) launches: \(resident ?? "?")")
    }
}
