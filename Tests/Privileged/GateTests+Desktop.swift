import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

/// Launches by the process that draws the desktop.
extension GateTests {
    /// Starts `evade spawn`, a stand-in for a compositor: it blocks in posix_spawn until the kernel is answered.
    private func startCompositor(
        _ app: OneApp, _ arguments: [String], environment: [String: String], directory: String
    ) async throws -> ChildProcess {
        let compositor = try ChildProcess(
            try CompiledPrograms.evader(), ["spawn", app.program.path] + arguments, environment: environment,
            input: .pipe, workingDirectory: directory)
        await eventually("it runs") { compositor.output.hasSuffix("\n") }
        return compositor
    }

    @Test func `a compositor that spawns a locked app is answered at once and the launch can be repeated`()
        async throws
    {
        let app = try await OneApp()
        // Without an answer in this test, a held launch would exceed the time limit.
        app.daemon.send(.settings(answerWithinMilliseconds: 600_000, maximumWaitingPerUser: 64))
        let long = String(repeating: "x", count: 100_000)
        let compositor = try await startCompositor(
            app, ["two words", "", long], environment: ["A": "1", "B": "with = sign"], directory: "/usr/share")
        app.daemon.send(.protect(pid: compositor.pid))
        try await app.daemon.roundTrip()
        compositor.write("go\n")
        #expect(try await compositor.wait() == .code(EPERM))
        let question = try await app.daemon.nextLaunch()
        #expect(question.deniedAtOnce)
        #expect(String(decoding: question.path, as: UTF8.self) == app.program.path)
        let execRequest = try await app.daemon.nextExecRequest(of: question.launch).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(
            execRequest == [
                app.program.path, "/usr/share", "4", app.program.path, "two words", "", long, "A=1", "B=with = sign",
            ])
        #expect(!app.program.hasRun)
    }

    @Test func `the exec request of a relative path is unchanged`() async throws {
        let app = try await OneApp()
        let script = """
            import os, sys
            print("ready", flush=True)
            sys.stdin.readline()
            os.chdir(sys.argv[1])
            try:
                os.posix_spawn("apps/program", ["zero", "one"], {"ONLY": "this"})
            except PermissionError:
                print("refused", flush=True)
            """
        let compositor = try ChildProcess(
            "/usr/bin/python3", ["-c", script, app.gate.directory.path], input: .pipe)
        await eventually("it runs") { compositor.output == "ready\n" }
        app.daemon.send(.protect(pid: compositor.pid))
        try await app.daemon.roundTrip()
        compositor.write("go\n")
        try await compositor.wait()
        #expect(compositor.output == "ready\nrefused\n")
        let question = try await app.daemon.nextLaunch()
        #expect(String(decoding: question.path, as: UTF8.self) == app.program.path)
        let execRequest = try await app.daemon.nextExecRequest(of: question.launch).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(execRequest == ["apps/program", app.gate.directory.path, "2", "zero", "one", "ONLY=this"])
    }

    /// fork and execve with a pipe that reports the execve, which is how GLib did it before posix_spawn.
    @Test func `a compositor that forks and waits for the execve is answered at once`() async throws {
        let app = try await OneApp()
        // Without an answer in this test, a held launch would exceed the time limit.
        app.daemon.send(.settings(answerWithinMilliseconds: 600_000, maximumWaitingPerUser: 64))
        let script = """
            import subprocess, sys
            print("ready", flush=True)
            sys.stdin.readline()
            try:
                subprocess.Popen([sys.argv[1], "from a fork"], cwd="/usr", preexec_fn=lambda: None)
            except PermissionError:
                print("refused", flush=True)
            """
        let compositor = try ChildProcess("/usr/bin/python3", ["-c", script, app.program.path], input: .pipe)
        await eventually("it runs") { compositor.output == "ready\n" }
        app.daemon.send(.protect(pid: compositor.pid))
        try await app.daemon.roundTrip()
        compositor.write("go\n")
        try await compositor.wait()
        #expect(compositor.output == "ready\nrefused\n")
        let question = try await app.daemon.nextLaunch()
        let execRequest = try await app.daemon.nextExecRequest(of: question.launch).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(execRequest.prefix(5) == [app.program.path, "/usr", "2", app.program.path, "from a fork"])
        #expect(question.deniedAtOnce)
    }

