import ControlAPI
import Foundation
import LocalControl
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

extension Trait where Self == RequirementTrait {
    /// The test, or every test of the suite, needs what a `WindowSession` starts.
    static var windowSession: Self {
        .requires(
            .display, .program("openbox"), .program("mutter"), .program("dbus-daemon"), .program("xdotool"),
            .program("import"), .program("/usr/bin/python3"), .path("/usr/share/doc/gir1.2-atspi-2.0"))
    }
}

/// A desktop session for one test: an X server with a window manager or a Wayland compositor, a session bus with an
/// accessibility bus, a whole AppLocker, and the real applocker-desktop.
final class WindowSession: Sendable {
    /// A part of the window, as a screen reader sees it.
    struct Part: Decodable, Sendable {
        var role: String
        var name: String
        var text: String
        var isOn: Bool
        /// Whether it is a window with the role "frame" that has the keyboard. GTK reports it of no dialog.
        var isActive: Bool
        /// In pixels, from the left side of its window.
        var x: Int
        var width: Int
        var height: Int
    }

    private struct Reply: Decodable {
        var parts: [Part]?
        var error: String?
    }

    static let passcode = "correct horse 9"

    let directory: TemporaryDirectory
    let client: ControlClient
    let environment: [String: String]
    private let supervisor: ChildProcess
    private let screen: any WindowScreen
    private let bus: ChildProcess
    private let reader: ChildProcess
    private let replies = Mutex(0)
    /// The process whose window is read.
    private let window = Mutex<ChildProcess?>(nil)

