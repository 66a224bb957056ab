import ControlAPI
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// The page of settings, and the way back to a computer whose passcode was forgotten.
@Suite(.windowSession) struct SettingsWindowTests {
    @Test func aSearchShowsTheRowsThatHaveItsWords() async throws {
        let session = try await WindowSession()
        try await session.startWindow()
        try await session.press(keys: "alt+0")
        try await session.awaitWords("An unlock lasts")
        try await session.press(keys: "ctrl+f")
        try await session.type("wrong photo")
        try await session.awaiting("only the rows that match are left") {
            let names = Set(try await session.parts().map(\.name))
            return names.contains("Take a photo after wrong passcodes") && !names.contains("An unlock lasts")
                && !names.contains("Keep alerts and photos for")
        }
        try await session.photograph("settings-found")
        try await session.type(" unheard")
        try await session.awaitWords("No setting matches")
        try await session.press(keys: "ctrl+a", "BackSpace")
        try await session.awaitWords("An unlock lasts")
    }

    @Test(arguments: WindowScreenKind.usual)
    func aForgottenPasscodeIsReplacedWithTheCodeOfTheSheet(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let code = try await session.client.call(
            \.makeRecovery, body: PasscodeRequest(passcode: WindowSession.passcode)
        ).code
        _ = try await session.client.call(\.testRecovery, body: RecoveryRequest(code: code))
        try await session.startWindow()
        // From the dialog that asks for the passcode.
        try await session.press("Allow changes for some minutes")
        try await session.press("Passcode Forgotten", role: "push button")
        try await session.awaitWords("The code of the recovery sheet sets a new one.")
        try await session.awaitWords("Recovery code")
        // The row has the focus.
        try await session.type(code + "x")
        for field in ["New passcode", "New passcode again"] { try await session.fill(field, "another-1") }
        try await session.photograph("recovery-use")
        try await session.press("Set Passcode")
        try await session.awaitWords("A recovery code has 36 letters and digits")
        try await session.photograph("recovery-refused")
        try await session.fill("Recovery code", code)
        try await session.press("Set Passcode")
        try await session.awaiting("the rows close") { try await !session.isShown("Recovery code") }
        _ = try await session.client.call(\.openSession, body: PasscodeRequest(passcode: "another-1"))
    }
}