    @Test func `a launch by another process is held while a desktop is protected`() async throws {
        let app = try await OneApp()
        let compositor = try await startCompositor(app, [], environment: [:], directory: "/")
        app.daemon.send(.protect(pid: compositor.pid))
        try await app.daemon.roundTrip()
        let child = try ChildProcess(app.program.path, ["seven"])
        let question = try await app.daemon.nextLaunch()
        #expect(!question.deniedAtOnce)
        app.daemon.send(.answer(question.launch, allow: true))
        #expect(try await child.wait() == .code(7))
    }

    @Test func `the same program of another user is not the desktop`() async throws {
        let app = try await OneApp()
        chmod(app.gate.directory.path, 0o755)
        let compositor = try await startCompositor(app, [], environment: [:], directory: "/")
        app.daemon.send(.protect(pid: compositor.pid))
        try await app.daemon.roundTrip()
        let other = try ChildProcess(
            try CompiledPrograms.evader(), ["spawn", app.program.path], input: .text("go\n"), user: 65534)
        let question = try await app.daemon.nextLaunch()
        #expect(!question.deniedAtOnce && question.user == 65534)
        app.daemon.send(.answer(question.launch, allow: false))
        #expect(try await other.wait() == .code(EPERM))
    }

    @Test func `a desktop that has ended is no longer protected`() async throws {
        let app = try await OneApp()
        let first = try await startCompositor(app, [], environment: [:], directory: "/")
        let second = try await startCompositor(app, [], environment: [:], directory: "/")
        app.daemon.send(.protect(pid: first.pid))
        try await app.daemon.roundTrip()
        first.kill()
        try await first.wait()
        try await app.daemon.roundTrip()
        second.write("go\n")
        let question = try await app.daemon.nextLaunch()
        #expect(!question.deniedAtOnce)
        app.daemon.send(.answer(question.launch, allow: false))
        #expect(try await second.wait() == .code(EPERM))
    }

    /// Without free descriptors the gate can't mark an app, which would then start freely.
    @Test func `the processes of a desktop use none of the gate's descriptors`() async throws {
        let app = try await OneApp()
        let before = try openDescriptors(of: app.gate.pid)
        let children = try (0..<200).map { _ in try ChildProcess("/bin/sleep", ["600"]) }
        for child in children { app.daemon.send(.protect(pid: child.pid)) }
        try await app.daemon.roundTrip()
        // For a moment the gate may have one open for another purpose.
        await eventually("it has no more descriptors than the \(before) before") {
            try openDescriptors(of: app.gate.pid) <= before
        }
        let compositor = try await startCompositor(app, [], environment: [:], directory: "/")
        app.daemon.send(.protect(pid: compositor.pid))
        try await app.daemon.roundTrip()
        compositor.write("go\n")
        #expect(try await compositor.wait() == .code(EPERM))
        #expect(try await app.daemon.nextLaunch().deniedAtOnce, "the newest is always protected")
    }

    /// Each reading delays other launches, and a full buffer ends the daemon's connection.
    @Test func `of a desktop that starts an app in a loop only some exec requests are read`() async throws {
        let app = try await OneApp()
        let source = """
            import os, sys
            print("ready", flush=True)
            sys.stdin.readline()
            refused = 0
            for number in range(300):
                try:
                    os.posix_spawn(sys.argv[1], [sys.argv[1]], {})
                except PermissionError:
                    refused += 1
            print(refused, flush=True)
            """
        let compositor = try ChildProcess("/usr/bin/python3", ["-c", source, app.program.path], input: .pipe)
        await eventually("it runs") { compositor.output == "ready\n" }
        app.daemon.send(.protect(pid: compositor.pid))
        try await app.daemon.roundTrip()
        compositor.write("go\n")
        await eventually("all are refused") { compositor.output == "ready\n300\n" }
        try await app.daemon.roundTrip()
        #expect(app.daemon.questions < 150)
        let reports = app.daemon.messages.count { if case .ended(_, .tooManyWaiting) = $0 { true } else { false } }
        #expect(reports > 0 && reports < 150, "the daemon receives the first reports of many")
        #expect(!app.program.hasRun)
    }

