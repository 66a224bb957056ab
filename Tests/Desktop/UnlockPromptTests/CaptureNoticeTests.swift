import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// The real windows while a real recorder records a real X server.
@Suite(
    .requires(
        .display, .program("ffmpeg"), .program("xdotool"), .program("openbox"), .program("xprop"), .program("import")))
struct CaptureNoticeTests {
    private func record(_ desktop: Desktop) throws -> ChildProcess {
        try ChildProcess(
            "ffmpeg",
            [
                "-loglevel", "error", "-f", "x11grab", "-framerate", "2", "-i", desktop.environment["DISPLAY"] ?? "",
                "-f", "null", "-",
            ], environment: desktop.environment)
    }

    private func height(_ desktop: Desktop, _ className: String = "applocker-prompt") async throws -> Int {
        let found = try await desktop.x("xdotool", "search", "--onlyvisible", "--class", className)
        guard let window = found.split(separator: "\n").first else { return 0 }
        let geometry = try await desktop.x("xdotool", "getwindowgeometry", "--shell", String(window))
        let line = geometry.split(separator: "\n").first { $0.hasPrefix("HEIGHT=") }
        return line.flatMap { Int($0.dropFirst(7)) } ?? 0
    }

    @Test func thePromptShowsThatTheScreenIsRecordedWhileItIs() async throws {
        let desktop = try await Desktop(.openbox)
        let prompt = try await desktop.startPrompt()
        try desktop.daemon.send(.ask(.sample("7")))
        try await desktop.awaitWindow("Calculator is locked")
        let plain = try await height(desktop)
        let ffmpeg = try record(desktop)
        await eventually("the sentence is shown") { try await height(desktop) > plain + 20 }
        ffmpeg.kill()
        await eventually("the sentence is removed") { try await height(desktop) == plain }
        #expect(prompt.isRunning)
    }

    @Test func aPhotoIsHiddenWhileTheScreenIsRecorded() async throws {
        let desktop = try await Desktop(.openbox)
        let photo = desktop.directory.path("photo.jpg")
        let made = try await ChildProcess.run("convert", ["-size", "320x240", "xc:#2040E0", photo])
        try #require(made.exit == .code(0))
        let ffmpeg = try record(desktop)
        await eventually("the recorder runs") { ffmpeg.isRunning }
        let picture = try FileHandle(forReadingFrom: URL(fileURLWithPath: photo))
        let viewer = try ChildProcess(
            BuiltProducts.path("applocker-prompt"), ["--photo-fd", "5", "--hide-on-capture"],
            environment: desktop.environment, descriptors: [5: picture.fileDescriptor])
        await eventually("the window") { try await height(desktop, "applocker-photo") > 0 }
        await eventually("it shows the reason") { try await desktop.warningPoints() > 50 }
        #expect(try await bluePoints(desktop) == 0, "no part of it is shown: \(viewer.errorOutput)")
        ffmpeg.kill()
        await eventually("it is shown again") { try await bluePoints(desktop) > 10_000 }
    }

    private func bluePoints(_ desktop: Desktop) async throws -> Int {
        try await desktop.points { red, green, blue in
            abs(red - 0x20) <= 4 && abs(green - 0x40) <= 4 && abs(blue - 0xE0) <= 4
        }
    }
}
