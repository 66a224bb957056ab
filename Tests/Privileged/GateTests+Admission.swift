import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

/// Which processes may start the app's programs without a prompt.
extension GateTests {
    /// An instance that ignores SIGTERM could start another one before it is killed.
    @Test func `an instance that is being closed starts no more of the app`() async throws {
        let app = try await OneApp(guarded: false) { _ in false }
        let stubborn = try ChildProcess(
            "/bin/sh", ["-c", "trap '' TERM; exec \"$0\" obey", app.program.path], input: .pipe)
        await eventually("it runs") { stubborn.output == "ready\n" }
        try await app.daemon.setGuarded(OneApp.app, true)
        app.daemon.send(.instances(OneApp.app, .close))
        try await app.daemon.roundTrip()
        stubborn.write("again\n")
        await eventually("it is refused") { stubborn.output == "ready\nstarted \(EPERM)\n" }
        #expect(app.daemon.questions == 1)
        #expect(app.program.runs.count == 1)
        #expect(try await stubborn.wait() == .signal(SIGKILL))
    }

    /// The owner approves a launch whose execve then fails: the process is still what it was.
    @Test func `a process whose allowed launch failed is not part of the app`() async throws {
        let app = try await OneApp { question in String(decoding: question.path, as: UTF8.self).hasSuffix("script") }
        let script = try app.gate.directory.write("#!/no/such/interpreter\n", to: "apps/script", permissions: 0o755)
        try await app.daemon.commit(OneApp.app, executables: [app.program.path, script])
        let source = """
            import os, subprocess, sys
            print("ready", flush=True)
            for line in sys.stdin:
                try:
                    if line == "fail\\n":
                        os.execv(sys.argv[2], [sys.argv[2]])
                    subprocess.run([sys.argv[1]], check=True)
                    print("started", flush=True)
                except OSError as error:
                    print(error.errno, flush=True)
            """
        let process = try ChildProcess(
            "/usr/bin/python3", ["-c", source, app.program.path, script], input: .pipe)
        await eventually("it runs") { process.output == "ready\n" }
        process.write("fail\n")
        await eventually("its launch was allowed and failed") { process.output == "ready\n\(ENOENT)\n" }
        #expect(app.daemon.questions == 1)
        // Real time is what is tested: for a second after the answer it counts as admitted, as its launch may take long.
        try await Task.sleep(for: .milliseconds(1_100))
        process.write("start\n")
        await eventually("its start is refused") { process.output == "ready\n\(ENOENT)\n\(EPERM)\n" }
        #expect(app.daemon.questions == 2)
        #expect(!app.program.hasRun)
    }

    /// In a user namespace of its own a process can make the kernel report that it runs any program.
    @Test(.requires(.userNamespaces, .program("unshare")))
    func `a process in another user namespace is not an instance`() async throws {
        let app = try await OneApp(guarded: false) { _ in false }
        let child = try ChildProcess("unshare", ["-r", app.program.path, "obey"], input: .pipe)
        await eventually("it runs") { child.output == "ready\n" }
        try await app.daemon.setGuarded(OneApp.app, true)
        child.write("again\n")
        await eventually("it is refused") { child.output == "ready\nstarted \(EPERM)\n" }
        #expect(app.daemon.questions == 1)
    }
}
