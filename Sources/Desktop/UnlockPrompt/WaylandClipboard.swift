import Foundation

/// The clipboard of a Wayland session. A program may own it only while its window has the focus. wl-clipboard's
/// `wl-copy` has a way to get the focus, so it is used.
enum WaylandClipboard {
    /// wl-copy fails within this time, if it fails.
    private static let settling: TimeInterval = 0.3

    /// Prints "held" once the text can be pasted, waits and removes it. Blocks.
    ///
    /// - Throws: `ClipboardFailure`.
    static func hold(_ text: [UInt8], seconds: Int, _ environment: [String: String]) throws(ClipboardFailure) {
        let places: [String] = ["/usr/bin/wl-copy", "/usr/local/bin/wl-copy"]
        guard let program = places.first(where: FileManager.default.isExecutableFile) else {
            throw ClipboardFailure(description: "copying on Wayland needs wl-copy; install the package wl-clipboard.")
        }
        // wl-copy writes a file: in memory, for this user alone, and removed with this process.
        let folder = "\(environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(getuid())")/applocker-clipboard-\(getpid())"
        guard mkdir(folder, 0o700) == 0 else {
            throw ClipboardFailure(description: "\(folder) can't be created (\(String(cString: strerror(errno)))).")
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let copying = Process()
        // Ends wl-copy a little later if this process is killed.
        copying.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        copying.arguments = ["\(seconds + 2)", program, "--foreground", "--type", "text/plain;charset=utf-8"]
        copying.environment = environment.merging(["TMPDIR": folder]) { $1 }
        let input = Pipe()
        copying.standardInput = input
        signal(SIGPIPE, SIG_IGN)
        do {
            try copying.run()
            try input.fileHandleForWriting.write(contentsOf: Data(text))
            try input.fileHandleForWriting.close()
        } catch {
            throw ClipboardFailure(description: "the text could not be passed to wl-copy: \(error)")
        }
        Thread.sleep(forTimeInterval: settling)
        guard copying.isRunning else {
            throw ClipboardFailure(description: "wl-copy did not get the clipboard of this session.")
        }
        ClipboardHolder.reportReady()
        // It ends earlier if something else is copied.
        let end = Date(timeIntervalSinceNow: Double(seconds) - settling)
        while copying.isRunning, end.timeIntervalSinceNow > 0 {
            Thread.sleep(forTimeInterval: min(1, max(0.01, end.timeIntervalSinceNow)))
        }
        if copying.isRunning { copying.terminate() }
        copying.waitUntilExit()
    }
}
