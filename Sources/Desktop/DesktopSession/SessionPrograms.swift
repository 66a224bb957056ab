import ControlAPI
import Foundation
import LocalControl
import Localization

/// The programs that agent and window start for the user: AppLocker's windows, and a terminal for what has no window.
public struct SessionPrograms: Sendable {
    let environment: [String: String]
    /// Passed on, so that all programs use the same AppLocker.
    let socket: String?
    /// Of AppLocker's programs.
    public let directory: String

    /// - Parameter directory: of AppLocker's other programs; that of this program by default.
    public init(environment: [String: String], socket: String?, directory: String? = nil) {
        self.environment = environment
        self.socket = socket
        self.directory = directory ?? Self.ownDirectory
    }

    /// The directory of this program.
    public static var ownDirectory: String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/usr/bin/x"
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// The directory of icons that the desktop doesn't have: in the source tree of a build. Empty if AppLocker is
    /// installed, with its icons.
    public var iconDirectory: String {
        let tree = URL(fileURLWithPath: directory + "/../../../Packaging/icons").standardizedFileURL.path
        return access(tree + "/applocker-locked-symbolic.svg", R_OK) == 0 ? tree : ""
    }

    /// For notifications: the icon's name, or its path if the desktop's theme doesn't have it.
    func icon(_ name: String) -> String { iconDirectory.isEmpty ? name : "\(iconDirectory)/\(name).svg" }

    private var terminal: String? { program("x-terminal-emulator") }
    private var prompt: String? { own("applocker-prompt") }
    private var window: String? { own("applocker-desktop") }
    private var commandLine: String? { own("applocker") }
    private var hasTerminal: Bool { terminal != nil && commandLine != nil }

    /// More time only with the prompt: the command line can only replace a grant. The log in a terminal only where
    /// there is no window.
    var offeredActions: Set<DesktopNotification.Action> {
        let usual: Set<DesktopNotification.Action> = prompt != nil ? [.lockNow, .keepOpen] : [.lockNow]
        if window != nil { return usual.union([.open]) }
        return hasTerminal ? usual.union([.showLog]) : usual
    }

    var means: TrayState.Means {
        TrayState.Means(canOpen: window != nil, canUnlock: prompt != nil || hasTerminal, canStop: hasTerminal)
    }

    /// Starts the prompter, which runs once in each session.
    public func startPrompter() throws { try start("applocker-prompt") }

    /// Starts the agent, which runs once in each session.
    public func startAgent() throws { try start("applocker-agent") }

    /// Shows AppLocker's window; one that is open already comes to the front.
    func openWindow() throws { try start("applocker-desktop") }

    private func start(_ name: String) throws {
        guard let program = own(name) else {
            throw ControlError(.failed, localized("\(name) is not installed beside this program."))
        }
        try start(program, socket.map { ["--socket", $0] } ?? [])
    }

    /// Shows the passcode prompt in a window, or in a terminal if there is no window.
    func unlockAll() throws {
        if let prompt { return try start(prompt, ["--unlock-all"] + (socket.map { ["--socket", $0] } ?? [])) }
        try inTerminal(["unlock", "--all"])
    }

    /// Asks for the passcode, and the app stays open for five more minutes.
    func keepOpen(_ app: String) throws {
        guard let prompt else { return }
        try start(prompt, ["--keep-open=\(app)"] + (socket.map { ["--socket", $0] } ?? []))
    }

    /// Stops AppLocker, after a passcode prompt in the terminal.
    func stop() throws { try inTerminal(["stop"]) }

    func showLog() throws { try inTerminal(["log"]) }

    /// Runs a command of AppLocker in a terminal that stays open until Enter is pressed.
    private func inTerminal(_ arguments: [String]) throws {
        guard let terminal, let commandLine else { return }
        // The sentence is an argument: a translation must not become a part of the script.
        let script = "close=$1; shift; \"$@\"; printf '\\n%s ' \"$close\"; read -r _"
        let sentence = localized("Press Enter to close.")
        try start(terminal, ["-e", "/bin/sh", "-c", script, "sh", sentence, commandLine] + arguments)
    }

    private func start(_ path: String, _ arguments: [String]) throws {
        var environment = environment
        if let socket { environment["APPLOCKER_SOCKET"] = socket }
        func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let execRequest = ExecRequest(
            path: encoded(path), directory: encoded(environment["HOME"] ?? "/"),
            arguments: ([path] + arguments).map(encoded),
            environment: environment.sorted { $0.key < $1.key }.map { encoded("\($0.key)=\($0.value)") })
        try execRequest.start { StandardError.write("AppLocker: \($0)\n") }
    }

    private func own(_ name: String) -> String? { Self.executable("\(directory)/\(name)") ?? program(name) }

    private func program(_ name: String) -> String? {
        (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").lazy
            .compactMap { Self.executable("\($0)/\(name)") }.first
    }

    private static func executable(_ path: String) -> String? { access(path, X_OK) == 0 ? path : nil }
}

public enum StandardError {
    public static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

/// The sentence that reports an error.
public func sentence(_ error: any Error) -> String {
    localized(written: (error as? ControlError)?.message ?? "\(error)")
}
