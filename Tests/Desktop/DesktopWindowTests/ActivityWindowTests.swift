import ControlAPI
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// The activity log, whose rows exist only near the visible ones.
@Suite(.windowSession) struct ActivityWindowTests {
    @Test func eventsAreReadSearchedAndReachedByKeyboard() async throws {
        let session = try await WindowSession()
        let client = session.client
        for _ in 0..<60 {
            try await client.call(\.openVault, body: PasscodeRequest(passcode: WindowSession.passcode))
            try await client.call(\.closeVault)
        }
        try await session.startWindow()
        try await session.press(keys: "alt+3")
        try await session.awaiting("the newest event has a name") {
            try await session.parts().contains { $0.role == "list item" && $0.name.hasPrefix("The vault was locked") }
        }
        let oldest = "AppLocker was set up with a passcode."
        #expect(try await !session.isShown(oldest))
        try await session.press(keys: "ctrl+f", "Tab", "Tab", "End")
        try await session.awaitWords(oldest)
        try await session.photograph("activity-end")
        try await session.press(keys: "ctrl+f")
        try await session.type("set up with")
        try await session.awaiting("only it is left") {
            let names = try await session.parts().map(\.name)
            return names.contains { $0.hasPrefix(oldest) } && !names.contains { $0.hasPrefix("The vault was") }
        }
        try await session.photograph("activity-search")
    }
}
