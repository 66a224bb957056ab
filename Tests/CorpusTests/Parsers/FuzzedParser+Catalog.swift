import GateProtocol
import Policy

@testable import AppCatalog

/// Desktop entries, scripts, schedules, and messages of the gate.
extension FuzzedParser {
    /// A machine without files, so that a script finds nothing and the outcome depends on its bytes alone.
    private static let nowhere = "/nonexistent"

    static func desktopEntry(_ bytes: [UInt8]) {
        guard let entry = try? DesktopEntry.parse(bytes, locale: "de_DE.UTF-8") else { return }
        _ = try? entry.arguments(location: "/usr/share/applications/a.desktop")
        _ = entry.isShown(in: ["GNOME"])
    }

    static func exec(_ bytes: [UInt8]) {
        let command = String(decoding: bytes, as: UTF8.self)
        _ = try? DesktopEntry.words(of: command)
        // The same inside an entry, where field codes are filled in.
        let line = command.replacing("\n", with: " ")
        let entry = try? DesktopEntry.parse(
            Array("[Desktop Entry]\nType=Application\nName=A\nExec=\(line)\n".utf8), locale: "C")
        _ = try? entry?.arguments(location: nil)
    }

    static func shellScript(_ bytes: [UInt8]) {
        _ = ScriptHead.interpreter(bytes)
        let source = String(decoding: bytes, as: UTF8.self)
        _ = ScriptHead.absolutePaths(in: source)
        for isText in [false, true] {
            var reader = ShellScriptReader(
                files: HostFiles(root: nowhere), environment: CatalogEnvironment(home: "/home/a", root: nowhere),
                scriptPaths: ["/usr/bin/a"])
            _ = reader.read(source, isText: isText)
        }
    }

    static func gateMessages(_ bytes: [UInt8]) {
        if let message = try? GateMessage(decoding: bytes) { same(message.encoded(), as: bytes) }
        if let message = try? DaemonMessage(decoding: bytes) { same(message.encoded(), as: bytes) }
    }

    static func schedule(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let windows = try? Schedule.windows(text: text) {
            _ = Schedule(mode: .blockInside, windows: windows)
        }
        _ = try? Duration(text: text)
        if let id = AppID(rawValue: text) { precondition(id.rawValue == text, "an app's id in two spellings") }
    }
}
