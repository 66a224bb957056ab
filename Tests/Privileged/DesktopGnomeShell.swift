import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A real gnome-shell of an ordinary user: a Wayland compositor with a virtual monitor, two buses of its own, and the
/// real applocker-prompt as its client. The shell is controlled by the method that its own developers use.
final class GnomeShellSession: Sendable {
    let home: TemporaryDirectory
    let environment: [String: String]
    let shell: ChildProcess
    private let buses: [ChildProcess]
    private let prompter: ChildProcess

    init(of applocker: RunningAppLocker) async throws {
        home = try TemporaryDirectory()
        try Self.writeSettings(in: home, version: try await Self.version())
        try await DesktopSession.assignToUser(home)
        var environment = DesktopSession.environment(home: home, applocker: applocker)
        environment["XDG_SESSION_TYPE"] = "wayland"
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=" + home.path("system-bus")
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + home.path("bus")
        buses = [
            try await DesktopSession.startBus(home.path("system-bus"), environment),
            try await DesktopSession.startBus(home.path("bus"), environment),
        ]
        let shell = try ChildProcess(
            "gnome-shell", ["--wayland", "--headless", "--no-x11", "--virtual-monitor", "1280x800"],
            environment: environment, workingDirectory: home.path, user: DesktopSession.user)
        self.shell = shell
        environment["WAYLAND_DISPLAY"] = "wayland-0"
        self.environment = environment
        // Its start alone may take minutes on a slow computer.
        await eventually(timeout: .seconds(240), every: .milliseconds(200), "gnome-shell can be controlled") {
            if !shell.isRunning { return true }
            return try await Self.evaluate("1", environment) == "1"
        }
        try #require(shell.isRunning, "\(shell.errorOutput)")
        _ = try await Self.evaluate(
            """
            Main.messageTray.getSources().forEach(source => source.destroy());
            global.keyboard = imports.gi.Clutter.get_default_backend().get_default_seat()
                .create_virtual_device(imports.gi.Clutter.InputDeviceType.KEYBOARD_DEVICE); 1
            """, environment)
        // No window has the keyboard during the overview, which is shown while the shell starts.
        await eventually(every: .milliseconds(200), "the overview is hidden") {
            try await Self.evaluate(
                "Main.overview.hide(); Main.layoutManager._startingUp || Main.overview.visible ? 0 : 1", environment)
                == "1"
        }
        prompter = try await DesktopSession.startPrompter(applocker, environment)
    }

    deinit { ProcessRecord.killAll(mentioning: home.path) }

    /// An extension makes `org.gnome.Shell.Eval` available; since version 45 it has to be a module.
    private static func writeSettings(in home: TemporaryDirectory, version: Int) throws {
        let folder = ".local/share/gnome-shell/extensions/tests@applocker/"
        let lift = "global.context.unsafe_mode = true;"
        try home.write(
            #"{"uuid":"tests@applocker","name":"Tests","description":"Drives the shell","shell-version":["\#(version)"]}"#,
            to: folder + "metadata.json")
        try home.write(
            version < 45
                ? "function init() {} function enable() { \(lift) } function disable() {}"
                : "export default class { enable() { \(lift) } disable() {} }",
            to: folder + "extension.js")
        try home.write(
            """
            [org/gnome/shell]
            enabled-extensions=['tests@applocker']
            welcome-dialog-last-shown-version='999'

            """, to: ".config/glib-2.0/settings/keyfile")
    }

    private static func version() async throws -> Int {
        let printed = try await ChildProcess.run("gnome-shell", ["--version"]).output
        return try #require(Int(printed.drop { !$0.isNumber }.prefix(while: \.isNumber)), "no version in \(printed)")
    }

    // MARK: Controlling it

    /// The error of the shell or the bus.
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs JavaScript in the shell and returns the value of its last expression, as JSON.
    @discardableResult
    func evaluate(_ script: String) async throws -> String { try await Self.evaluate(script, environment) }

    private static func evaluate(_ script: String, _ environment: [String: String]) async throws -> String {
        let printed = try await call("/org/gnome/Shell", "org.gnome.Shell.Eval", [script], environment)
        // As in (true, '[12,"none"]').
        guard printed.hasPrefix("(true, '") else { throw Refused(description: "\(script): \(printed)") }
        return String(printed.dropFirst("(true, '".count).prefix { $0 != "'" })
    }

    private static func call(
        _ path: String, _ method: String, _ arguments: [String], _ environment: [String: String]
    ) async throws -> String {
        let outcome = try await ChildProcess.run(
            "gdbus",
            ["call", "--session", "--dest", "org.gnome.Shell", "--object-path", path, "--method", method] + arguments,
            environment: environment, user: DesktopSession.user)
        guard outcome.exit == .code(0) else { throw Refused(description: outcome.errorOutput) }
        return outcome.output
    }

    /// Presses keys on a virtual keyboard of the shell, each by its X keysym.
    func press(_ keys: [UInt32]) async throws {
        for key in keys {
            try await evaluate(
                "global.keyboard.notify_keyval(0, \(key), 1); global.keyboard.notify_keyval(0, \(key), 0); 1")
        }
    }

    /// Types a passcode of ASCII characters, whose keysyms are their codes, and Return.
    func answer(_ passcode: String) async throws {
        try await press(passcode.unicodeScalars.map(\.value) + [0xff0d])
    }

    /// The titles of the visible windows.
    func titles() async throws -> String {
        try await evaluate("global.get_window_actors().map(actor => actor.meta_window.get_title())")
    }

    func awaitPrompt(_ name: String) async throws {
        await eventually(every: .milliseconds(50), "the prompt for \(name)") {
            try await evaluate("String(global.display.focus_window && global.display.focus_window.get_title())")
                == "\"\(name) is locked\""
        }
        // Real time has to pass: keys right after the window appears are not accepted as an answer.
        try await Task.sleep(for: .milliseconds(1_200))
    }

    func photograph(_ name: String) async throws -> Picture {
        let file = home.path(name + ".png")
        _ = try await Self.call(
            "/org/gnome/Shell/Screenshot", "org.gnome.Shell.Screenshot.Screenshot", ["false", "false", file],
            environment)
        return try await Picture(file)
    }
}
