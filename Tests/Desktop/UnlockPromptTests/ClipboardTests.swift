import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// The real program and a real X server's clipboard, read by xclip.
@Suite(.requires(.display, .program("xclip")))
struct ClipboardTests {
    private static let text = "the safe: 12-34-56 ✓"

    private func hold(_ desktop: Desktop, seconds: Int, text: Data = Data(Self.text.utf8)) throws -> ChildProcess {
        let path = desktop.directory.path("text-\(UUID().uuidString)")
        try text.write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        return try withExtendedLifetime(file) {
            try ChildProcess(
                BuiltProducts.path("applocker-prompt"), ["--hold-clipboard-fd", "3", "--seconds", String(seconds)],
                environment: desktop.environment, descriptors: [3: file.fileDescriptor])
        }
    }

    private func paste(_ desktop: Desktop, target: String = "UTF8_STRING") async throws -> Data? {
        let xclip = try ChildProcess(
            "xclip", ["-o", "-selection", "clipboard", "-t", target], environment: desktop.environment)
        return try await xclip.wait() == .code(0) ? xclip.outputData : nil
    }

    @Test func theTextIsCopiedAtOnceAndRemovedAfterItsTime() async throws {
        let desktop = try await Desktop()
        let lasting = try hold(desktop, seconds: 600)
        await eventually("it reports that it holds the text: \(lasting.errorOutput)") { lasting.output == "held\n" }
        #expect(try await paste(desktop) == Data(Self.text.utf8))
        #expect(try await paste(desktop, target: "x-kde-passwordManagerHint") == Data("secret".utf8))
        #expect(try await paste(desktop, target: "image/png") == nil)
        lasting.kill()
        try await lasting.wait()
        let start = ContinuousClock.now
        let holder = try hold(desktop, seconds: 2)
        #expect(try await holder.wait() == .code(0))
        #expect(holder.output == "held\n")
        #expect(start.duration(to: .now) > .seconds(1))
        #expect(try await paste(desktop) == nil, "the clipboard is empty")
    }

    @Test func anotherProgramsLaterCopyIsKept() async throws {
        let desktop = try await Desktop()
        let holder = try hold(desktop, seconds: 600)
        await eventually("it reports that it holds the text: \(holder.errorOutput)") { holder.output == "held\n" }
        let other = try ChildProcess(
            "xclip", ["-i", "-quiet", "-selection", "clipboard"], environment: desktop.environment,
            input: .text("another's"))
        #expect(try await holder.wait() == .code(0), "it ends long before its time limit")
        #expect(try await paste(desktop) == Data("another's".utf8))
        #expect(other.isRunning)
    }

    @Test func aMebibyteIsCopiedAndMoreIsRefused() async throws {
        let desktop = try await Desktop()
        let large = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let holder = try hold(desktop, seconds: 600, text: large)
        await eventually("it reports that it holds the text: \(holder.errorOutput)") { holder.output == "held\n" }
        #expect(try await paste(desktop) == large)
        holder.kill()
        try await holder.wait()
        let refused = try hold(desktop, seconds: 30, text: large + Data([0x78]))
        #expect(try await refused.wait() == .code(1))
        #expect(refused.errorOutput.contains("more than 1 MiB of text can't be copied"))
        #expect(try await paste(desktop) == nil)
    }

    @Test func withoutADesktopNothingIsCopied() async throws {
        let desktop = try await Desktop()
        let path = try desktop.directory.write("text", to: "text")
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let result = try await ChildProcess.run(
            BuiltProducts.path("applocker-prompt"), ["--hold-clipboard-fd", "3", "--seconds", "5"],
            environment: Desktop.environment(desktop.directory), descriptors: [3: file.fileDescriptor])
        #expect(result.exit == .code(1))
        #expect(result.errorOutput.contains("no desktop clipboard"))
    }
}
