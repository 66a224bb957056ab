import Foundation
import GateProtocol
import SystemTestSupport
import Testing

private let nobody: uid_t = 65534

/// Who may read a locked file, and what is reported about it.
extension GateTests {
    private func readsDenied(_ daemon: DaemonUnderTest) async throws -> [(process: Int32, user: UInt32)] {
        try await daemon.roundTrip()
        return daemon.messages.compactMap {
            if case .readDenied(OneApp.app, let process, let user, _) = $0 { (process, user) } else { nil }
        }
    }

    @Test func `only root reads a locked file; each process is reported once`() async throws {
        let app = try await OneApp()
        let evader = try CompiledPrograms.evader()
        #expect(try await ChildProcess.run(evader, ["read", app.program.path], user: nobody).exit == .code(EPERM))
        #expect(try await readsDenied(app.daemon).map(\.user) == [nobody])
        let twice = try await ChildProcess.run(
            "/bin/sh", ["-c", "read x < \(app.program.path); read y < \(app.program.path)"], user: nobody)
        #expect(twice.exit != .code(0))
        #expect(try await readsDenied(app.daemon).count == 2)
        #expect(try await ChildProcess.run(evader, ["read", app.program.path]).exit == .code(0))
        #expect(try await readsDenied(app.daemon).count == 2)
        #expect(app.daemon.questions == 0)
    }

    @Test func `root reads a locked file without a daemon and before it is synchronised`() async throws {
        let app = try await OneApp()
        let evader = try CompiledPrograms.evader()
        app.daemon.shutDown()
        #expect(try await ChildProcess.run(evader, ["read", app.program.path]).exit == .code(0))
        #expect(try await ChildProcess.run(evader, ["read", app.program.path], user: nobody).exit == .code(EPERM))
        try await app.gate.kill()
        try await app.gate.start()
        #expect(try await ChildProcess.run(evader, ["read", app.program.path]).exit == .code(0))
        #expect(try await ChildProcess.run(evader, ["read", app.program.path], user: nobody).exit == .code(EPERM))
    }

    /// A shell whose execve was refused then opens the file, to see whether it is a script.
    @Test func `a shell that reads a program after its refused execve is not reported`() async throws {
        let app = try await OneApp { _ in false }
        let shell = try await ChildProcess.run("/bin/bash", ["-c", "\(app.program.path); true"], user: nobody)
        #expect(shell.errorOutput.contains("Operation not permitted"))
        #expect(app.daemon.questions == 1)
        #expect(try await readsDenied(app.daemon).isEmpty)
        #expect(!app.program.hasRun)
    }

    @Test func `the daemon reads locked files without asking itself`() async throws {
        let app = try await OneApp()
        // This process is the daemon of these tests.
        #expect(try Data(contentsOf: URL(fileURLWithPath: app.program.path)).count > 1000)
        #expect(try await readsDenied(app.daemon).isEmpty)
        #expect(app.daemon.questions == 0)
    }
}
