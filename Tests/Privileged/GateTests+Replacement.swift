import Foundation
import GateProtocol
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// Files that are replaced as package managers replace them, and file systems that are mounted and unmounted.
extension GateTests {
    /// Starts the program again and again while it is replaced by renaming new copies over it. Returns how many
    /// replacements there were, and after how many of them a launch escaped.
    private func race(
        _ program: TestProgram, replacements: Int, asking daemon: DaemonUnderTest
    ) async throws -> (replacements: Int, escapes: Int) {
        let evader = try CompiledPrograms.evader()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: program.path))
        let launcher = try ChildProcess(evader, ["many", program.path, "100000000"])
        defer { launcher.kill() }
        var escapes = 0
        var runs = 0
        for number in 0..<replacements {
            let asked = daemon.questions
            // In the same directory, as dpkg does.
            let new = program.path + ".dpkg-new"
            try bytes.write(to: URL(fileURLWithPath: new))
            chmod(new, 0o755)
            rename(new, program.path)
            // One of them may have caused its question before the replacement.
            await eventually("replacement \(number) causes a question") { daemon.questions > asked + 1 }
            let now = program.runs.count
            if now > runs { escapes += 1 }
            runs = now
        }
        return (replacements, escapes)
    }

    private var replacements: Int {
        ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil ? 1_000 : 50
    }

    @Test(.timeLimit(.minutes(10)))
    func `a program replaced in a private directory never escapes`() async throws {
        let gate = try await GateUnderTest()
        let program = try TestProgram(at: gate.directory.path("opt/app/program"))
        let daemon = try await gate.connect { _ in false }
        try await daemon.commit(
            1, executables: [program.path], directories: [gate.directory.path("opt/app")])
        try await daemon.synchronise()
        let outcome = try await race(program, replacements: replacements, asking: daemon)
        #expect(outcome.escapes == 0)
        #expect(daemon.questions > outcome.replacements)
    }

    /// Elsewhere there is a window, see docs/limitations.md. After it the new file is as locked as the old one.
    @Test(.timeLimit(.minutes(10)))
    func `a program replaced elsewhere is locked again at once`() async throws {
        let app = try await OneApp { _ in false }
        let outcome = try await race(app.program, replacements: replacements, asking: app.daemon)
        print("package replacement outside private directories: \(outcome.escapes) of \(outcome.replacements) escaped")
        try await app.daemon.filesNoticed()
        let child = try ChildProcess(app.program.path)
        #expect(try await child.wait() == .notStarted(errno: EPERM))
        #expect(!app.program.runs.contains { $0.pid == child.pid })
        _ = try await app.daemon.next("report of the change") {
            if case .filesChanged(OneApp.app) = $0 { true } else { nil }
        }
    }

    @Test func `the old version of a replaced program stays locked`() async throws {
        let app = try await OneApp { _ in false }
        let old = app.program.path + ".old"
        link(app.program.path, old)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: app.program.path))
        try bytes.write(to: URL(fileURLWithPath: app.program.path + ".new"))
        chmod(app.program.path + ".new", 0o755)
        rename(app.program.path + ".new", app.program.path)
        _ = try await app.daemon.next("report of the change") {
            if case .filesChanged(OneApp.app) = $0 { true } else { nil }
        }
        // The daemon looks the app up again and sends the result.
        try await app.daemon.commit(OneApp.app, executables: [app.program.path])
        #expect(try await ChildProcess.run(old).exit == .notStarted(errno: EPERM))
        #expect(try await ChildProcess.run(app.program.path).exit == .notStarted(errno: EPERM))
        #expect(app.daemon.questions == 2)
        try await app.daemon.setGuarded(OneApp.app, false)
        #expect(try await ChildProcess.run(old, ["seven"]).exit == .code(7))
    }

    @Test func `replacing a directory above the program is noticed`() async throws {
        let gate = try await GateUnderTest()
        let program = try TestProgram(at: gate.directory.path("vendor/app/bin/program"))
        let daemon = try await gate.connect { _ in false }
        try await daemon.commit(1, executables: [program.path])
        try await daemon.synchronise()
        rename(gate.directory.path("vendor"), gate.directory.path("vendor.old"))
        _ = try TestProgram(at: gate.directory.path("new/app/bin/program"))
        rename(gate.directory.path("new"), gate.directory.path("vendor"))
        // A report may still be that of the first renaming.
        try await daemon.filesNoticed()
        _ = try await daemon.next("report of the change") { if case .filesChanged(1) = $0 { true } else { nil } }
        #expect(try await ChildProcess.run(program.path).exit == .notStarted(errno: EPERM))
        #expect(
            try await ChildProcess.run(gate.directory.path("vendor.old/app/bin/program")).exit
                == .notStarted(errno: EPERM))
    }

    @Test func `a file system that is mounted again is marked again`() async throws {
        let gate = try await GateUnderTest()
        let image = gate.directory.path("image")
        let place = gate.directory.path("place")
        mkdir(place, 0o755)
        let made = try await ChildProcess.run(
            "/bin/sh",
            ["-c", "truncate -s 16M \(image) && mkfs.ext4 -q \(image) && mount -o loop \(image) \(place)"])
        try #require(made.exit == .code(0), "\(made.errorOutput)")
        defer { _ = try? Process.run(URL(fileURLWithPath: "/bin/umount"), arguments: ["-l", place]).waitUntilExit() }
        let program = try TestProgram(at: place + "/program")
        let daemon = try await gate.connect { _ in false }
        try await daemon.commit(1, executables: [program.path])
        try await daemon.synchronise()
        #expect(try await ChildProcess.run(program.path).exit == .notStarted(errno: EPERM))
        // The gate closes the program, which it has open for the kernel's question, after it has answered.
        try await daemon.roundTrip()
        let remounted = try await ChildProcess.run(
            "/bin/sh", ["-c", "umount \(place) && mount -o loop \(image) \(place)"])
        try #require(remounted.exit == .code(0), "marks keep no file system busy: \(remounted.errorOutput)")
        try await daemon.filesNoticed()
        #expect(try await ChildProcess.run(program.path).exit == .notStarted(errno: EPERM))
    }
}
