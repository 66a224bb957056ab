import DBus
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// Where the window is shown, and the keyboard there.
protocol WindowScreen: Sendable {
    /// What its clients need to connect.
    var clientEnvironment: [String: String] { get }
    /// Presses keys together, named as xdotool(1) does: "Return", "ctrl+n".
    func press(_ keys: String) async throws
    /// - Parameter text: ASCII.
    func type(_ text: String) async throws
}

enum WindowScreenKind: Sendable, CustomTestStringConvertible {
    case x11
    /// GNOME's own compositor.
    case wayland
    /// The same on a phone's screen.
    case phone

    static let both: [Self] = [.x11, .wayland]
    /// Both with APPLOCKER_LONG=1.
    static let usual = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == nil ? [.x11] : both

    var testDescription: String {
        switch self {
        case .x11: "X11"
        case .wayland: "Wayland"
        case .phone: "Wayland, 360 x 720"
        }
    }

    func start(_ environment: [String: String]) async throws -> any WindowScreen {
        switch self {
        case .x11: return try await XScreen(environment)
        case .wayland: return try await mutter(environment, "1280x800")
        case .phone: return try await mutter(environment, "360x720")
        }
    }

    private func mutter(_ environment: [String: String], _ size: String) async throws -> Mutter {
        let address = try #require(environment["DBUS_SESSION_BUS_ADDRESS"])
        // It looks for logind, which the machine may have.
        let environment = environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": address]) { $1 }
        return try await Mutter(screen: size, environment: environment, bus: DBusConnection(.address(address)))
    }
}

extension Mutter: WindowScreen {}

/// An X server with a window manager.
final class XScreen: WindowScreen {
    let clientEnvironment: [String: String]
    private let server: XServer
    private let windowManager: ChildProcess
    private let environment: [String: String]

    init(_ environment: [String: String]) async throws {
        server = try await XServer(screen: "1280x800x24")
        clientEnvironment = ["DISPLAY": server.display, "GDK_BACKEND": "x11"]
        self.environment = environment.merging(clientEnvironment) { $1 }
        windowManager = try await ChildProcess.openbox(environment: self.environment)
    }

    func press(_ keys: String) async throws { try await run("key", "--delay", "20", keys) }

    func type(_ text: String) async throws { try await run("type", "--delay", "10", text) }

    private func run(_ arguments: String...) async throws {
        _ = try await ChildProcess.run("xdotool", arguments, environment: environment)
    }
}
