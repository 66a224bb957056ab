import CLinux
import ControlAPI
import Foundation
import Glibc
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// A real `applockerd` with its own state, without a gate: the guarantees of the control socket by itself.
final class ControlDaemon: Sendable {
    let process: ChildProcess
    let socket: String
    let client: ControlClient

    /// Starts the daemon and waits until it answers.
    /// - Parameters:
    ///   - state: an existing directory; the state of an earlier daemon in it is loaded.
    ///   - hasRealCost: whether a passcode takes as long to compare as on the owner's computer.
    init(state: TemporaryDirectory, hasRealCost: Bool = false) async throws {
        socket = state.path("control.sock")
        client = ControlClient(socketPath: socket)
        var environment = ProcessInfo.processInfo.environment
        if hasRealCost { environment["APPLOCKER_SMALLEST_PASSCODE_COST"] = nil }
        process = try ChildProcess(
            BuiltProducts.path("applockerd"), ["--state", state.path, "--no-hub"], environment: environment)
        let (socket, process) = (socket, process)
        let answers = await eventually("applockerd answers") {
            clinux_socket_accepts(socket) && process.isRunning
        }
        try #require(answers, "\(process.errorOutput)")
    }

    static let passcode = "correct horse 9"

    func setUp() async throws {
        try await client.call(\.setUp, body: SetUpRequest(passcode: Self.passcode))
    }

    func session() async throws -> String {
        let report = try await client.call(\.openSession, body: PasscodeRequest(passcode: Self.passcode))
        return report.token
    }

    func status() async throws -> StatusReport { try await client.call(\.status) }

    /// Kills it, and returns once it has ended.
    func killNow() async throws {
        process.kill(SIGKILL)
        _ = try await process.wait()
    }

    /// Suspends it until SIGCONT, and returns once it stands still.
    func suspend() async throws {
        process.kill(SIGSTOP)
        let isSuspended = await eventually("it is suspended") { processState(process.pid) == "T" }
        try #require(isSuspended, "\(process.stateDescription)")
    }

    /// Resident memory, in bytes.
    func residentMemory() throws -> Int { try memory("VmRSS:") }

    /// The most resident memory that it had so far, in bytes.
    func peakMemory() throws -> Int { try memory("VmHWM:") }

    private func memory(_ field: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(field) })
        let kibibytes = try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
        return kibibytes * 1_024
    }
}
