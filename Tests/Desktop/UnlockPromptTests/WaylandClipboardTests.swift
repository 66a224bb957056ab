import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A real Wayland compositor with a clipboard and without a screen. It does not start as root.
@Suite(.requires(.program("sway"), .program("wl-copy"), .program("wl-paste")))
struct WaylandClipboardTests {
    private let user: uid_t? = geteuid() == 0 ? 65_534 : nil

    @Test func theTextIsCopiedRemovedAndReplacedByAnotherProgram() async throws {
        let directory = try TemporaryDirectory()
        let runtime = directory.path("runtime")
        try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
        try directory.write("the safe ✓", to: "text")
        try directory.write("", to: "sway.conf")
        chmod(runtime, 0o700)
        chmod(directory.path, 0o755)
        if let user { chown(runtime, user, user) }
        var environment = [
            "PATH": "/usr/bin:/bin", "HOME": runtime, "XDG_RUNTIME_DIR": runtime, "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman", "LC_ALL": "C.UTF-8",
        ]
        let sway = try ChildProcess(
            "sway", ["-c", directory.path("sway.conf")], environment: environment, user: user)
        await eventually("sway listens: \(sway.errorOutput)") {
            isListening(at: runtime + "/wayland-1")
        }
        environment["WAYLAND_DISPLAY"] = "wayland-1"

        func hold(seconds: Int) async throws -> ChildProcess {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.path("text")))
            let holder = try ChildProcess(
                BuiltProducts.path("applocker-prompt"), ["--hold-clipboard-fd", "3", "--seconds", String(seconds)],
                environment: environment, descriptors: [3: file.fileDescriptor], user: user)
            await eventually("it reports that it holds the text: \(holder.errorOutput)") { holder.output == "held\n" }
            return holder
        }
        func paste() async throws -> String {
            let paste = try ChildProcess("wl-paste", ["-n"], environment: environment, user: user)
            return try await paste.wait() == .code(0) ? paste.output : ""
        }
        func leftovers() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: runtime).filter { $0.hasPrefix("applocker") }
        }

        let first = try await hold(seconds: 600)
        // Beside other work wl-copy may take the clipboard later.
        await eventually("it can be pasted") { try await paste() == "the safe ✓" }
        let other = try ChildProcess(
            "wl-copy", ["--foreground"], environment: environment, input: .text("another's"), user: user)
        #expect(try await first.wait() == .code(0), "it ends long before its time limit")
        await eventually("the other text can be pasted") { try await paste() == "another's" }
        #expect(other.isRunning)
        #expect(try leftovers().isEmpty)
        other.kill()
        try await other.wait()

        let second = try await hold(seconds: 1)
        #expect(try await second.wait() == .code(0))
        await eventually("the clipboard is empty") { try await paste() == "" }
        #expect(try leftovers().isEmpty)
    }
}
