import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// Locked apps whose files move: new versions next to old ones, links that are switched, programs that are renamed.
@Suite(.serialized, .requires(.root, .fanotify, .program("cc")))
struct UpdatedAppTests {
    /// How the version that runs is selected.
    enum Layout: String, Sendable, CaseIterable {
        /// `/opt/editor/current` links to a directory.
        case directoryLink
        /// `/usr/local/bin/editor` links to a program elsewhere.
        case programLink
        /// `/usr/bin/editor` links to `/etc/alternatives/editor`, and that to one of several programs.
        case alternatives

        /// What is started, its target before and after the update, and the link that is switched.
        var names: (called: String, first: String, second: String, link: String) {
            switch self {
            case .directoryLink: ("editor/current/bin/run", "editor/1/bin/run", "editor/2/bin/run", "editor/current")
            case .programLink: ("bin/editor", "lib/editor-old/run", "share/new-editor/start", "bin/editor")
            case .alternatives: ("bin/editor", "lib/editor.basic", "lib/editor.full", "alternatives/editor")
            }
        }

        func target(_ program: String, in root: String) -> String {
            self == .directoryLink ? (program as NSString).pathComponents[1] : root + "/" + program
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: Layout.allCases)
    func theNewTargetOfASwitchedLinkIsHeld(layout: Layout) async throws {
        let applocker = try await RunningAppLocker()
        let root = applocker.directory.path("tree")
        let names = layout.names
        let called = root + "/" + names.called
        _ = try TestProgram(at: root + "/" + names.first)
        try switchLink(root + "/" + names.link, to: layout.target(names.first, in: root))
        if layout == .alternatives { try switchLink(called, to: root + "/alternatives/editor") }
        try await applocker.add(called)
        #expect(try await ChildProcess.run(called, ["seven"]).exit == .notStarted(errno: EPERM))

        let second = try TestProgram(at: root + "/" + names.second)
        try switchLink(root + "/" + names.link, to: layout.target(names.second, in: root))
        await eventually("the link's new target is held") {
            try await ChildProcess.run(called, ["seven"]).exit == .notStarted(errno: EPERM)
        }
        #expect(try await ChildProcess.run(second.path, ["seven"]).exit == .notStarted(errno: EPERM))
        #expect(
            try await ChildProcess.run(root + "/" + names.first, ["seven"]).exit == .notStarted(errno: EPERM),
            "the earlier version stays locked")

        // Switched once more while AppLocker is stopped.
        let third = try TestProgram(at: root + "/third/bin/run")
        try await applocker.stopAndStart {
            try FileManager.default.removeItem(atPath: root + "/" + names.link)
            try switchLink(root + "/" + names.link, to: layout == .directoryLink ? root + "/third" : third.path)
        }
        #expect(try await ChildProcess.run(called, ["seven"]).exit == .notStarted(errno: EPERM))
        #expect(!third.hasRun)
        try await applocker.unlock(try #require(await applocker.apps().first))
        for program in [called, second.path] {
            #expect(try await ChildProcess.run(program, ["seven"]).exit == .code(7))
        }
        try await applocker.stop()
    }

    /// Its user may rename it at any time, and only its user chooses its name.
    @Test(.timeLimit(.minutes(5)))
    func aProgramThatItsUserHasMovedIsHeldAfterARestart() async throws {
        let applocker = try await RunningAppLocker()
        let home = applocker.directory.path("home")
        let program = try TestProgram(at: home + "/Apps/diary.AppImage")
        for path in [home, home + "/Apps", program.path] { chown(path, 65534, 65534) }
        try await applocker.add(program.path)
        #expect(rename(program.path, home + "/x") == 0)
        #expect(
            try await ChildProcess.run(home + "/x", ["seven"], user: 65534).exit == .notStarted(errno: EPERM),
            "as long as the gate runs")
        try await applocker.stopAndStart {
            #expect(rename(home + "/x", home + "/y") == 0)
        }
        #expect(try await ChildProcess.run(home + "/y", ["seven"], user: 65534).exit == .notStarted(errno: EPERM))
        #expect(!program.hasRun)
        try await applocker.unlock(try #require(await applocker.apps().first))
        #expect(try await ChildProcess.run(home + "/y", ["seven"], user: 65534).exit == .code(7))
        try await applocker.stop()
    }

    /// Before its app is open, or meanwhile.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func aProgramThatItsUserHasMovedIsHeldWhenItsAppIsLockedAgain(_ isMovedWhileLocked: Bool) async throws {
        let applocker = try await RunningAppLocker()
        let home = applocker.directory.path("home")
        let program = try TestProgram(at: home + "/Apps/diary.AppImage")
        for path in [home, home + "/Apps", program.path] { chown(path, 65534, 65534) }
        try await applocker.add(program.path)
        let app = try #require(await applocker.apps().first)
        func run() async throws -> ChildProcess.Exit {
            try await ChildProcess.run(home + "/x", ["seven"], user: 65534).exit
        }
        if isMovedWhileLocked {
            #expect(rename(program.path, home + "/x") == 0)
            #expect(try await run() == .notStarted(errno: EPERM))
        }
        try await applocker.unlock(app)
        if !isMovedWhileLocked { #expect(rename(program.path, home + "/x") == 0) }
        #expect(try await run() == .code(7))
        try await applocker.lock(app)
        #expect(try await run() == .notStarted(errno: EPERM))
        try await applocker.stop()
    }

    /// As `ln -sfn` does it.
    private func switchLink(_ link: String, to target: String) throws {
        try FileManager.default.createDirectory(
            atPath: (link as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link + ".new", withDestinationPath: target)
        try #require(rename(link + ".new", link) == 0)
    }
}
