import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import UnlockPrompt

/// The window with a pairing link's QR code: the real program on a real X server, read by a real reader.
@Suite(
    .requires(.display, .program("xdotool"), .program("openbox"), .program("import"), .program("zbarimg")))
struct LinkWindowTests {
    private func start(_ desktop: Desktop, link: String) throws -> ChildProcess {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: desktop.directory.write(link, to: "link")))
        return try withExtendedLifetime(file) {
            try ChildProcess(
                BuiltProducts.path("applocker-prompt"), ["--link-fd", "5"], environment: desktop.environment,
                descriptors: [5: file.fileDescriptor])
        }
    }

    @Test(arguments: [false, true]) func aDecoderReadsTheLinkInLightAndDark(isDark: Bool) async throws {
        let desktop = try await Desktop(
            .openbox, settings: ["gtk-application-prefer-dark-theme=\(isDark ? 1 : 0)"])
        let link = "https://hub.example/#pair=" + String(repeating: "aB3-_", count: 40)
        let shown = try start(desktop, link: link)
        let shot = desktop.directory.path("shot.png")
        await eventually("the code is shown") {
            guard
                let window = try await desktop.x("xdotool", "search", "--onlyvisible", "--class", "applocker-pair")
                    .split(separator: "\n").first
            else { return false }
            try await desktop.x("import", "-window", String(window), shot)
            let read = try await ChildProcess.run("zbarimg", ["--quiet", "--raw", shot])
            return read.output.trimmingCharacters(in: .newlines) == link
        }
        #expect(shown.isRunning, "\(shown.errorOutput)")
        await desktop.awaitKeyboard(of: "applocker-pair")
        try await desktop.press("Escape")
        #expect(try await shown.wait() == .code(0))
        #expect(shown.errorOutput.isEmpty, "\(shown.errorOutput)")
    }

    @Test func aLinkThatIsTooLongForACodeIsAnError() async throws {
        let desktop = try await Desktop(.openbox)
        let tooLong = try start(desktop, link: String(repeating: "x", count: 2_049))
        #expect(try await tooLong.wait() == .code(1))
        #expect(tooLong.errorOutput == "applocker-prompt: the link is longer than 2048 bytes.\n")
        let link = try FileHandle(forReadingFrom: URL(fileURLWithPath: desktop.directory.path("link")))
        try desktop.directory.write("https://hub.example/#pair=x", to: "link")
        let noDesktop = try await ChildProcess.run(
            BuiltProducts.path("applocker-prompt"), ["--link-fd", "5"],
            environment: Desktop.environment(desktop.directory), descriptors: [5: link.fileDescriptor])
        #expect(noDesktop.exit == .code(1))
        #expect(noDesktop.errorOutput.contains("shows the code in the terminal"))
    }
}
