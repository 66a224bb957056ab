import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// The recovery sheet on paper: what GTK's printer "Print to File" gets.
@Suite(.windowSession, .requires(.program("pdftotext"), .program("pdftoppm"), .program("zbarimg")))
struct RecoverySheetTests {
    @Test func thePrintedSheetHasTheCodeAsTextAndAsAPicture() async throws {
        let session = try await WindowSession()
        let folder = session.directory.path("documents")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Where GTK prints to.
        try session.directory.write("XDG_DOCUMENTS_DIR=\"\(folder)\"\n", to: "config/user-dirs.dirs")
        try await session.startWindow()
        try await session.press(keys: "alt+9")
        try await session.press("Make Recovery Sheet")
        try await session.enterPasscode(verb: "Make")
        try await session.awaitWords("Print this code, or write it down.")
        let code = try #require(
            try await session.parts().map(\.text).first { $0.wholeMatch(of: /([0-9A-Z]{4}-){8}[0-9A-Z]{4}/) != nil })

        try await session.press("Print…")
        try await session.awaitWords("Print to File")
        // The list of printers follows the tabs.
        try await session.press(keys: "Tab", "Down")
        try await session.photograph("recovery-print")
        // With the mnemonic in GTK 4.8.
        let button = try #require(
            try await session.parts().last { $0.role == "push button" && $0.name.hasSuffix("Print") }?.name)
        try await session.press(button)
        var files: [String] = []
        try await session.awaiting("the sheet is printed") {
            files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".pdf") }
            guard let file = files.first else { return false }
            let end = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file)).suffix(16)
            return String(decoding: end, as: UTF8.self).contains("%%EOF")
        }

        let (sheet, picture) = (folder + "/" + files[0], session.directory.path("sheet"))
        let printed = try await ChildProcess.run("pdftotext", [sheet, "-"])
        let drawn = try await ChildProcess.run("pdftoppm", ["-singlefile", "-png", sheet, picture])
        #expect(drawn.exit == .code(0), "\(drawn.errorOutput)")
        #expect(printed.exit == .code(0), "\(printed.errorOutput)")
        let text = printed.output.split(separator: "\n").joined(separator: " ")
        #expect(text.contains("AppLocker recovery sheet"))
        #expect(text.contains("For \(ProcessInfo.processInfo.hostName)."))
        #expect(text.contains("Store it where only you have access"))
        #expect(text.contains(code), "\(text)")
        let read = try await ChildProcess.run("zbarimg", ["--quiet", "--raw", picture + ".png"])
        #expect(read.output == code + "\n", "\(read.errorOutput)")
        _ = try await session.client.call(\.testRecovery, body: RecoveryRequest(code: code))
    }
}
