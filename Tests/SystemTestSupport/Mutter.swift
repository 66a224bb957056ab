public import DBus
import Foundation
import TestSupport
import Testing

/// GNOME's own compositor without a screen, which ends when the value is released. Its keyboard and pointer are those of
/// a remote desktop.
public final class Mutter: Sendable {
    public let process: ChildProcess
    /// What its clients need to connect.
    public let clientEnvironment: [String: String]
    private let bus: DBusConnection
    private let input: String
    private let settings: TemporaryDirectory

    private static let remoteDesktop = "org.gnome.Mutter.RemoteDesktop"

    /// - Parameters:
    ///   - screen: width and height in pixels, "1280x800".
    ///   - environment: with the address of the session bus, and a directory of its own for runtime files.
    public init(screen: String, environment: [String: String], bus: DBusConnection) async throws {
        // A key that a busy machine holds for longer than others would be repeated.
        settings = try TemporaryDirectory()
        try settings.write(
            "[org/gnome/desktop/peripherals/keyboard]\nrepeat=false\n", to: "glib-2.0/settings/keyfile")
        let environment = environment.merging(
            ["GSETTINGS_BACKEND": "keyfile", "XDG_CONFIG_HOME": settings.path]
        ) { $1 }
        let process = try ChildProcess(
            "mutter", ["--wayland", "--headless", "--no-x11", "--virtual-monitor", screen], environment: environment)
        self.process = process
        self.bus = bus
        clientEnvironment = ["WAYLAND_DISPLAY": "wayland-0", "GDK_BACKEND": "wayland"]
        await eventually(timeout: .seconds(240), every: .milliseconds(50), "mutter runs: \(process.stateDescription)") {
            if !process.isRunning { return true }
            return try await bus.owner(of: Self.remoteDesktop) != nil
        }
        try #require(process.isRunning, "\(process.errorOutput)")
        input = try #require(
            try await bus.call(
                Self.remoteDesktop, "/org/gnome/Mutter/RemoteDesktop", Self.remoteDesktop, "CreateSession"
            ).first?.text)
        try await notify("Start")
        // The first key adds the keyboard, which a window that is open already would notice too late.
        try await press("shift")
    }

    private func notify(_ event: String, _ arguments: BusValue...) async throws {
        try await bus.call(Self.remoteDesktop, input, Self.remoteDesktop + ".Session", event, arguments)
    }

    public func movePointer() async throws {
        try await notify("NotifyPointerMotionRelative", .double(10), .double(5))
    }

    // MARK: Keyboard

    /// X keysyms that are not the code of a character.
    private static let keysyms: [Substring: UInt32] = [
        "Tab": 0xff09, "Return": 0xff0d, "Escape": 0xff1b, "Home": 0xff50, "Left": 0xff51, "Down": 0xff54,
        "shift": 0xffe1, "ctrl": 0xffe3, "alt": 0xffe9, "space": 0x20,
    ]

    struct UnknownKey: Error {
        let name: String
    }

    /// Presses keys together, named as xdotool(1) does: "Return", "ctrl+n".
    public func press(_ keys: String) async throws {
        let keysyms = try keys.split(separator: "+").map { name in
            if let keysym = Self.keysyms[name] { return keysym }
            guard name.unicodeScalars.count == 1 else { throw UnknownKey(name: String(name)) }
            return name.unicodeScalars.first!.value
        }
        for keysym in keysyms { try await notify("NotifyKeyboardKeysym", .uint32(keysym), .bool(true)) }
        for keysym in keysyms.reversed() { try await notify("NotifyKeyboardKeysym", .uint32(keysym), .bool(false)) }
    }

    /// - Parameter text: ASCII, whose keysyms are its codes.
    public func type(_ text: String) async throws {
        for scalar in text.unicodeScalars {
            for isDown in [true, false] {
                try await notify("NotifyKeyboardKeysym", .uint32(scalar.value), .bool(isDown))
            }
        }
    }
}
