import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Closing the window while it is at work.
@Suite(.windowSession) struct ClosingWindowTests {
    @Test(arguments: WindowScreenKind.usual)
    func closingTheWindowStopsATransferOnlyOnRequest(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        // It takes many seconds to seal, and no space until then.
        let original = try session.directory.write("", to: "letters/film.mkv")
        try #require(truncate(original, 8 << 30) == 0)
        let window = try await session.startWindow()
        try await session.openVault(on: "alt+5", shows: "No files")
        try await session.press("Lock Files…")
        try await session.chooseInFileChooser(original, accepting: "alt+l")
        try await session.awaitWords("Lock film.mkv?")
        try await session.press("Into the Vault")
        try await session.awaitWords("Locking film.mkv")
        try await session.press(keys: "ctrl+q")
        try await session.awaitWords("Stop the transfer?")
        try await session.photograph("stop-transfer")
        try await session.press("Keep Running")
        // GTK activates a button a quarter of a second after its action.
        try await session.awaiting("the question is closed") { try await !session.isShown("Stop the transfer?") }
        try await session.awaitWords("Locking film.mkv")
        try await session.press(keys: "ctrl+q")
        try await session.press("Stop")
        #expect(try await window.wait() == .code(0))
        #expect(FileManager.default.fileExists(atPath: original))
        #expect(try await session.client.call(\.listFiles).files.isEmpty)
    }
}
