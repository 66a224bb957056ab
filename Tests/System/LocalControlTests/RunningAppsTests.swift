import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Which apps run, with real processes.
@Suite struct RunningAppsTests {
    private let directory: TemporaryDirectory
    private let program: String

    init() throws {
        directory = try TemporaryDirectory()
        program = directory.path("diary")
        try FileManager.default.copyItem(atPath: "/usr/bin/sleep", toPath: program)
    }

    private func app(_ id: String, _ executables: String...) -> InstalledReport {
        InstalledReport(
            id: id, name: id, icon: nil, kind: "executable", isListed: false, state: nil, executables: executables)
    }

    private func start(_ path: String, named name: String? = nil, user: uid_t? = nil) async throws -> ChildProcess {
        let process = try ChildProcess(path, ["600"], argumentZero: name, user: user)
        // Until then it runs the tests' program.
        await eventually("it runs \(path)") {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.pid)/exe")) == path
        }
        return process
    }

    @Test func anAppRunsWhileAProcessRunsOneOfItsPrograms() async throws {
        let apps = [app("diary", "/nonexistent", program), app("other", directory.path("other"))]
        #expect(RunningApps.ids(among: apps).isEmpty)
        let process = try await start(program)
        #expect(RunningApps.ids(among: apps) == ["diary"])
        process.kill(SIGKILL)
        _ = try await process.wait()
        #expect(RunningApps.ids(among: apps).isEmpty)
    }

    @Test func theFileCountsWhateverNameLeadsToIt() async throws {
        try FileManager.default.linkItem(atPath: program, toPath: directory.path("hard"))
        try FileManager.default.createSymbolicLink(atPath: directory.path("link"), withDestinationPath: "diary")
        try FileManager.default.copyItem(atPath: program, toPath: directory.path("copy"))
        let process = try await start(directory.path("hard"))
        let apps = [
            app("a", program), app("b", directory.path("link")), app("both", "/usr/bin/env", program),
            app("copy", directory.path("copy")),
        ]
        #expect(RunningApps.ids(among: apps) == ["a", "b", "both"])
        withExtendedLifetime(process) {}
    }

    @Test func aProcessCannotClaimToBeAnAppByItsName() async throws {
        let process = try await start("/usr/bin/sleep", named: program)
        #expect(RunningApps.ids(among: [app("diary", program)]).isEmpty)
        withExtendedLifetime(process) {}
    }

    @Test func theListKeepsTheAppsThatRun() async throws {
        let process = try await start(program)
        let list = InstalledList(apps: [app("other", "/nonexistent"), app("diary", program)], problems: ["x"])
        #expect(list.running() == InstalledList(apps: [app("diary", program)]))
        withExtendedLifetime(process) {}
    }

    @Test(.requires(.root)) func rootSeesTheProcessesOfAllUsersAndAUserOnlyTheirOwn() async throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        let theirs = try await start(program, user: 65_534)
        #expect(RunningApps.ids(among: [app("diary", program)]) == ["diary"])
        func isShown(_ process: ChildProcess) async throws -> Bool {
            let reader = try ChildProcess("stat", ["--dereference", "/proc/\(process.pid)/exe"], user: 65_534)
            return try await reader.wait() == .code(0)
        }
        let roots = try await start(program)
        #expect(try await isShown(theirs))
        #expect(try await !isShown(roots), "the kernel hides the programs of others, on which RunningApps depends")
        withExtendedLifetime((theirs, roots)) {}
    }
}
