import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A desktop for one test: a real X server (or a Wayland compositor without a screen), the real applocker-prompt, and a
/// scripted daemon.
final class Desktop: Sendable {
    enum Kind: Sendable, CaseIterable {
        case bareX11, openbox
    }

    let directory: TemporaryDirectory
    let daemon: ScriptedDaemon
    let environment: [String: String]
    let server: XServer
    let windowManager: ChildProcess?

    /// - Parameters:
    ///   - settings: lines of GTK's settings.ini.
    ///   - repeatsKeys: of the X server.
    init(_ kind: Kind = .bareX11, settings: [String] = [], repeatsKeys: Bool = false) async throws {
        directory = try TemporaryDirectory()
        // Some tests use other users of the machine as the session's user.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        daemon = try ScriptedDaemon(socketPath: directory.path("control.sock"))
        try directory.write(
            (["[Settings]", "gtk-font-name=DejaVu Sans 10"] + settings).joined(separator: "\n") + "\n",
            to: "config/gtk-4.0/settings.ini")
        server = try await XServer(screen: "1024x768x24", repeatsKeys: repeatsKeys)
        environment = Self.environment(directory).merging(["DISPLAY": server.display, "GDK_BACKEND": "x11"]) { $1 }
        windowManager = kind == .openbox ? try await ChildProcess.openbox(environment: environment) : nil
    }

    static func environment(_ directory: TemporaryDirectory) -> [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            "HOME": directory.path, "XDG_CONFIG_HOME": directory.path("config"),
            "DBUS_SESSION_BUS_ADDRESS": "disabled:", "GTK_A11Y": "none", "GSETTINGS_BACKEND": "memory",
        ]
    }

    /// Starts applocker-prompt and waits until it is connected.
    func startPrompt(user: uid_t? = nil, settings: [String: String] = [:]) async throws -> ChildProcess {
        let prompt = try ChildProcess(
            BuiltProducts.path("applocker-prompt"), ["--socket", daemon.socketPath],
            environment: environment.merging(settings) { $1 }, user: user)
        await eventually("the prompter connects: \(prompt.stateDescription)") {
            self.daemon.prompterCount == 1 || !prompt.isRunning
        }
        try #require(prompt.isRunning, "\(prompt.stateDescription)")
        return prompt
    }

    /// Runs an X client and returns what it printed.
    @discardableResult
    func x(_ program: String, _ arguments: String...) async throws -> String {
        try await ChildProcess.run(program, arguments, environment: environment).output
    }

    /// The X ids of the prompter's visible windows.
    func windows() async throws -> [String] {
        try await x("xdotool", "search", "--onlyvisible", "--class", "applocker-prompt")
            .split(separator: "\n").map(String.init)
    }

    func title() async throws -> String {
        guard let window = try await windows().first else { return "" }
        return try await x("xdotool", "getwindowname", window).trimmingCharacters(in: .newlines)
    }

    /// Waits for the window of this launch; keys pressed at once after it appeared are not accepted as an answer.
    func awaitWindow(_ title: String) async throws {
        await eventually("the window \(title)") { try await self.title() == title }
        // Real time has to pass: the window ignores Enter for its first 400 ms, without a sign of their end.
        try await Task.sleep(for: .milliseconds(500))
    }

    func awaitNoWindow() async {
        await eventually("no window") { try await self.windows().isEmpty }
    }

    /// Waits until openbox has given the keyboard to the visible window of this class: keys that are pressed before
    /// reach no window.
    func awaitKeyboard(of className: String) async {
        await eventually("\(className) has the keyboard") {
            let active = try await self.x("xdotool", "getactivewindow").trimmingCharacters(in: .newlines)
            return try await self.x("xdotool", "search", "--onlyvisible", "--class", className)
                .split(separator: "\n").contains { $0 == active }
        }
    }

    /// A child that reports each window that is mapped or unmapped from now on, by the names of X's events.
    func watchWindows() async throws -> ChildProcess {
        let watcher = try ChildProcess("xev", ["-root", "-event", "substructure"], environment: environment)
        // It reports the test's own windows as soon as it watches.
        var probes: [ChildProcess] = []
        await eventually(every: .milliseconds(300), "xev watches the screen") {
            if watcher.output.contains("MapNotify") { return true }
            probes.append(try ChildProcess("xev", ["-name", "probe"], environment: environment))
            return false
        }
        for probe in probes {
            probe.kill()
            _ = try await probe.wait()
        }
        await eventually("they are closed") { try await self.x("xdotool", "search", "--name", "^probe$").isEmpty }
        return watcher
    }

    /// A child that prints "moved" if a part of the prompter's window is drawn differently from now on.
    func watchMovement(of part: String) async throws -> ChildProcess {
        let window = try #require(try await windows().first)
        let place = try await x("xdotool", "getwindowgeometry", "--shell", window).split(separator: "\n")
        func position(_ axis: String) throws -> Int {
            try #require(place.first { $0.hasPrefix(axis + "=") }.flatMap { Int($0.dropFirst(axis.count + 1)) })
        }
        // WIDTHxHEIGHT+X+Y
        let numbers = part.split { !$0.isNumber }.compactMap { Int($0) }
        let (x, y) = try (position("X") + numbers[2], position("Y") + numbers[3])
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../movement.py"
        let watcher = try ChildProcess(
            "/usr/bin/python3", [program] + [x, y, numbers[0], numbers[1]].map(String.init), environment: environment)
        await eventually("it has seen the part: \(watcher.stateDescription)") {
            watcher.output.hasPrefix("watching\n") || !watcher.isRunning
        }
        return watcher
    }

    func type(_ text: String) async throws { try await x("xdotool", "type", "--delay", "5", text) }

    func press(_ keys: String...) async throws {
        for key in keys { try await x("xdotool", "key", "--delay", "20", key) }
    }

    /// How many points of the screen have the colour of the windows' warnings: of a refusal, of a recording.
    func warningPoints() async throws -> Int {
        try await points { red, green, blue in red > green + 80 && red > blue + 80 }
    }

    /// How many points of the screen have a colour for which `fits` is true.
    func points(_ fits: (_ red: Int, _ green: Int, _ blue: Int) -> Bool) async throws -> Int {
        let shot = try ChildProcess("import", ["-window", "root", "-depth", "8", "rgb:-"], environment: environment)
        try await shot.wait()
        let bytes = [UInt8](shot.outputData)
        return stride(from: 0, to: bytes.count - 2, by: 3).count { start in
            fits(Int(bytes[start]), Int(bytes[start + 1]), Int(bytes[start + 2]))
        }
    }

    /// The pixels of a part of the prompter's window, 8 bits of grey each, from the screen.
    func photograph(_ part: String) async throws -> Data {
        let window = try #require(try await windows().first)
        let shot = try ChildProcess(
            "import", ["-window", window, "-crop", part, "+repage", "-depth", "8", "gray:-"], environment: environment)
        try #require(try await shot.wait() == .code(0))
        return shot.outputData
    }
}
