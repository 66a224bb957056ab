import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Files that are locked and unlocked where they are.
@Suite(.windowSession) struct FilesWindowTests {
    private func content(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aFolderIsLockedAndTheFileManagerUnlocksOneOfItsFiles() async throws {
        let session = try await WindowSession()
        let first = try session.directory.write("Dear Ann", to: "letters/ann.txt")
        let second = try session.directory.write("Dear Ben", to: "letters/old/ben.txt")
        try await session.startWindow()
        try await session.openVault(on: "alt+5", shows: "No files")
        try await session.openMenu("More for files")
        try await session.press("Lock Folder…")
        try await session.chooseInFileChooser(session.directory.path("letters"), accepting: "alt+l")
        try await session.awaitWords("Lock letters?")
        try await session.photograph("files-folder-question")
        try await session.press("Lock")
        try await session.awaitWords("2 files locked.")
        for path in [first, second] {
            #expect(content(path) == nil)
            #expect(content(path + ".aplk")?.contains("Dear") == false)
        }
        // Which a file manager does: the window that is open asks.
        try await session.x(BuiltProducts.path("applocker-desktop"), first + ".aplk")
        try await session.awaitWords("Unlock ann.txt.aplk?")
        try await session.photograph("files-unlock-question")
        try await session.press("Unlock")
        try await session.awaitWords("Unlocked as \(first).")
        try await session.photograph("files-unlocked")
        #expect(content(first) == "Dear Ann" && content(first + ".aplk") == nil)
        #expect(content(second) == nil)
        try await session.openMenu("More for files")
        try await session.press("Unlock Folder…")
        try await session.chooseInFileChooser(session.directory.path("letters"), accepting: "alt+u")
        try await session.awaitWords("Unlock letters?")
        try await session.press("Unlock")
        try await session.awaitWords("Unlocked as \(second).")
        #expect(content(second) == "Dear Ben" && content(first) == "Dear Ann")
    }

    @Test func aFileIsLockedWhereItIs() async throws {
        let session = try await WindowSession()
        let path = try session.directory.write("12-34-56", to: "bank.txt")
        try await session.startWindow()
        try await session.openVault(on: "alt+5", shows: "No files")
        try await session.press("Lock Files…")
        try await session.chooseInFileChooser(path, accepting: "alt+l")
        try await session.press("Where It Is")
        try await session.awaitWords("Locked as \(path).aplk.")
        #expect(content(path) == nil)
        #expect(try await session.client.call(\.listFiles).files.isEmpty, "the vault has no copy")
        // It is not locked a second time, and nothing is lost.
        try session.directory.write("98-76-54", to: "bank.txt")
        try await session.press("Lock Files…")
        try await session.chooseInFileChooser(path, accepting: "alt+l")
        try await session.press("Where It Is")
        try await session.awaitWords("1 could not be changed and is as it was.")
        try await session.photograph("files-not-locked")
        #expect(content(path) == "98-76-54")
    }

    @Test func aLockedFileThatIsOpenedAsksForThePasscodeFirst() async throws {
        let session = try await WindowSession()
        let path = try session.directory.write("12-34-56", to: "bank.txt")
        let other = try session.directory.write("98-76-54", to: "-letter: of May.txt")
        try await session.client.call(\.openVault, body: PasscodeRequest(passcode: WindowSession.passcode))
        try await session.x(BuiltProducts.path("applocker"), "file", "lock", path, other)
        try await session.client.call(\.closeVault)
        try await session.startWindow(shows: "Passcode", files: [path + ".aplk"], dialogs: 1)
        // From its folder, by a name that looks like an option and like an address.
        try await session.x(
            "/bin/sh", "-c", "cd \"$1\" && exec \"$2\" -- '-letter: of May.txt.aplk'", "sh", session.directory.path,
            BuiltProducts.path("applocker-desktop"))
        #expect(try await !session.shows("Unlock 2 files?"))
        try await session.enterPasscode("not the passcode 1", verb: "Open")
        try await session.awaitWords("Wrong passcode.")
        #expect(content(path) == nil)
        try await session.enterPasscode(verb: "Open")
        try await session.awaitWords("Unlock 2 files?")
        try await session.press("Keep Locked File")
        try await session.awaitWords("2 files unlocked.")
        #expect(content(path) == "12-34-56" && content(path + ".aplk") != nil)
        #expect(content(other) == "98-76-54" && content(other + ".aplk") != nil)
    }

    @Test func beforeTheSetUpAFileIsNotAskedAbout() async throws {
        let session = try await WindowSession(isSetUp: false)
        let path = try session.directory.write("12-34-56", to: "bank.txt")
        try await session.startWindow(shows: "Set up AppLocker", files: [path])
        try await session.awaitWords("Set up AppLocker first, and open the file then.")
        #expect(try await session.windows().count == 1 && content(path) == "12-34-56")
    }
}
