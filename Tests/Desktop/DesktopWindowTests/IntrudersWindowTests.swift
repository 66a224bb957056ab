import ControlAPI
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

@Suite(.windowSession) struct IntrudersWindowTests {
    @Test(.requires(.program("ffmpeg")), arguments: WindowScreenKind.usual)
    func anIntruderPhotoIsSeenInTheGridOpenedAndRemoved(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let client = session.client
        let token = try await session.token()
        _ = try await client.call(
            \.changeSettings, token: token,
            body: ChangeSettingsRequest(photographsFromFailure: 1, camera: "lavfi:testsrc2=size=640x480"))
        await #expect(throws: ControlError.self) {
            try await client.call(\.openVault, body: PasscodeRequest(passcode: "wrong one"))
        }
        _ = try await client.call(\.openVault, body: PasscodeRequest(passcode: WindowSession.passcode))
        try await session.awaiting("the photo is taken") {
            try await client.call(\.listIntruders).intruders.count == 1
        }
        try await session.startWindow()
        try await session.press(keys: "alt+7")
        try await session.awaitWords("After 1 wrong passcode")
        try await session.awaitWords("Thumbnail of ")
        try await session.photograph("intruders")
        let tile = try #require(
            await session.parts().first { $0.role == "push button" && $0.name.contains("After 1 wrong") }?.name)
        try await session.press(tile)
        try await session.awaitWords("Remove photo")
        try await session.awaitWords("Intruder photo.")
        try await session.photograph("intruder-photo")
        try await session.press("Remove photo")
        try await session.press("Remove", role: "push button")
        try await session.awaiting("the photo is removed") {
            try await client.call(\.listIntruders).intruders.isEmpty
        }
        try await session.awaitWords("No photos")
    }
}
