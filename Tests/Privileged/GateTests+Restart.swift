import Foundation
import GateProtocol
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// The gate is killed: no app may start.
extension GateTests {
    @Test func `a launch stays held when the gate is killed, and is denied by the next gate`() async throws {
        let app = try await OneApp()
        let child = try ChildProcess(app.program.path)
        _ = try await app.daemon.nextLaunch()
        try await app.gate.kill()
        let late = try ChildProcess(app.program.path)
        await eventually("the kernel holds both") { child.isHeldInExecve && late.isHeldInExecve }
        #expect(!app.program.hasRun)

        try await app.gate.start()
        #expect(try await child.wait() == .notStarted(errno: EPERM))
        #expect(try await late.wait() == .notStarted(errno: EPERM))
        let daemon = try await app.gate.connect { _ in true }
        let orphans = try await daemon.next("hello") {
            if case .hello(GateProtocol.version, .held, let orphans, 0) = $0 { orphans } else { nil }
        }
        #expect(orphans == 1, "the other one was still queued")
        // Until it is synchronised the new gate has no app on its list, and still allows none of the marked files.
        #expect(try await ChildProcess.run(app.program.path).exit == .notStarted(errno: EPERM))
        #expect(!app.program.hasRun)
        try await daemon.commit(3, executables: [app.program.path])
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(app.program.path, ["seven"]).exit == .code(7))
    }

    /// The event of A has number N in the killed gate. The next gate's first event would get N too: an answer meant for
    /// it must not reach A.
    @Test func `a new launch with the number of an orphan releases no other`() async throws {
        let app = try await OneApp()
        let orphans = try (0..<20).map { _ in try ChildProcess(app.program.path, ["orphan"]) }
        await eventually("all wait") { app.daemon.questions == 20 }
        try await app.gate.kill()
        try await app.gate.start()
        let daemon = try await app.gate.connect { _ in true }
        try await daemon.commit(1, executables: [app.program.path])
        try await daemon.synchronise()
        let allowed = try (0..<20).map { _ in try ChildProcess(app.program.path, ["allowed"]) }
        for child in allowed { #expect(try await child.wait() == .code(0)) }
        for child in orphans { #expect(try await child.wait() == .notStarted(errno: EPERM)) }
        #expect(app.program.runs.count == 20)
        #expect(app.program.runs.allSatisfy { $0.arguments.last == "allowed" })
    }

    @Test func `marks of an app that was removed from the list without a gate are removed by its first launch`()
        async throws
    {
        let gate = try await GateUnderTest()
        let file = try TestProgram(at: gate.directory.path("file/program"))
        let inside = try TestProgram(at: gate.directory.path("suite/program"))
        let first = try await gate.connect()
        try await first.commit(1, executables: [file.path], directories: [gate.directory.path("suite")])
        try await first.synchronise()
        try await gate.kill()
        try await gate.start()
        let second = try await gate.connect()
        try await second.synchronise()
        for program in [file, inside, file, inside] {
            #expect(try await ChildProcess.run(program.path, ["seven"]).exit == .code(7))
        }
        #expect(second.questions == 0)
    }

    @Test func `without a descriptor store the gate starts only with the option`() async throws {
        let directory = try TemporaryDirectory()
        let arguments = ["--socket", directory.path("gate.sock"), "--daemon-uid", "0"]
        let gate = try BuiltProducts.path("applocker-gate")
        let refused = try await ChildProcess.run(gate, arguments, environment: [:])
        #expect(refused.exit == .code(1))
        #expect(refused.errorOutput.contains("NOTIFY_SOCKET") && refused.errorOutput.contains("--no-descriptor-store"))
        let overridden = try ChildProcess(gate, arguments + ["--no-descriptor-store"], environment: [:])
        await eventually("it warns") { overridden.errorOutput.contains("ALL LOCKED APPS CAN BE STARTED") }
        await eventually("it listens") { FileManager.default.fileExists(atPath: directory.path("gate.sock")) }
    }

    @Test func `a second gate on the same socket is refused`() async throws {
        let gate = try await GateUnderTest()
        let second = try await ChildProcess.run(
            try BuiltProducts.path("applocker-gate"),
            ["--socket", gate.socketPath, "--daemon-uid", "0", "--no-descriptor-store"], environment: [:])
        #expect(second.exit == .code(1))
        #expect(second.errorOutput.contains("Another gate listens"))
        #expect(gate.isRunning)
    }

    @Test func `a socket directory that others may write to is refused`() async throws {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o777)
        let refused = try await ChildProcess.run(
            try BuiltProducts.path("applocker-gate"),
            ["--socket", directory.path("gate.sock"), "--daemon-uid", "0", "--no-descriptor-store"], environment: [:])
        #expect(refused.exit == .code(1))
        #expect(refused.errorOutput.contains("Others may write"))
    }

    @Test func `only the daemon's user may connect`() async throws {
        let gate = try await GateUnderTest()
        chmod(gate.socketPath, 0o666)
        let stranger = try await ChildProcess.run(
            "/usr/bin/python3",
            [
                "-c",
                """
                import socket, sys
                s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                s.connect(sys.argv[1])
                try:
                    s.send(b"\\x01\\x01\\x00")
                    print(len(s.recv(100)))
                except OSError:
                    print(0)
                """, gate.socketPath,
            ], user: 65534)
        #expect(stranger.output == "0\n", "disconnected without an answer: \(stranger.errorOutput)")
        await eventually("it reports it") { gate.errorOutput.contains("not the daemon's user") }
    }

    /// Launches from several processes at once while the gate is killed again and again. The short version is part of
    /// every run; APPLOCKER_LONG=1 runs the long one.
    @Test(.timeLimit(.minutes(30)))
    func `not one instruction runs while the gate is killed again and again`() async throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil
        let app = try await OneApp { _ in false }
        let outcome = try await LaunchStorm(launches: isLong ? 20_000 : 3_200, processes: 8).run(app.program.path) {
            try await app.gate.kill()
            try await app.gate.start()
            let daemon = try await app.gate.connect { _ in false }
            try await daemon.commit(1, executables: [app.program.path])
            try await daemon.synchronise()
        }
        #expect(!app.program.hasRun)
        #expect(outcome.refused == outcome.launches && outcome.ran == 0)
        #expect(outcome.disturbances >= LaunchStorm.leastDisturbances)
    }
}

