import CLinux
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import Supervisor

@Suite("Holding the gate", .serialized, .requires(.root, .fanotify, .program("clang")))
struct GateHolderTests {
    @Test func aLaunchStaysHeldWhileTheGateIsKilledFiftyTimes() async throws {
        let gate = try await StandInGate()
        let log = ReportLog()
        let holder = try GateHolder(gate.configuration, report: log.report)
        #expect(await holder.waitUntilReady(timeout: .seconds(60)))
        let launch = try ChildProcess(gate.locked)
        await eventually("the kernel holds it") { launch.isHeldInExecve }

        for round in 1...50 {
            let pid = try #require(holder.pid)
            #expect(kill(pid, SIGKILL) == 0)
            // In this order: until the next one is started the killed one counts as ready.
            await eventually("round \(round): \(log.lines.suffix(3))") {
                holder.pid != nil && holder.pid != pid && holder.isReady
            }
            #expect(launch.isRunning, "released in round \(round)")
            #expect(holder.stored.map(\.name) == ["fanotify"])
        }
        let starts = gate.starts()
        #expect(starts.count == 51)
        #expect(starts.first?.hasSuffix(" made") == true)
        #expect(starts.dropFirst().allSatisfy { $0.hasSuffix(" inherited 1 fanotify own anon_inode:[fanotify]") })
        #expect(log.lines.count == 50)

        // An orderly stop closes the group, and only then does the kernel allow the launch.
        #expect(launch.isRunning)
        await holder.stop()
        #expect(try await launch.wait() == .code(0))
        #expect(gate.running().isEmpty)
    }

    @Test func theNextRunTakesOverTheGroupOfAGateThatOutlivedItsParent() async throws {
        let gate = try await StandInGate()
        // A supervisor that was killed: its gate keeps running with the only descriptor of the group.
        let orphan = try await Self.startOrphan(gate)
        #expect(gate.starts().count == 1)
        let launch = try ChildProcess(gate.locked)
        await eventually("the kernel holds it") { launch.isHeldInExecve }

        let log = ReportLog()
        let holder = try GateHolder(gate.configuration, report: log.report)
        #expect(await holder.waitUntilReady(timeout: .seconds(60)))
        #expect(log.lines == ["Replaced the gate of an earlier run (process \(orphan))."])
        #expect(gate.starts().last?.hasSuffix(" inherited 1 fanotify own anon_inode:[fanotify]") == true)
        await eventually("the earlier gate has ended") { gate.running() == [holder.pid] }
        #expect(launch.isRunning)
        await holder.stop()
        #expect(try await launch.wait() == .code(0))
    }

    /// Starts the gate with a notification socket without a reader.
    private static func startOrphan(_ gate: StandInGate) async throws -> pid_t {
        var failure: Int32 = 0
        let deaf = clinux_notify_socket_open(gate.configuration.notifySocket, &failure)
        try #require(deaf >= 0)
        defer { close(deaf) }
        let pid = try ChildLaunch(
            executable: gate.configuration.gate, arguments: gate.configuration.arguments,
            environment: ["NOTIFY_SOCKET": gate.configuration.notifySocket],
            standardDescriptors: [NullDevice.descriptor, STDERR_FILENO, STDERR_FILENO]
        ).start()
        // Its last message before it pauses; the socket must exist until then.
        await eventually("it is ready") {
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = recv(deaf, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return count > 0 && String(decoding: buffer[..<count], as: UTF8.self) == "READY=1"
        }
        return pid
    }

    @Test func onlyRootsProcessesAreTreatedAsALeftOverGate() async throws {
        let gate = try await StandInGate()
        chmod(gate.directory.path, 0o755)
        let arguments = ["--socket", gate.configuration.socket, "--only-wait"]
        let users = try ChildProcess(gate.configuration.gate, arguments, user: 65534)
        let roots = try ChildProcess(gate.configuration.gate, arguments)
        await eventually("both wait") {
            try [users, roots].allSatisfy {
                try String(contentsOfFile: "/proc/\($0.pid)/cmdline", encoding: .utf8).contains("--only-wait")
            }
        }
        #expect(gate.running() == [roots.pid])
        #expect(users.isRunning)
    }

    @Test func aGateThatHangsIsReplaced() async throws {
        let gate = try await StandInGate()
        try gate.hang()
        var configuration = gate.configuration
        configuration.longestSilence = .milliseconds(500)
        let log = ReportLog()
        let holder = try GateHolder(configuration, report: log.report)
        await eventually("it is started again: \(log.lines)") { gate.starts().count >= 2 }
        await holder.stop()
        #expect(log.lines.first == "The gate has sent no watchdog signal for 0.5 seconds; killed.")
        #expect(gate.starts().dropFirst().first?.contains("inherited 1 fanotify own") == true)
    }

    @Test func aGateThatSendsNoWatchdogSignalsIsNotReplaced() async throws {
        let (gate, hanging) = (try await StandInGate(), try await StandInGate())
        try hanging.hang()
        var configurations = (gate.configuration, hanging.configuration)
        configurations.0.longestSilence = .milliseconds(200)
        configurations.1.longestSilence = .milliseconds(200)
        let (log, other) = (ReportLog(), ReportLog())
        let holder = try GateHolder(configurations.0, report: log.report)
        let otherHolder = try GateHolder(configurations.1, report: other.report)
        // Meanwhile the timeout passes more than once for a gate that hangs.
        await eventually("the other is killed again: \(other.lines)") {
            other.lines.count { $0.hasSuffix("; killed.") } >= 3
        }
        await otherHolder.stop()
        #expect(log.lines.isEmpty)
        await holder.stop()
    }
}
