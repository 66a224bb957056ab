import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A process that draws the desktop starts a locked app. It waits for the app's execve, which must not be held: nothing
/// could draw the prompt.
@Suite(
    .serialized,
    .requires(
        .root, .fanotify, .display, .program("cc"), .program("openbox"), .program("dbus-daemon"),
        .program("xdotool"), .program("import")))
struct DesktopTests {
    @Test(.requires(.program("pkg-config")))
    func aCompositorIsAnsweredAtOnceAndTheAppStartsUnchangedAfterThePasscode() async throws {
        let applocker = try await RunningAppLocker(promptTimeoutSeconds: 300)
        let program = try TestProgram(at: applocker.directory.path("apps/My \"Diary\""))
        try await applocker.add(program.path)
        let directory = applocker.directory.path("apps")
        // Not a child of this process: the prompter has to find it by its name, as it finds every compositor.
        var compositor: ChildProcess?
        let session = try await DesktopSession(of: applocker) { environment in
            let started = try ChildProcess(
                try await Self.compiledCompositor(in: applocker.directory),
                [directory, program.path, "two words", "", "ü\n"],
                environment: environment, input: .pipe, user: DesktopSession.user)
            await eventually("it runs") { started.output == "ready\n" }
            compositor = started
        }
        let desktop = try #require(compositor)

        for (index, way) in ["posix_spawn", "glib", "glib-fork"].enumerated() {
            desktop.write(way + "\n")
            await eventually("\(way) is answered") {
                desktop.output.split(separator: "\n").last?.hasPrefix(way + " ") == true
            }
            let words = try #require(desktop.output.split(separator: "\n").last).split(separator: " ")
            #expect(words[1] == "refused", "\(desktop.output)")
            #expect(try #require(Int(words[2])) < 20_000_000, "\(way): microseconds; a prompt has 30 s")
            try await session.awaitPrompt("My \"Diary\"")
            #expect(program.runs.count == index)

            try await session.answer(RunningAppLocker.passcode)
            await eventually("\(way): it runs") { program.runs.count == index + 1 }
            let run = try #require(program.runs.last)
            #expect(run.arguments == [program.path, "two words", "", "ü\n"])
            #expect(run.environment == ["WAY=" + way, "GREETING=two words = one", ""])
            #expect(run.directory == directory)
            await session.awaitNoPrompt()
            try await applocker.lock(program.path)
        }
        try await applocker.stop()
    }

    @Test func aWindowManagersKeyStartsALockedAppAfterThePasscode() async throws {
        let applocker = try await RunningAppLocker(promptTimeoutSeconds: 300)
        let program = try TestProgram(at: applocker.directory.path("diary"))
        try await applocker.add(program.path)
        let session = try await DesktopSession(
            of: applocker,
            files: [
                ".config/openbox/rc.xml": """
                <openbox_config xmlns="http://openbox.org/3.4/rc"><keyboard><keybind key="C-A-d">
                <action name="Execute"><command>\(program.path) 'two words'</command></action>
                </keybind></keyboard></openbox_config>
                """
            ])
        try await session.press("ctrl+alt+d")
        // openbox has to map the prompt's window.
        try await session.awaitPrompt("diary")
        _ = try await session.photograph("openbox-key")
        #expect(!program.hasRun)
        try await session.answer(RunningAppLocker.passcode)
        await eventually("it runs") { program.runs.count == 1 }
        let run = try #require(program.runs.first)
        #expect(run.arguments == [program.path, "two words"])
        #expect(run.directory == session.home.path)
        #expect(run.environment.contains("HOME=" + session.home.path))
        try await applocker.stop()
    }

    /// GNOME starts an app's entry through a small program, and that is held. A command that the shell spawns itself
    /// would stop the whole desktop: it is denied and started again.
    @Test(.requires(.program("gnome-shell"), .program("gdbus"), .program("gnome-calculator"), .program("convert")))
    func aRealGnomeShellContinuesWhileItsAppWaitsForThePasscode() async throws {
        let applocker = try await RunningAppLocker(promptTimeoutSeconds: 300)
        try await applocker.add("org.gnome.Calculator")
        let session = try await GnomeShellSession(of: applocker)
        let entry = """
            imports.gi.Shell.AppSystem.get_default().lookup_app("org.gnome.Calculator.desktop")
                .launch(0, -1, imports.gi.Shell.AppLaunchGpu.APP_PREF)
            """
        let command = #"imports.gi.GLib.spawn_command_line_async("gnome-calculator --mode=advanced")"#
        for (way, launch) in [("entry", entry), ("command", command)] {
            let milliseconds = try await session.evaluate(
                "const start = Date.now(); try { \(launch) } catch (error) {} Date.now() - start")
            #expect(try #require(Int(milliseconds)) < 20_000, "\(way): milliseconds; a prompt has 30 s")
            try await session.awaitPrompt("Calculator")
            #expect(ProcessRecord.running("/usr/bin/gnome-calculator").isEmpty)
            let asked = try await session.photograph("gnome-shell-\(way)-asked")
            #expect(asked.distinctColours > 200)

            try await session.answer("wrong")
            await eventually(every: .milliseconds(200), "\(way): the prompt shows the refusal") {
                try await session.photograph("gnome-shell-\(way)-refused").alarmed > asked.alarmed + 300
            }
            try await session.answer(RunningAppLocker.passcode)
            await eventually(every: .milliseconds(100), "\(way): the app's window") {
                try await session.titles() == #"["Calculator"]"#
            }
            await eventually(every: .milliseconds(300), "\(way): its orange key is visible") {
                try await session.photograph("gnome-shell-\(way)-open")
                    .count(red: 240...255, green: 90...140, blue: 0...40) > 2000
            }
            let running = try #require(ProcessRecord.running("/usr/bin/gnome-calculator").first)
            #expect(running.arguments == ["gnome-calculator"] + (way == "command" ? ["--mode=advanced"] : []))
            kill(running.pid, SIGKILL)
            try await applocker.lock("org.gnome.Calculator")
            await eventually("it has ended") { ProcessRecord.running("/usr/bin/gnome-calculator").isEmpty }
        }
        #expect(session.shell.isRunning)
        try await applocker.stop()
    }

    /// Compiled under the name of a compositor.
    private static func compiledCompositor(in directory: TemporaryDirectory) async throws -> String {
        let source = try directory.write(compositorSource, to: "desktop/labwc.c")
        let program = directory.path("desktop/labwc")
        let flags = try await ChildProcess.run("pkg-config", ["--cflags", "--libs", "glib-2.0"])
        try #require(flags.exit == .code(0), "GLib's headers are missing: \(flags.errorOutput)")
        let words = flags.output.split(whereSeparator: \.isWhitespace).map(String.init)
        let compiler = try await ChildProcess.run("cc", ["-O1", "-Wall", "-o", program, source] + words)
        try #require(compiler.exit == .code(0), "\(compiler.errorOutput)")
        return program
    }
}