    @Test(.requires(.program("prlimit")))
    func `a file that could not be marked without free descriptors is marked once there are some`() async throws {
        let app = try await OneApp(guarded: false)
        try await limitDescriptors(of: app.gate.pid, 0)
        #expect(try await app.daemon.setGuarded(OneApp.app, true) == .init(marks: 0, failures: 1))
        try await limitDescriptors(of: app.gate.pid, 8192)
        let marks = try await app.daemon.next("marks without a request") {
            if case .applied(OneApp.app, 0, let marks, failures: 0) = $0 { marks } else { nil }
        }
        #expect(marks == 1)
        let child = try ChildProcess(app.program.path, ["seven"])
        app.daemon.send(.answer(try await app.daemon.nextLaunch().launch, allow: false))
        #expect(try await child.wait() == .notStarted(errno: EPERM))
        #expect(!app.program.hasRun)
    }

    private func limitDescriptors(of process: pid_t, _ count: Int) async throws {
        let limited = try await ChildProcess.run("prlimit", ["--pid", "\(process)", "--nofile=\(count):8192"])
        try #require(limited.exit == .code(0), "\(limited.errorOutput)")
    }

    @Test func `an exec request whose path names another file is not sent`() async throws {
        let app = try await OneApp()
        // The kernel is asked to run the script, which starts the app.
        let script = try app.gate.directory.write("#!\(app.program.path)\n", to: "script")
        chmod(script, 0o755)
        let compositor = try ChildProcess(
            try CompiledPrograms.evader(), ["spawn", script], input: .pipe, workingDirectory: "/")
        await eventually("it runs") { compositor.output.hasSuffix("\n") }
        app.daemon.send(.protect(pid: compositor.pid))
        try await app.daemon.roundTrip()
        compositor.write("go\n")
        let question = try await app.daemon.nextLaunch()
        let execRequest = try await app.daemon.nextExecRequest(of: question.launch).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(execRequest == [app.program.path, "/", "0"])
        #expect(try await compositor.wait() == .code(EPERM))
    }

    /// Older kernels read the arguments before they ask the gate: there only the process itself hangs.
    @Test func `arguments that can never be read delay no other launch`() async throws {
        let app = try await OneApp()
        let evader = try CompiledPrograms.evader()
        let stuck = try (0..<6).map { _ in
            try ChildProcess(evader, ["stuck", app.program.path], input: .pipe)
        }
        for child in stuck {
            await eventually("it runs") { child.output == "ready\n" }
            app.daemon.send(.protect(pid: child.pid))
        }
        try await app.daemon.roundTrip()
        let before = stuck.map { bytesRead(by: $0.pid) }
        for child in stuck { child.write("go\n") }
        await eventually("each reaches its execve") {
            zip(stuck, before).allSatisfy { child, before in !child.isRunning || bytesRead(by: child.pid) > before }
        }
        let child = try ChildProcess(app.program.path, ["seven"])
        let question = try await app.daemon.next("ordinary launch") {
            if case .launch(let question) = $0, !question.deniedAtOnce { question } else { nil }
        }
        app.daemon.send(.answer(question.launch, allow: true))
        #expect(try await child.wait() == .code(7))
        let refused = stuck.filter { !$0.isRunning }
        for child in refused { #expect(child.exit == .code(EPERM)) }
        for message in app.daemon.messages {
            guard case .execRequest(_, let isLast, let part) = message else { continue }
            #expect(isLast && String(decoding: part, as: UTF8.self) == "\(app.program.path)\0/\0" + "0\0")
        }
        #expect(try childProcesses(of: app.gate.pid).count <= 4)
    }

    /// How much a process has read (proc_pid_io(5), rchar); 0 if the process does not exist.
    private func bytesRead(by process: pid_t) -> Int {
        let counts = (try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)) ?? ""
        let line = counts.split(separator: "\n").first { $0.hasPrefix("rchar: ") }
        return line.flatMap { Int($0.dropFirst("rchar: ".count)) } ?? 0
    }
}
