import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// The window in another language than English, by the catalogue of the build.
@Suite(.windowSession, .requires(.program("msgfmt"))) struct TranslationTests {
    private let german: [String: String]

    init() throws { german = try GermanCatalogue.messages() }

    /// Texts that are equal to an English message and are no translation of another one.
    private func english(_ session: WindowSession) async throws -> Set<String> {
        let shown = try await session.parts().flatMap { [$0.name, $0.text] }
        return Set(shown).intersection(german.keys).subtracting(german.values)
    }

    @Test func everyPageIsGermanAndFitsANarrowWindow() async throws {
        let session = try await WindowSession(settings: ["LANGUAGE": "de"])
        try await session.startWindow(shows: "Menü")
        let pages = [
            "Overview", "Apps", "Activity", "Notes", "Files", "Everline", "Intruder Photos", "Devices",
            "Backup and Recovery", "Settings",
        ]
        let window = try #require(try await session.xWindows().first)
        for size in [["900", "720"], ["360", "720"]] {
            try await session.x("xdotool", "windowsize", "--sync", window, size[0], size[1])
            for (number, page) in pages.enumerated() {
                try await session.press(keys: "alt+\((number + 1) % 10)")
                try await session.awaitWords(german[page] ?? page)
                #expect(try await english(session) == [], "\(page)")
                try await session.photograph("german-\(size[0])-\(page.lowercased().replacing(" ", with: "-"))")
            }
            let geometry = try await session.x("xdotool", "getwindowgeometry", "--shell", window)
            #expect(geometry.contains("WIDTH=\(size[0])\n"))
        }
    }

    @Test(.requires(.program("gnome-calculator"))) func appsHaveTheNamesOfTheirDesktopEntriesUnlessTheUserReplacedThem()
        async throws
    {
        let session = try await WindowSession(settings: ["LANGUAGE": "de"])
        for (folder, name) in [("data", "Rechenbrett"), (".local/share", "Sparschwein")] {
            try session.directory.write(
                "[Desktop Entry]\nType=Application\nName=Calculator\nName[de]=\(name)\nExec=gnome-calculator\n",
                to: folder + "/applications/org.gnome.Calculator.desktop")
        }
        let window = try await session.startWindow(shows: "Menü")
        try await session.press(keys: "alt+2")
        try await session.awaitWords("Calculator")
        #expect(try await !session.shows("Sparschwein"))
        try FileManager.default.removeItem(atPath: session.directory.path(".local"))
        try await session.press(keys: "ctrl+q")
        #expect(try await window.wait() == .code(0))
        try await session.startWindow(shows: "Menü")
        try await session.press(keys: "alt+2")
        try await session.awaitWords("Rechenbrett")
        try await session.photograph("german-names")
    }

    @Test func theFirstRunIsGerman() async throws {
        let session = try await WindowSession(isSetUp: false, settings: ["LANGUAGE": "de"])
        let title = try #require(german["Set up AppLocker"])
        try await session.startWindow(shows: title)
        #expect(try await english(session) == [])
        try await session.photograph("german-first-run")
    }

    /// Another program of the user could start the window so, with a catalogue that misleads the reader.
    @Test func aPathAsLanguageOpensNoCatalogue() async throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: folder.path("LC_MESSAGES"), withIntermediateDirectories: true)
        let built = BuiltProducts.directory.appending(path: "locale")
        try FileManager.default.copyItem(
            at: built.appending(path: "de/LC_MESSAGES/applocker.mo"),
            to: URL(fileURLWithPath: folder.path("LC_MESSAGES/applocker.mo")))
        let up = String(repeating: "../", count: built.pathComponents.count)
        let session = try await WindowSession(settings: ["LANGUAGE": up + folder.path.dropFirst()])
        try await session.startWindow(shows: "Menu")
    }

    /// The daemon's sentences, as a person would read them first: what it logs and what it refuses.
    @Test(.requires(.root, .program("gnome-calculator"))) func whatTheDaemonWritesIsGerman() async throws {
        let session = try await WindowSession(settings: ["LANGUAGE": "de"])
        try await session.startWindow(shows: "Menü")
        let owner = PasscodeRequest(passcode: WindowSession.passcode)
        let token = try await session.client.call(\.openSession, body: owner).token
        _ = try await session.client.call(
            \.addApp, token: token, body: AddAppRequest(app: "org.gnome.Calculator"))
        let shell = try ChildProcess(
            "/bin/sh", ["-c", "gnome-calculator; echo ended with $?"], environment: session.environment)
        try await session.awaiting("the launch is denied") { shell.output == "ended with 126\n" }
        _ = try? await session.client.call(
            \.unlock, body: UnlockRequest(all: true, grant: GrantRequest(.duration, seconds: 300), passcode: "wrong"))
        _ = try await session.client.call(\.openVault, body: owner)
        _ = try await session.client.call(\.closeVault)
        try await session.press(keys: "alt+3")
        let activity = try #require(german["Activity"])
        try await session.awaitWords(activity)
        try await session.photograph("german-log")
        let log = try await session.client.call(\.log, query: LogQuery()).events.map(\.sentence)
        #expect(log.count >= 6)
        #expect(log.contains("The vault was locked: a user locked it."))
        try await session.awaiting("no sentence of the log is English: \(log)") {
            let shown = try await session.parts().map(\.name)
            return log.allSatisfy { sentence in !shown.contains { $0.contains(sentence) } }
        }
    }
}
