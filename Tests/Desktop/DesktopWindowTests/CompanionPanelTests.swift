import Foundation
import GtkSupport
import Synchronization
import TestSupport
import Testing

@testable import DesktopWindow

/// With a script in the place of the command line, whose own tests open a real browser.
struct CompanionPanelTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func panel(_ script: String) throws -> CompanionPanel {
        try directory.write("#!/bin/sh\ncd \(directory.path)\n\(script)\n", to: "applocker")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path("applocker"))
        return CompanionPanel(
            commandLine: directory.path("applocker"), socket: { "/run/x/control.sock" }, starting: { try $0() })
    }

    private func content(_ name: String) throws -> String {
        try String(contentsOfFile: directory.path(name), encoding: .utf8)
    }

    @Test func thePasscodeGoesThroughAPipeAndTheBrowserGetsNoneOfTheWindowsVariables() async throws {
        let name = try #require(ProcessHygiene.ownVariables.keys.first)
        setenv(name, "only-this-process", 1)
        defer { unsetenv(name) }
        try await panel("printf '%s ' \"$@\" > arguments; cat > input; env > variables").open("correct horse 9")
        #expect(try content("arguments") == "panel --socket /run/x/control.sock --passcode-fd 0 ")
        #expect(try content("input") == "correct horse 9\n")
        #expect(try content("variables").contains("PATH=") && !content("variables").contains("only-this-process"))
    }

    @Test(arguments: [
        ("echo 'applocker: There is no hub.' >&2; exit 1", "There is no hub."),
        ("exit 4", "The companion was not opened: the command line ended with status 4."),
    ])
    func aFailureIsOneSentence(script: String, sentence: String) async throws {
        let panel = try panel(script)
        let error = await #expect(throws: CompanionPanel.Failed.self) { try await panel.open("correct horse 9") }
        #expect(error?.description == sentence)
    }
}
