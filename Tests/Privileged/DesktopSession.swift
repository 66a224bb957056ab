import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A desktop of an ordinary user for one test: a real X server, openbox, a session bus and the real applocker-prompt.
/// Everything that was started in it ends with it.
final class DesktopSession: Sendable {
    /// nobody: an ordinary user that every machine has.
    static let user: uid_t = 65534

    let home: TemporaryDirectory
    let environment: [String: String]
    private let server: XServer
    private let bus: ChildProcess
    private let windowManager: ChildProcess
    private let prompter: ChildProcess

    /// - Parameters:
    ///   - files: text files of the user's home, by name: written before anything starts.
    ///   - before: starts programs before the prompter searches for the desktop's processes.
    init(
        of applocker: RunningAppLocker, files: [String: String] = [:],
        before: (_ environment: [String: String]) async throws -> Void = { _ in }
    ) async throws {
        home = try TemporaryDirectory()
        for (name, text) in files { try home.write(text, to: name) }
        try await Self.assignToUser(home)
        server = try await XServer(screen: "1280x800x24")
        var environment = Self.environment(home: home, applocker: applocker)
        environment["DISPLAY"] = server.display
        environment["GDK_BACKEND"] = "x11"
        bus = try await Self.startBus(home.path("bus"), environment)
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + home.path("bus")
        self.environment = environment
        windowManager = try await ChildProcess.openbox(
            environment: environment, workingDirectory: home.path, user: Self.user)
        try await before(environment)
        prompter = try await Self.startPrompter(applocker, environment)
    }

    /// The process groups that the desktop started.
    deinit { ProcessRecord.killAll(mentioning: home.path) }

    /// The environment of a login, as far as it matters here.
    static func environment(home: TemporaryDirectory, applocker: RunningAppLocker) -> [String: String] {
        [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": home.path,
            "XDG_RUNTIME_DIR": home.path("run"), "XDG_CURRENT_DESKTOP": "GNOME", "GSETTINGS_BACKEND": "keyfile",
            "NO_AT_BRIDGE": "1", "GTK_A11Y": "none", "APPLOCKER_SOCKET": applocker.socketPath,
        ]
    }

    /// Makes the user the owner of the home and its content.
    static func assignToUser(_ home: TemporaryDirectory) async throws {
        chmod(home.path, 0o755)
        mkdir(home.path("run"), 0o700)
        let outcome = try await ChildProcess.run("chown", ["-R", "\(user):\(user)", home.path])
        try #require(outcome.exit == .code(0), "\(outcome.errorOutput)")
    }

    static func startBus(_ path: String, _ environment: [String: String]) async throws -> ChildProcess {
        let bus = try ChildProcess(
            "dbus-daemon", ["--session", "--nofork", "--print-address", "--address=unix:path=" + path],
            environment: environment, user: user)
        // Its socket exists a moment before it listens.
        await eventually("the bus listens; output: \(bus.errorOutput)") { bus.output.contains("\n") }
        return bus
    }

    /// Starts applocker-prompt and waits until its display is ready, which the daemon can't report.
    static func startPrompter(
        _ applocker: RunningAppLocker, _ environment: [String: String]
    ) async throws -> ChildProcess {
        let prompter = try ChildProcess(
            try BuiltProducts.path("applocker-prompt"), environment: environment, user: user)
        await eventually("the prompter connects; output: \(prompter.errorOutput)") {
            prompter.errorOutput.contains("Connected.")
                && prompter.errorOutput.contains("The desktop's processes are registered.") || !prompter.isRunning
        }
        try #require(prompter.isRunning, "\(prompter.stateDescription)")
        return prompter
    }

    // MARK: Starting programs

    /// Starts a program as the user does from a terminal.
    func start(_ program: String, _ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess(
            program, arguments, environment: environment, workingDirectory: home.path, user: Self.user)
    }

    /// Starts an installed app through its desktop entry, by GLib.
    func startEntry(_ id: String) throws -> ChildProcess {
        try start("gio", ["launch", "/usr/share/applications/\(id).desktop"])
    }

    // MARK: Looking and typing

    /// Runs an X client and returns what it printed.
    @discardableResult
    func x(_ program: String, _ arguments: [String]) async throws -> String {
        try await ChildProcess.run(program, arguments, environment: environment).output
    }

    /// The X ids of the visible windows. `--class` and `--name` take a pattern.
    func windows(_ property: String, _ pattern: String) async throws -> [String] {
        try await x("xdotool", ["search", "--onlyvisible", property, pattern]).split(separator: "\n").map(String.init)
    }

    func isPromptVisible() async throws -> Bool {
        try await !windows("--class", "^applocker-prompt$").isEmpty
    }

    /// Waits for the prompt for this app.
    func awaitPrompt(_ name: String) async throws {
        await eventually("the prompt for \(name)") {
            try await !windows("--name", "^\(name) is locked$").isEmpty
        }
        await eventually("the prompt for \(name) has the keyboard") {
            try await x("xdotool", ["getwindowfocus", "getwindowname"]) == "\(name) is locked\n"
        }
        // Real time has to pass: keys right after the window appears are not accepted as an answer.
        try await Task.sleep(for: .milliseconds(600))
    }

    func awaitNoPrompt() async {
        await eventually("no prompt") { try await !isPromptVisible() }
    }

    func awaitWindow(_ property: String, _ pattern: String, timeout: Duration = .seconds(60)) async throws -> String {
        let isThere = await eventually(
            timeout: timeout, every: .milliseconds(100), "a window with \(property) \(pattern)"
        ) {
            try await !windows(property, pattern).isEmpty
        }
        if !isThere { _ = try await photograph("missing-window") }
        return try #require(try await windows(property, pattern).first)
    }

    func type(_ text: String) async throws { try await x("xdotool", ["type", "--delay", "12", text]) }

    func press(_ keys: String...) async throws {
        for key in keys {
            try await x("xdotool", ["key", "--delay", "12", key])
            try await Task.sleep(for: .milliseconds(120))
        }
    }

    /// Types a passcode into the prompt.
    func answer(_ passcode: String) async throws {
        try await type(passcode)
        try await press("Return")
    }

    func processOfWindow(_ window: String) async throws -> pid_t? {
        pid_t(try await x("xdotool", ["getwindowpid", window]).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// The whole screen, also stored as `name`.png in the directory that APPLOCKER_PICTURES names.
    func photograph(_ name: String) async throws -> Picture {
        let file = home.path(name + ".png")
        try await x("import", ["-window", "root", file])
        return try await Picture(file)
    }
}
