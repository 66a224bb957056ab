import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import Supervisor

/// The compiled Fixtures/standin-gate.c in its own state directory, with a program whose launches it holds.
struct StandInGate {
    let directory: TemporaryDirectory
    let configuration: GateHolder.Configuration
    /// A program whose launches are held for as long as any process keeps the group.
    let locked: String

    init() async throws {
        directory = try TemporaryDirectory()
        locked = directory.path("locked")
        configuration = GateHolder.Configuration(
            gate: directory.path("applocker-gate"), socket: directory.path("gate.sock"), daemonUser: geteuid(),
            daemonExecutable: "/nowhere/applockerd", notifySocket: directory.path("notify.sock"))
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: locked)
        let source = try #require(Bundle.module.path(forResource: "standin-gate", ofType: "c", inDirectory: "Fixtures"))
        let compiled = try await ChildProcess.run("clang", ["-D_GNU_SOURCE", "-o", configuration.gate, source])
        try #require(compiled.exit == .code(0), "\(compiled.errorOutput)")
    }

    /// One line for each start of the gate: its process number and what it found.
    func starts() -> [String] {
        let text = (try? String(contentsOfFile: directory.path("starts"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Makes each start send one watchdog signal and no more.
    func hang() throws { try directory.write("", to: "hang") }

    /// The running processes of this gate.
    func running() -> [pid_t] {
        RunningProcess.ofRoot(program: "applocker-gate", arguments: ["--socket", configuration.socket]).map(\.pid)
    }
}