/// Many launches of one program from several processes while AppLocker is disturbed.
struct LaunchStorm: Sendable {
    var launches: Int
    var processes: Int
    /// Time between two disturbances.
    var interval = Duration.milliseconds(200)

    static let leastDisturbances = 4

    struct Outcome: Sendable {
        var launches = 0
        var refused = 0
        var ran = 0
        /// Those during which launchers were running from the beginning to the end.
        var disturbances = 0
    }

    /// Runs to the end of the launches, and starts as many again until there were enough disturbances. `disturb` is
    /// called every `interval`.
    func run(_ path: String, disturb: @Sendable () async throws -> Void) async throws -> Outcome {
        var outcome = Outcome()
        for _ in 0..<20 where outcome.disturbances < Self.leastDisturbances {
            try await launch(path, &outcome, disturb)
        }
        try #require(
            outcome.disturbances >= Self.leastDisturbances,
            "\(outcome.disturbances) disturbances ended during \(outcome.launches) launches")
        return outcome
    }

    private func launch(
        _ path: String, _ outcome: inout Outcome, _ disturb: @Sendable () async throws -> Void
    ) async throws {
        let evader = try CompiledPrograms.evader()
        let each = launches / processes
        outcome.launches += each * processes
        let launchers = try (0..<processes).map { _ in try ChildProcess(evader, ["many", path, "\(each)"]) }
        while launchers.contains(where: \.isRunning) {
            try await Task.sleep(for: interval)
            try await disturb()
            if launchers.contains(where: \.isRunning) { outcome.disturbances += 1 }
        }
        for launcher in launchers {
            #expect(try await launcher.wait() == .code(0))
            let counts = launcher.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            try #require(counts.count == 2)
            outcome.refused += counts[0]
            outcome.ran += counts[1]
        }
    }
}
