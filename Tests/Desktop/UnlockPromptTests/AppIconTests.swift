import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import GtkSupport

/// Icons that a desktop entry names by a path, which any program of the user can write.
@Suite(
    .requires(
        .display, .program("xdotool"), .program("import"), .program("convert"))
)
struct AppIconTests {
    /// Shows a prompt with this icon, and answers it.
    private func answerPrompt(icon: String, _ desktop: Desktop, while isShown: () async throws -> Void) async throws {
        let prompt = try await desktop.startPrompt()
        try desktop.daemon.send(.ask(.sample("7", icon: icon)))
        try await desktop.awaitWindow("Calculator is locked")
        try await isShown()
        try await desktop.type("correct horse")
        try await desktop.press("Return")
        await eventually("the answer") { try desktop.daemon.answers("7").map(\.passcode) == ["correct horse"] }
        await desktop.awaitNoWindow()
        #expect(prompt.isRunning)
    }

    private func picture(_ name: String, size: String = "64x64", in directory: TemporaryDirectory) async throws
        -> String
    {
        let path = directory.path(name)
        let made = try await ChildProcess.run("convert", ["-size", size, "xc:#2040E0", path])
        try #require(made.exit == .code(0), "\(made.errorOutput)")
        return path
    }

    /// How many points of the screen have the picture's blue.
    private func bluePoints(_ desktop: Desktop) async throws -> Int {
        try await desktop.points { $0 == 0x20 && $1 == 0x40 && $2 == 0xE0 }
    }

    @Test func aPNGIsShown() async throws {
        let desktop = try await Desktop()
        let path = try await picture("icon.png", in: desktop.directory)
        try await answerPrompt(icon: path, desktop) {
            await eventually("it is shown") { try await bluePoints(desktop) > 4_000 }
        }
    }

    @Test func aFIFOStopsNothing() async throws {
        let desktop = try await Desktop()
        let path = desktop.directory.path("icon.png")
        try #require(mkfifo(path, 0o600) == 0)
        try await answerPrompt(icon: path, desktop) {}
    }

    @Test func anotherFormatIsNotDecoded() async throws {
        let desktop = try await Desktop()
        let path = try await picture("icon.bmp", in: desktop.directory)
        try await answerPrompt(icon: path, desktop) {
            let points = try await bluePoints(desktop)
            #expect(points == 0)
        }
    }

    @Test func onlyARegularFileOfAPermittedSizeIsRead() async throws {
        let directory = try TemporaryDirectory()
        let small = try await picture("small.png", in: directory)
        #expect(IconFile.bytes(small) == (try [UInt8](Data(contentsOf: URL(fileURLWithPath: small)))))
        symlink(small, directory.path("link.png"))
        #expect(IconFile.bytes(directory.path("link.png")) != nil)
        #expect(IconFile.bytes(directory.path("nothing.png")) == nil)
        #expect(IconFile.bytes(directory.path) == nil)
        #expect(IconFile.bytes("/dev/zero") == nil)
        mkfifo(directory.path("fifo.png"), 0o600)
        #expect(IconFile.bytes(directory.path("fifo.png")) == nil)
        for (name, size) in [("wide.png", "1025x1"), ("high.png", "1x1025"), ("photo.jpg", "64x64")] {
            let path = try await picture(name, size: size, in: directory)
            #expect(IconFile.bytes(path) == nil, "\(name)")
        }
        let whole = try #require(IconFile.bytes(small))
        let large = directory.path("large.png")
        try (Data(whole) + Data(count: IconFile.maximumBytes)).write(to: URL(fileURLWithPath: large))
        #expect(IconFile.bytes(large) == nil)
        for count in 0..<24 { #expect(!IconFile.isSmallPNG(Array(whole.prefix(count)))) }
    }
}
