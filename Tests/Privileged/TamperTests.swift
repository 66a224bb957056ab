import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Attacks with the owner's own account on AppLocker's processes and files.
@Suite("Tampering", .serialized, .requires(.root, .fanotify, .program("cc")))
struct TamperTests {
    private static let user: uid_t = 1_234

    /// `peek`'s lines as errno by attempt.
    private func peek(_ pid: pid_t, kills: Bool) async throws -> [String: Int32] {
        let result = try await ChildProcess.run(
            try CompiledPrograms.compiled("peek", peekSource).path, ["\(pid)"] + (kills ? ["kill"] : []),
            user: Self.user)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: "=") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), Int32($0[1]) ?? -1) })
    }

    /// A command's only socket is its connection to the daemon. Until its execve it is a copy of this process.
    private static func isConnected(_ command: ChildProcess) -> Bool {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(command.pid)/exe")
        guard program?.hasSuffix("/applocker") == true else { return false }
        let directory = "/proc/\(command.pid)/fd/"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return numbers.contains { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: directory + number))?.hasPrefix("socket:")
                == true
        }
    }

    @Test func noProgramOfTheUserReadsOrEndsAppLockersProcesses() async throws {
        let appLocker = try await RunningAppLocker()
        let processes = try await appLocker.status().processes
        #expect(processes.map(\.name).sorted() == ["applocker-gate", "applockerd"])
        for process in processes {
            for (attempt, error) in try await peek(process.pid, kills: true) {
                #expect(error == EPERM || error == EACCES, "\(process.name): \(attempt) returned \(error)")
            }
        }
        // A command that has the passcode in memory runs as the user, who may end it but not read its memory.
        let command = try ChildProcess(
            try BuiltProducts.path("applocker"), ["log", "--follow", "--socket", appLocker.socketPath],
            user: Self.user)
        await eventually("it is connected: \(command.stateDescription)") { Self.isConnected(command) }
        let attempts = try await peek(command.pid, kills: false)
        #expect(attempts.count == 8)
        for (attempt, error) in attempts {
            #expect(error == EPERM || error == EACCES, "applocker: \(attempt) returned \(error)")
        }
        #expect(try await appLocker.status().processes == processes)
        try await appLocker.stop()
    }

    @Test(.requires(.program("gdb"))) func aDebuggerOfTheUserDoesNotAttach() async throws {
        let appLocker = try await RunningAppLocker()
        let command = try ChildProcess(
            try BuiltProducts.path("applocker"), ["log", "--follow", "--socket", appLocker.socketPath],
            user: Self.user)
        await eventually("it is connected: \(command.stateDescription)") { Self.isConnected(command) }
        let gdb = try await ChildProcess.run(
            "gdb", ["--batch", "-nx", "-p", "\(command.pid)", "-ex", "info proc mappings"], user: Self.user)
        #expect((gdb.output + gdb.errorOutput).contains("Operation not permitted"))
        #expect(command.isRunning)
        try await appLocker.stop()
    }

    @Test(.requires(.program("curl"))) func aReplayedRequestIsRefused() async throws {
        let appLocker = try await RunningAppLocker()
        let session = try await appLocker.client.call(
            \.openSession, body: PasscodeRequest(passcode: RunningAppLocker.passcode))
        func replay(as user: uid_t) async throws -> String {
            try await ChildProcess.run(
                "curl",
                [
                    "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", appLocker.socketPath, "-X", "PUT",
                    "-H", "Authorization: Bearer \(session.token)", "-d", #"{"isOn": false, "forSeconds": 60}"#,
                    "http://applocker/v1/monitoring",
                ], user: user
            ).output
        }
        #expect(try await replay(as: Self.user) == "401")
        #expect(try await appLocker.status().monitoring.isOn)
        #expect(try await replay(as: 0) == "200")
        try await appLocker.client.call(\.endSession, token: session.token)
        #expect(try await replay(as: 0) == "401")
        try await appLocker.stop()
    }

    @Test func aTracedProgramRefusesToRun() async throws {
        let tracer = try CompiledPrograms.compiled("tracer", tracerSource).path
        for (program, arguments) in [
            ("applocker", ["status"]), ("applocker-prompt", ["--version"]), ("applockerd", ["--state", "/nowhere"]),
            ("applocker-gate", ["--socket", "/nowhere/gate.sock", "--daemon-uid", "0"]),
        ] {
            let result = try await ChildProcess.run(
                tracer, [try BuiltProducts.path(program)] + arguments,
                environment: ["PATH": "/usr/bin:/bin", "APPLOCKER_REFUSE_TRACER": "1"])
            #expect(result.exit == .code(1), "\(program)")
            #expect(result.errorOutput.contains("is tracing this one"), "\(program): \(result.errorOutput)")
        }
    }

    @Test func preloadedLibrariesAreNotLoadedInARunningProgram() async throws {
        let library = try CompiledPrograms.compiled(
            "preloaded.so", "int applocker_test_preloaded;", ["-shared", "-fPIC"]
        ).path
        let environment = ["PATH": "/usr/bin:/bin", "LD_PRELOAD": library, "LD_DEBUG_OUTPUT": "/dev/null"]
        let directory = try TemporaryDirectory()
        let up = try ChildProcess(
            try BuiltProducts.path("applocker"), ["up", "--state", directory.path("state"), "--no-hub"],
            environment: environment)
        let client = ControlClient(socketPath: directory.path("state/control.sock"))
        await eventually("AppLocker is up; output: \(up.errorOutput)") {
            try await client.call(\.status).protection != .gateAway
        }
        let running = try await client.call(\.status)
        for pid in running.processes.map(\.pid) + [up.pid] {
            let maps = try #require(try FileHandle(forReadingAtPath: "/proc/\(pid)/maps")?.readToEnd())
            #expect(maps.count > 1_000)
            #expect(!String(decoding: maps, as: UTF8.self).contains("preloaded.so"), "process \(pid)")
        }
        up.kill(SIGINT)
        #expect(try await up.wait() == .code(0))
    }

    @Test func aSecretThatOthersMayReadIsRefused() async throws {
        let appLocker = try await RunningAppLocker()
        try await appLocker.stop()
        let state = appLocker.directory.path("state")
        for name in ["machine-secret", "device-key"] {
            chmod("\(state)/\(name)", 0o644)
            let result = try await ChildProcess.run(try BuiltProducts.path("applockerd"), ["--state", state])
            #expect(result.exit == .code(1))
            #expect(result.errorOutput.contains("\(state)/\(name)"), "\(result.errorOutput)")
            #expect(result.errorOutput.contains("others can read it"), "\(result.errorOutput)")
            chmod("\(state)/\(name)", 0o600)
        }
        for name in ["machine-secret", "device-key"] {
            rename("\(state)/\(name)", "\(state)/elsewhere")
            symlink("elsewhere", "\(state)/\(name)")
            let result = try await ChildProcess.run(try BuiltProducts.path("applockerd"), ["--state", state])
            #expect(result.exit == .code(1), "a link in place of \(name)")
            unlink("\(state)/\(name)")
            rename("\(state)/elsewhere", "\(state)/\(name)")
        }
    }
}