    /// - Parameters:
    ///   - isSetUp: whether AppLocker has its passcode.
    ///   - service: whether applocker-desktop can be activated over D-Bus.
    init(
        isSetUp: Bool = true, settings: [String: String] = [:], service: Bool = false, on kind: WindowScreenKind = .x11
    ) async throws {
        directory = try TemporaryDirectory()
        try directory.write(
            "[Settings]\ngtk-font-name=Cantarell 11\ngtk-enable-animations=false\n",
            to: "config/gtk-4.0/settings.ini")
        for name in ["runtime", "data/dbus-1/services"] {
            try FileManager.default.createDirectory(
                atPath: directory.path(name), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        let socket = directory.path("state/control.sock")
        client = ControlClient(socketPath: socket)
        supervisor = try ChildProcess(
            BuiltProducts.path("applocker"),
            ["up", "--state", directory.path("state"), "--no-hub"] + (geteuid() == 0 ? [] : ["--user-mode"]))
        var environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "HOME": directory.path, "XDG_CONFIG_HOME": directory.path("config"),
            "XDG_RUNTIME_DIR": directory.path("runtime"), "XDG_DATA_DIRS": directory.path("data") + ":/usr/share",
            "GSETTINGS_BACKEND": "memory", "APPLOCKER_SOCKET": socket,
            // A busy machine reads the window for longer than a toast is shown.
            "APPLOCKER_TOAST_SECONDS": "60",
        ].merging(settings) { $1 }
        if service {
            try directory.write(
                "[D-BUS Service]\nName=org.applocker.AppLocker\n"
                    + "Exec=\(try BuiltProducts.path("applocker-desktop")) --gapplication-service\n",
                to: "data/dbus-1/services/org.applocker.AppLocker.service")
        }
        let bus = try ChildProcess(
            "dbus-daemon", ["--session", "--nofork", "--nopidfile", "--print-address"], environment: environment)
        self.bus = bus
        await eventually("the session bus listens") { bus.output.hasSuffix("\n") || !bus.isRunning }
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.output.trimmingCharacters(in: .whitespacesAndNewlines)
        screen = try await kind.start(environment)
        environment.merge(screen.clientEnvironment) { $1 }
        self.environment = environment
        // As a desktop does when it starts: the bus passes it to the services that it activates.
        _ = try await ChildProcess.run(
            "dbus-update-activation-environment", screen.clientEnvironment.map { "\($0)=\($1)" },
            environment: environment)
        reader = try ChildProcess(
            "/usr/bin/python3", [Self.script("accessibility.py")], environment: environment, input: .pipe)
        let client = client
        await eventually("AppLocker is up: \(supervisor.errorOutput)") {
            try await client.call(\.status).protection != .gateAway
        }
        if isSetUp { try await client.call(\.setUp, body: SetUpRequest(passcode: Self.passcode)) }
    }

    deinit {
        // In order, so that no launch stays held.
        supervisor.kill(SIGINT)
        for _ in 0..<500 where supervisor.isRunning { usleep(10_000) }
    }

    /// The path of a script beside the tests.
    static func script(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../" + name
    }

    /// Starts applocker-desktop and waits until its window is shown, which is when one of these names is.
    /// - Parameters:
    ///   - files: that it is started with, as by a file manager.
    ///   - dialogs: how many it opens at once. They are awaited on the X server: GTK lists a window that it is about to
    ///     show as the application itself, and libatspi would follow that without end.
    ///   - mounts: commands of a shell that change the files which it sees, in a mount namespace of its own.
    @discardableResult
    func startWindow(
        shows names: String..., files: [String] = [], dialogs: Int = 0, mounts: String? = nil
    ) async throws -> ChildProcess {
        let names = names.isEmpty ? ["Menu", "Set up AppLocker"] : names
        let program = try BuiltProducts.path("applocker-desktop")
        let window =
            if let mounts {
                // Each program replaces the one before: the process stays the same.
                try ChildProcess(
                    "unshare", ["--mount", "/bin/sh", "-ec", mounts + "\nexec \"$0\"", program],
                    environment: environment)
            } else {
                try ChildProcess(program, files, environment: environment)
            }
        self.window.withLock { $0 = window }
        if dialogs > 0 {
            try await awaiting("the dialog is shown") { try await self.xWindows().count > dialogs }
        }
        await eventually(every: .milliseconds(100), "the window is shown: \(window.stateDescription)") {
            guard window.isRunning else { return true }
            return try await self.parts().contains { names.contains($0.name) }
        }
        try #require(window.isRunning, "\(window.errorOutput)")
        return window
    }

    // MARK: By accessibility

    private func request(_ request: [String: String]) async throws -> Reply {
        var object: [String: Any] = request
        object["process"] = Int(window.withLock { $0 }?.pid ?? 0)
        reader.write(String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self) + "\n")
        let number = replies.withLock { count in
            count += 1
            return count
        }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while clock.now < end, reader.isRunning {
            let lines = reader.output.split(separator: "\n", omittingEmptySubsequences: false)
            if lines.count > number { return try JSONDecoder().decode(Reply.self, from: Data(lines[number - 1].utf8)) }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw ChildProcess.TimedOut(description: "the accessibility reader: \(reader.stateDescription)")
    }

    struct NotShown: Error, CustomStringConvertible {
        let description: String
    }

    /// Every part that is shown.
    func parts() async throws -> [Part] { try await parts("list") }

    func windows() async throws -> [Part] { try await parts("windows") }

    /// Every part that is beyond the left or right side of its window.
    func partsOutside() async throws -> [Part] { try await parts("outside") }

    private func parts(_ which: String) async throws -> [Part] {
        let reply = try await request(["do": which])
        guard let parts = reply.parts else { throw NotShown(description: reply.error ?? "") }
        return parts
    }

    func isShown(_ name: String) async throws -> Bool {
        try await parts().contains { $0.name == name || $0.text == name }
    }

    /// Whether any text that is shown contains these words.
    func shows(_ words: String) async throws -> Bool {
        try await parts().contains { $0.name.contains(words) || $0.text.contains(words) }
    }

    /// Waits until any text contains these words.
    func awaitWords(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await awaiting("the window shows \(words)", sourceLocation) { try await self.shows(words) }
    }

    /// Waits for a condition, and ends the test with what the window shows instead if it does not become true.
    func awaiting(
        _ comment: String, _ sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
    ) async throws {
        let isTrue = await eventually(
            every: .milliseconds(50), "\(comment)", sourceLocation: sourceLocation, condition)
        guard !isTrue else { return }
        try? await photograph("failure")
        let shown = (try? await parts())?.map { "\($0.role): \($0.name) \($0.text)" } ?? []
        throw NotShown(description: "The window shows \(shown.joined(separator: "; "))")
    }

    /// Presses a button, as soon as it can be pressed.
    func press(_ name: String, role: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await operate("press", name, role: role, sourceLocation: sourceLocation)
    }

    /// Presses a button that opens a menu. A Wayland compositor closes one that no key or click led to.
    func openMenu(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await press(keys: "shift")
        try await press(name, sourceLocation: sourceLocation)
    }

    /// Replaces the text of a field.
    func fill(_ name: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await operate("type", name, role: nil, text: text, sourceLocation: sourceLocation)
    }

    private func operate(
        _ what: String, _ name: String, role: String?, text: String? = nil, sourceLocation: SourceLocation
    ) async throws {
        var request = ["do": what, "name": name]
        request["role"] = role
        request["text"] = text
        try await awaiting("\(what) \(name)", sourceLocation) { [request] in
            let reply = try await self.request(request)
            if let error = reply.error { throw NotShown(description: error) }
            return true
        }
    }

    /// The token of a management session of its own.
    func token() async throws -> String {
        try await client.call(\.openSession, body: PasscodeRequest(passcode: Self.passcode)).token
    }

    /// Answers the passcode dialog.
    func enterPasscode(
        _ passcode: String = WindowSession.passcode, verb: String = "Continue",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await fill("Passcode", passcode, sourceLocation: sourceLocation)
        try await press(verb, sourceLocation: sourceLocation)
    }

    /// Opens the vault on one of its pages.
    /// - Parameter words: what the page shows then.
    func openVault(on key: String, shows words: String, sourceLocation: SourceLocation = #_sourceLocation) async throws
    {
        try await press(keys: key)
        try await press("Open the Vault", sourceLocation: sourceLocation)
        try await enterPasscode(verb: "Open", sourceLocation: sourceLocation)
        try await awaitWords(words, sourceLocation: sourceLocation)
    }

    /// Enters a path in GTK's file chooser, and accepts it.
    ///
    /// - Parameter accepting: keys of the button that accepts. Return may choose a completion or open a folder instead.
    func chooseInFileChooser(_ path: String, accepting: String) async throws {
        try await awaiting("a file chooser is shown") { try await self.windows().count > 1 }
        try await press(keys: "ctrl+l")
        // Not by keys: the chooser selects all that is in the entry once it has read the folder.
        let names = ["GtkFileChooserEntry", "Name:", "Name"]
        var entry = ""
        try await awaiting("the entry is shown") {
            entry = try await self.parts().last { $0.role == "text" && names.contains($0.name) }?.name ?? ""
            return !entry.isEmpty
        }
        try await fill(entry, path)
        try await awaiting("the path is entered") {
            try await self.parts().contains { $0.name == entry && $0.text == path }
        }
        try await press(keys: accepting)
    }

    // MARK: By keyboard, and pictures

    @discardableResult
    func x(_ program: String, _ arguments: String...) async throws -> String {
        try await ChildProcess.run(program, arguments, environment: environment).output
    }

    func type(_ text: String) async throws {
        try await awaitKeyboard()
        try await screen.type(text)
    }

    func press(keys: String...) async throws {
        try await awaitKeyboard()
        for key in keys { try await screen.press(key) }
    }

    /// Waits until the window that was opened last has the keyboard: until then keys go to another one, or to none.
    private func awaitKeyboard() async throws {
        try await awaiting("the window has the keyboard") {
            let windows = try await self.windows()
            guard let last = windows.last else { return false }
            return last.role == "frame" ? last.isActive : !windows.contains { $0.isActive }
        }
    }

    /// The X ids of the visible windows.
    func xWindows() async throws -> [String] {
        try await x("xdotool", "search", "--onlyvisible", "--class", "org.applocker.AppLocker")
            .split(separator: "\n").map(String.init)
    }

    /// With `APPLOCKER_PICTURES=folder`, keeps a picture of the screen, unless it is mutter's, which gives none.
    func photograph(_ name: String) async throws {
        guard let folder = ProcessInfo.processInfo.environment["APPLOCKER_PICTURES"], screen is XScreen else { return }
        try await x("import", "-window", "root", "\(folder)/window-\(name).png")
    }
}
