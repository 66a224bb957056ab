import Foundation
import Glibc

/// A page on this computer that redirects to a link, for a browser that is started with the page's path.
///
/// Any program can read another's arguments (/proc/PID/cmdline), and a pairing link is a secret. So it is in a file for
/// this user alone (mode 0600), in a folder for this user alone (mode 0700), and the arguments name only the file.
struct LinkPage: Sendable {
    let folder: String
    var path: String { folder + "/" + Self.name }

    private static let name = "open-applocker.html"

    /// - Parameter places: the first writable one is used; in memory if possible.
    /// - Throws: `CommandLineError` if none is writable.
    init(
        link: String, places: [String?] = [ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], "/dev/shm", "/tmp"]
    ) throws(CommandLineError) {
        for place in places.compactMap({ $0 }) {
            var template = Array("\(place)/applocker-XXXXXX".utf8CString)
            guard let made = mkdtemp(&template) else { continue }
            let folder = String(cString: made)
            if Self.write(Self.text(link), to: folder + "/" + Self.name) {
                self.folder = folder
                return
            }
            Self.remove(folder)
        }
        throw CommandLineError(
            .refused, code: "no_place",
            "No writable directory for the link page (XDG_RUNTIME_DIR, /dev/shm, /tmp); use --print-link."
        )
    }

    /// Without script: an immediate redirect, and the same link to click on.
    static func text(_ link: String) -> String {
        let replacements = [("&", "&amp;"), ("\"", "&quot;"), ("<", "&lt;"), (">", "&gt;")]
        let escaped = replacements.reduce(link) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        return """
            <!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0; url=\(escaped)"><title>AppLocker</title>
            <p><a href="\(escaped)">Open AppLocker</a></p></html>

            """
    }

    private static func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        let bytes = Array(text.utf8)
        return Glibc.write(file, bytes, bytes.count) == bytes.count
    }

    /// May be called repeatedly.
    func remove() { Self.remove(folder) }

    private static func remove(_ folder: String) {
        unlink(folder + "/" + name)
        rmdir(folder)
    }
}

enum Browser {
    /// - Throws: `CommandLineError` if there is no desktop.
    static func requireDesktop(_ environment: [String: String] = ProcessInfo.processInfo.environment)
        throws(CommandLineError)
    {
        guard ["WAYLAND_DISPLAY", "DISPLAY"].contains(where: { !environment[$0, default: ""].isEmpty }) else {
            throw CommandLineError(
                .refused, code: "no_desktop",
                "No desktop session for a browser; use `applocker panel --print-link`.")
        }
    }

    /// Opens a file or an address with the desktop's program, without waiting for that.
    ///
    /// - Parameter failed: called once, on any thread, if the desktop reports that nothing was opened.
    /// - Throws: `CommandLineError` if there is no xdg-open.
    static func open(_ target: String, failed: @escaping @Sendable (CommandLineError) -> Void = { _ in })
        throws(CommandLineError)
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdg-open", target]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let words = "No browser could be opened (xdg-open); `applocker panel --print-link` prints the link instead."
        let error = CommandLineError(.refused, code: "no_browser", words)
        process.terminationHandler = { process in
            if process.terminationStatus != 0 { failed(error) }
        }
        do {
            try process.run()
        } catch {
            throw CommandLineError(.refused, code: "no_browser", words)
        }
    }
}
