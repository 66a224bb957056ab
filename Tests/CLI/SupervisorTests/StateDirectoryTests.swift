import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import Supervisor

@Suite("The state directory")
struct StateDirectoryTests {
    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func refusal(_ body: () throws -> Void) -> SupervisorError? {
        do {
            try body()
            return nil
        } catch {
            return error as? SupervisorError
        }
    }

    @Test func everythingIsUnderOneDirectory() {
        let directory = StateDirectory(path: "/tmp/x/")
        #expect(directory.controlSocket == "/tmp/x/control.sock")
        #expect(directory.gateSocket == "/tmp/x/gate.sock")
        #expect(directory.notifySocket == "/tmp/x/notify.sock")
        #expect(directory.database == "/tmp/x/applocker.sqlite")
        #expect(directory.machineSecret == "/tmp/x/machine-secret")
        #expect(directory.lockFile == "/tmp/x/supervisor.lock")
        #expect(StateDirectory(path: "x").path == FileManager.default.currentDirectoryPath + "/x")
    }

    @Test func isCreatedWithItsParentsAndProtected() throws {
        let temporary = try TemporaryDirectory()
        let directory = StateDirectory(path: temporary.path("a/b"))
        try directory.prepare()
        #expect(mode(temporary.path("a")) == 0o755)
        #expect(mode(directory.path) == (geteuid() == 0 ? 0o711 : 0o700))
        chmod(directory.path, 0o777)
        try directory.prepare()
        #expect(mode(directory.path) == (geteuid() == 0 ? 0o711 : 0o700))
    }

    @Test func refusesAFileALinkAndATooLongPath() throws {
        let temporary = try TemporaryDirectory()
        try temporary.write("x", to: "file")
        #expect(refusal { try StateDirectory(path: temporary.path("file")).prepare() }?.code == .stateDirectory)
        symlink("/tmp", temporary.path("link"))
        #expect(refusal { try StateDirectory(path: temporary.path("link")).prepare() }?.code == .stateDirectory)
        #expect(mode("/tmp/") != 0o711)
        let long = temporary.path(String(repeating: "x", count: 90))
        #expect(refusal { try StateDirectory(path: long).prepare() }?.sentence.contains("too long") == true)
        #expect(access(long, F_OK) != 0)
    }

    @Test(.requires(.root)) func refusesAnotherUsersDirectory() throws {
        let temporary = try TemporaryDirectory()
        chown(temporary.path, 65534, 65534)
        let error = refusal { try StateDirectory(path: temporary.path).prepare() }
        #expect(error?.sentence.contains("belongs to user 65534") == true)
    }

    @Test func aSecondRunIsRefusedAndNamesTheFirst() async throws {
        let temporary = try TemporaryDirectory()
        let directory = StateDirectory(path: temporary.path)
        var first: StateLock? = try StateLock(directory)
        let error = refusal { _ = try StateLock(directory) }
        #expect(error?.code == .alreadyRunning)
        #expect(error?.sentence.contains("(process \(getpid()))") == true)
        withExtendedLifetime(first) {}
        first = nil
        // A child that another test is just starting has a copy of the descriptor until its execve.
        await eventually("the lock is free") {
            _ = try StateLock(directory)
            return true
        }
    }

    @Test(.requires(.program("flock"))) func aKilledRunLeavesNoLock() async throws {
        let temporary = try TemporaryDirectory()
        let directory = StateDirectory(path: temporary.path)
        let other = try ChildProcess("flock", ["-o", directory.lockFile, "sleep", "60"])
        await eventually("the other one holds the lock") {
            refusal { _ = try StateLock(directory) }?.code == .alreadyRunning
        }
        other.kill()
        try await other.wait()
        await eventually("the lock is free") {
            _ = try StateLock(directory)
            return true
        }
    }
}
