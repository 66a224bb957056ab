import ControlAPI
import Foundation
import LocalControl
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// The steps that a new owner takes in the window.
@Suite(.windowSession) struct FirstRunWindowTests {
    /// Takes all steps, by keyboard, to the last one.
    private func lockCalculator(_ session: WindowSession) async throws {
        try await session.startWindow()
        try await session.awaitWords("Choose a passcode")
        try await session.photograph("first-run-passcode")
        try await session.type(WindowSession.passcode)
        try await session.press(keys: "Tab", "Tab")
        try await session.type(WindowSession.passcode)
        try await session.awaitWords("Very strong.")
        try await session.press(keys: "Return")
        try await session.awaitWords("Which apps are locked?")
        #expect(try await session.client.call(\.status).isSetUp)
        try await session.type("calculator")
        try await session.awaiting("the search is applied") { try await !session.isShown("Firefox ESR") }
        try await session.press(keys: "Tab", "space")
        try await session.awaitWords("Lock 1 App")
        try await session.photograph("first-run-apps")
        try await session.press(keys: "alt+l")
        try await session.awaitWords("When you are away")
        try await session.photograph("first-run-absence")
        #expect(try await session.client.call(\.listApps).apps.map(\.id) == ["org.gnome.Calculator"])
        for words in ["Your phone", "If you forget the passcode", "AppLocker is ready"] {
            try await session.press(keys: "alt+s")
            try await session.awaitWords(words)
            try await session.photograph(
                "first-run-\(words.lowercased().prefix(6).replacingOccurrences(of: " ", with: "-"))")
        }
        try await session.awaitWords("Start Calculator Now")
    }

    @Test(.requires(.program("gnome-calculator")), arguments: WindowScreenKind.both)
    func theFirstRunIsDoneByKeyboard(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(isSetUp: false, on: screen)
        try await lockCalculator(session)
        try await session.press(keys: "alt+o")
        try await session.awaitWords("Overview")
        // The first run's views are released; what they showed changes once more.
        try await session.press(keys: "alt+9")
        try await session.press("Make Recovery Sheet")
        try await session.enterPasscode(verb: "Make")
        try await session.awaitWords("Print this code, or write it down.")
        // The code leaves the window with the page.
        try await session.press(keys: "alt+1", "alt+9")
        try await session.awaitWords("Make Recovery Sheet")
        #expect(try await !session.isShown("Print this code, or write it down."))
    }

    @Test(.requires(.root, .program("gnome-calculator")), arguments: WindowScreenKind.usual)
    func itsLastStepStartsALockedAppThatWaitsForThePasscode(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(isSetUp: false, on: screen)
        try await lockCalculator(session)
        let asked = Mutex<[PromptReport]>([])
        let prompts = try await session.client.prompts()
        let prompter = Task {
            for try await event in prompts { if case .ask(let report) = event { asked.withLock { $0.append(report) } } }
        }
        defer { prompter.cancel() }
        try await session.awaiting("there is a prompter") { try await session.client.call(\.status).prompterConnected }
        try await session.press("Start Calculator Now")
        await eventually("its launch waits") { asked.withLock { !$0.isEmpty } }
        let first = asked.withLock { $0.first }
        let launch = try #require(first)
        #expect(launch.app == "org.gnome.Calculator")
        try await session.client.call(\.cancelPrompt, parameter: launch.prompt)
        try await session.awaiting("the page is still there") { try await session.isShown("Start Calculator Now") }
    }
}
