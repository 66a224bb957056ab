import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

/// Before a daemon is connected.
extension GateTests {
    private func writeKnownApps(_ apps: [[(kind: PathKind, path: [UInt8])]], in directory: TemporaryDirectory) throws
        -> String
    {
        let path = directory.path("known-apps")
        try Data(KnownApps.encoded(apps)).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        return path
    }

    @Test func `apps of the last daemon's list are denied and unreadable until a daemon has sent its list`()
        async throws
    {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        let file = try TestProgram(at: directory.path("file/program"))
        let inside = try TestProgram(at: directory.path("suite/deep/program"))
        let other = try TestProgram(at: directory.path("other/program"))
        let known = try writeKnownApps(
            [
                [(.executable, Array(file.path.utf8))],
                [(.privateDirectory, Array(directory.path("suite").utf8))],
            ], in: directory)
        let gate = try await GateUnderTest(["--known-apps", known])
        for program in [file, inside] {
            #expect(try await ChildProcess.run(program.path).exit == .notStarted(errno: EPERM))
            #expect(!program.hasRun)
        }
        #expect(try await ChildProcess.run("cat", [file.path], user: 65_534).exit != .code(0))
        #expect(try await ChildProcess.run(other.path, ["seven"]).exit == .code(7))

        // One of them is unlocked, the other is no longer on the list.
        let daemon = try await gate.connect()
        #expect(try await ChildProcess.run(file.path).exit == .notStarted(errno: EPERM))
        try await daemon.commit(9, executables: [file.path], guarded: false)
        try await daemon.synchronise()
        for program in [file, inside] { #expect(try await ChildProcess.run(program.path, ["seven"]).exit == .code(7)) }
        #expect(daemon.questions == 0)
    }

    @Test func `a known app that is still locked causes a question once a daemon is connected`() async throws {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        let program = try TestProgram(at: directory.path("program"))
        let known = try writeKnownApps([[(.executable, Array(program.path.utf8))]], in: directory)
        let gate = try await GateUnderTest(["--known-apps", known])
        #expect(try await ChildProcess.run(program.path).exit == .notStarted(errno: EPERM))
        let daemon = try await gate.connect { _ in true }
        try await daemon.commit(1, executables: [program.path])
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(program.path, ["seven"]).exit == .code(7))
        #expect(daemon.questions == 1)
    }

    @Test(arguments: ["link", "pipe", "writable", "another user's", "large", "damaged"])
    func `a gate starts without a file of known apps that others than the daemon may have written`(_ what: String)
        async throws
    {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        let program = try TestProgram(at: directory.path("program"))
        let known = try writeKnownApps([[(.executable, Array(program.path.utf8))]], in: directory)
        switch what {
        case "link":
            rename(known, known + ".there")
            symlink(known + ".there", known)
        case "pipe":
            unlink(known)
            mkfifo(known, 0o600)
        case "writable": chmod(known, 0o602)
        case "another user's": chown(known, 65_534, 65_534)
        case "large": truncate(known, off_t(KnownApps.maximumBytes) + 1)
        default: truncate(known, 5)
        }
        let gate = try await GateUnderTest(["--known-apps", known])
        await eventually("it reports it") { gate.errorOutput.contains("NOTHING IS GUARDED") }
        let daemon = try await gate.connect()
        try await daemon.commit(1, executables: [program.path])
        try await daemon.synchronise()
        let child = try ChildProcess(program.path)
        _ = try await daemon.nextLaunch()
        child.kill(SIGKILL)
    }
}
