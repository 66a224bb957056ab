import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

/// Files that are found through links and handles.
extension GateTests {
    /// Sends one app with links, and with handles that the gate had reported.
    private func commit(
        _ daemon: DaemonUnderTest, executables: [String] = [], links: [String] = [], handles: [[UInt8]] = []
    ) async throws {
        daemon.send(.beginApp(1))
        for path in executables { daemon.send(.appPath(1, .executable, path: Array(path.utf8))) }
        for path in links { daemon.send(.appPath(1, .link, path: Array(path.utf8))) }
        for handle in handles { daemon.send(.appPath(1, .handle, path: handle)) }
        daemon.send(.commitApp(1, guarded: true, sequence: 1_000))
        try await daemon.next("applied") { if case .applied(1, 1_000, _, _) = $0 { () } else { nil } }
    }

    private func switchLink(_ link: String, to target: String) throws {
        symlink(target, link + ".new")
        try #require(rename(link + ".new", link) == 0)
    }

    /// How long the target of a link runs freely after the link was switched, in many attempts.
    @Test(.timeLimit(.minutes(5)))
    func `the target of a link that is switched repeatedly is soon locked`() async throws {
        let gate = try await GateUnderTest()
        let evader = try CompiledPrograms.evader()
        let link = gate.directory.path("current")
        let rounds = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil ? 1_000 : 50
        let programs = try (0...rounds).map { try TestProgram(at: gate.directory.path("v/\($0)/run")) }
        try switchLink(link, to: gate.directory.path("v/0"))
        let daemon = try await gate.connect { _ in false }
        try await commit(daemon, links: [link + "/run"])
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(link + "/run").exit == .notStarted(errno: EPERM))
        let launcher = try ChildProcess(evader, ["many", link + "/run", "100000000"])
        defer { launcher.kill() }
        var escaped = 0
        for program in programs.dropFirst() {
            let asked = daemon.questions
            try switchLink(link, to: (program.path as NSString).deletingLastPathComponent)
            await eventually("launches cause questions") { daemon.questions > asked + 2 }
            if program.hasRun { escaped += 1 }
            // Those launches may have been waiting before the switch: then the newest target is guarded a little later.
            await eventually("\(program.path) is guarded") {
                try await ChildProcess.run(program.path).exit == .notStarted(errno: EPERM)
            }
        }
        print("links switched while they are started: \(escaped) of \(rounds) targets ran before they were guarded")
        for program in programs {
            #expect(try await ChildProcess.run(program.path).exit == .notStarted(errno: EPERM))
        }
    }

    @Test func `a link without a target is followed once it has one`() async throws {
        let gate = try await GateUnderTest()
        let program = try TestProgram(at: gate.directory.path("v/2/bin/run"))
        let link = gate.directory.path("links/current")
        mkdir(gate.directory.path("links"), 0o755)
        symlink("../v/1", link)
        let daemon = try await gate.connect { _ in false }
        try await commit(daemon, links: [link + "/bin/run"])
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(program.path, ["seven"]).exit == .code(7))
        try FileManager.default.removeItem(atPath: gate.directory.path("links"))
        mkdir(gate.directory.path("links"), 0o755)
        symlink("../v/2", link)
        await eventually("the link's new target is guarded") {
            try await ChildProcess.run(program.path, ["seven"]).exit == .notStarted(errno: EPERM)
        }
    }

    /// Otherwise a user could deny everybody's shell.
    @Test func `a user's link guards that user's programs alone`() async throws {
        let gate = try await GateUnderTest()
        let root = try TestProgram(at: gate.directory.path("root/run"))
        let own = try TestProgram(at: gate.directory.path("own/run"))
        chown(own.path, 65534, 65534)
        let links = ["own", "root"].map { gate.directory.path("link-" + $0) }
        for (link, name) in zip(links, ["own", "root"]) {
            symlink(name + "/run", link)
            lchown(link, 65534, 65534)
        }
        let daemon = try await gate.connect { _ in false }
        try await commit(daemon, links: links)
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(own.path, ["seven"]).exit == .notStarted(errno: EPERM))
        #expect(try await ChildProcess.run(root.path, ["seven"]).exit == .code(7))
    }

    @Test func `a file is found by its handle wherever it was moved, and a removed one is reported`() async throws {
        let gate = try await GateUnderTest()
        let home = gate.directory.path("home")
        let program = try TestProgram(at: home + "/apps/run")
        let other = try TestProgram(at: home + "/apps/other")
        for path in [home, home + "/apps", program.path] { chown(path, 65534, 65534) }
        let first = try await gate.connect { _ in false }
        try await commit(first, executables: [program.path, other.path])
        var handles: [[UInt8]] = []
        for _ in 0..<2 {
            handles.append(
                try await first.next("handle") {
                    if case .file(1, isPresent: true, let handle) = $0 { handle } else { nil }
                })
        }
        try await gate.kill()
        // No mark remains.
        gate.store.closeDescriptors()
        rename(program.path, home + "/y")
        unlink(other.path)
        let next = try await GateUnderTest()
        let daemon = try await next.connect { _ in false }
        #expect(try await ChildProcess.run("/bin/true").exit == .code(0))
        try await commit(daemon, executables: [program.path, other.path], handles: handles)
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(home + "/y").exit == .notStarted(errno: EPERM))
        #expect(daemon.questions == 1)
        let gone = try await daemon.next("the removed file") {
            if case .file(1, isPresent: false, let handle) = $0 { handle } else { nil }
        }
        #expect(handles.contains(gone))
    }

    @Test func `a file that exists and can't be marked is reported`() async throws {
        let gate = try await GateUnderTest()
        let daemon = try await gate.connect { _ in false }
        let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"
        try await commit(daemon, executables: [libc, gate.directory.path("missing")])
        #expect(
            try await daemon.next("files without a mark") {
                if case .unguarded(1, let count) = $0 { count } else { nil }
            } == 1)
        try await daemon.setGuarded(1, false)
        #expect(
            try await daemon.next("no file without a mark") {
                if case .unguarded(1, let count) = $0 { count } else { nil }
            } == 0)
    }
}
