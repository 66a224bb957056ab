import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import Supervisor

/// `applocker up` with the real gate and the real daemon.
@Suite("applocker up", .serialized, .requires(.root, .fanotify))
struct UpTests {
    private let directory: TemporaryDirectory
    private let state: StateDirectory
    /// A directory from which every user may run the programs.
    private let programs: String

    init() throws {
        directory = try TemporaryDirectory()
        programs = try BuiltProducts.directoryForEverybody(
            ["applocker", "applocker-gate", "applockerd"], copies: directory
        ).path
        state = StateDirectory(path: directory.path("state"))
    }

    private func up(_ options: String..., asUser user: uid_t? = nil) throws -> ChildProcess {
        try ChildProcess(
            programs + "/applocker", ["up", "--state", state.path, "--no-hub"] + options, user: user)
    }

    private func gates() -> [pid_t] {
        RunningProcess.ofRoot(program: "applocker-gate", arguments: ["--socket", state.gateSocket]).map(\.pid)
    }

    private func daemons() -> [pid_t] {
        RunningProcess.ofRoot(program: "applockerd", arguments: ["--state", state.path]).map(\.pid)
    }

    private func isRunning(_ up: ChildProcess) async {
        await eventually("up is running: \(up.errorOutput)") {
            up.errorOutput.contains("AppLocker is running")
        }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func startsBothWithSeparateFilesAndStopsInOrder() async throws {
        let up = try up()
        await isRunning(up)
        #expect(up.errorOutput.contains("The kernel holds launches of locked apps."))
        #expect(gates().count == 1 && daemons().count == 1)
        #expect(mode(state.path) == 0o711)
        // It accepts connections before everybody may open it.
        await eventually("everybody may open the control socket") { mode(state.controlSocket) & 0o006 == 0o006 }
        for secret in [state.machineSecret, state.database, state.lockFile, state.notifySocket] {
            #expect(mode(secret) == 0o600, "\(secret)")
        }
        up.kill(SIGTERM)
        #expect(try await up.wait() == .code(0))
        #expect(gates().isEmpty && daemons().isEmpty)
        let daemonFirst = try #require(up.errorOutput.range(of: "Stopping the daemon"))
        let gateLast = try #require(up.errorOutput.range(of: "AppLocker has stopped"))
        #expect(daemonFirst.lowerBound < gateLast.lowerBound)
    }

    @Test func aSecondRunOnTheSameDirectoryIsRefusedAndTheFirstContinues() async throws {
        let first = try up()
        await isRunning(first)
        let second = try up()
        #expect(try await second.wait() == .code(1))
        #expect(second.errorOutput.contains("already runs") && second.errorOutput.contains("\(first.pid)"))
        #expect(first.isRunning && gates().count == 1)
        first.kill(SIGINT)
        #expect(try await first.wait() == .code(0))
    }

    @Test func bothAreRestartedAfterBeingKilled() async throws {
        let up = try up()
        await isRunning(up)
        for _ in 1...5 {
            let (gate, daemon) = (try #require(gates().first), try #require(daemons().first))
            kill(gate, SIGKILL)
            kill(daemon, SIGKILL)
            await eventually("both run again: \(up.errorOutput)") {
                let (gates, daemons) = (gates(), daemons())
                return gates.count == 1 && gates != [gate] && daemons.count == 1 && daemons != [daemon]
            }
        }
        up.kill(SIGTERM)
        #expect(try await up.wait() == .code(0))
    }

    @Test func aKilledRunLeavesADenyingGateThatTheNextRunReplaces() async throws {
        let first = try up()
        await isRunning(first)
        let gate = try #require(gates().first)
        first.kill(SIGKILL)
        try await first.wait()
        await eventually("the daemon ends with its supervisor") { daemons().isEmpty }
        #expect(gates() == [gate])

        let second = try up()
        await isRunning(second)
        #expect(second.errorOutput.contains("Replaced the gate of an earlier run (process \(gate))."))
        #expect(gates().count == 1 && gates() != [gate])
        second.kill(SIGTERM)
        #expect(try await second.wait() == .code(0))
        #expect(gates().isEmpty)
    }

    @Test func anOrdinaryUserGetsTheWeakModeAndAWarning() async throws {
        chown(directory.path, 65534, 65534)
        let up = try up("--user-mode", asUser: 65534)
        await isRunning(up)
        #expect(up.errorOutput.contains("WEAK MODE"))
        #expect(!up.errorOutput.contains("refused a connection"))
        #expect(mode(state.path) == 0o700)
        up.kill(SIGTERM)
        #expect(try await up.wait() == .code(0))
    }

    @Test(.requires(.program("sudo"), .program("unshare"), .program("setpriv")))
    func aUserWithSudoGetsTheRealGateWhichOutlivesTheirProcesses() async throws {
        chown(directory.path, 65534, 65534)
        let first = try upThroughSudo()
        await isRunning(first)
        #expect(first.errorOutput.contains("The kernel holds launches of locked apps."))
        let gate = try #require(gates().first)
        let holder = try #require(holders().first)

        // Root kills the holder: the gate stays, and the next holder takes the group over from it.
        kill(holder, SIGKILL)
        await eventually("another holder has another gate: \(first.errorOutput)") {
            let (holders, gates) = (holders(), gates())  // read together: while the gate restarts, no gate runs
            return holders.count == 1 && holders != [holder] && gates.count == 1 && gates != [gate]
        }
        await eventually("it reports that it replaced the gate: \(first.errorOutput)") {
            first.errorOutput.contains("Replaced the gate of an earlier run (process \(gate)).")
        }

        // The user's half is killed: the root half keeps denying, and the next run replaces both.
        let (secondGate, secondHolder) = (try #require(gates().first), try #require(holders().first))
        first.kill(SIGKILL)
        try await first.wait()
        await eventually("the root half reports it") { first.errorOutput.contains("`applocker up` was killed") }
        #expect(gates() == [secondGate] && holders() == [secondHolder])

        let second = try upThroughSudo()
        await isRunning(second)
        #expect(gates().count == 1 && gates() != [secondGate])
        second.kill(SIGTERM)
        #expect(try await second.wait() == .code(0))
        await eventually("all of it has ended: \(second.errorOutput)") { gates().isEmpty && holders().isEmpty }
    }

    @Test(.requires(.program("sudo"), .program("unshare"), .program("setpriv")))
    func aUserWhomSudoRefusesGetsTheWeakMode() async throws {
        chown(directory.path, 65534, 65534)
        let up = try upThroughSudo(rule: "")
        await isRunning(up)
        #expect(up.errorOutput.contains("WEAK MODE"))
        #expect(up.errorOutput.contains("sudo did not start the gate"))
        #expect(gates().isEmpty)
        up.kill(SIGTERM)
        #expect(try await up.wait() == .code(0))
    }

    private func holders() -> [pid_t] {
        RunningProcess.ofRoot(
            program: "applocker",
            arguments: [HoldGateCommand.name, "--gate", programs + "/applocker-gate", "--socket", state.gateSocket]
        ).map(\.pid)
    }

    /// As user 65534, with sudo's rules replaced in a private mount namespace.
    private func upThroughSudo(rule: String = "nobody ALL=(root) NOPASSWD: ALL") throws -> ChildProcess {
        let script = """
            mount -t tmpfs -o mode=755 none /etc/sudoers.d || exit 99
            echo '\(rule)' > /etc/sudoers.d/rule && chmod 440 /etc/sudoers.d/rule || exit 98
            exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
            """
        return try ChildProcess(
            "unshare",
            ["-m", "bash", "-c", script, "bash", programs + "/applocker", "up", "--state", state.path])
    }
}
