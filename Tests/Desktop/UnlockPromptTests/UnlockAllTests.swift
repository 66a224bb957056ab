import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// `applocker-prompt --unlock-all`: the real window on a real X server.
@Suite(
    .requires(.display, .program("xdotool"), .program("openbox"), .program("xprop"), .program("import")))
struct UnlockAllTests {
    private func start(_ desktop: Desktop) throws -> ChildProcess {
        try ChildProcess(
            BuiltProducts.path("applocker-prompt"), ["--unlock-all", "--socket", desktop.daemon.socketPath],
            environment: desktop.environment)
    }

    @Test func theRightPasscodeUnlocksEverythingAndClosesTheWindow() async throws {
        let desktop = try await Desktop(.openbox)
        desktop.daemon.on(.settings) { _ in
            .init(200, SettingsReport(promptTimeoutSeconds: 30, defaultGrantSeconds: 900, holdsRoot: false))
        }
        desktop.daemon.on(.unlock) { body in
            let request = try? JSONDecoder().decode(UnlockRequest.self, from: body)
            return request?.passcode == "correct horse"
                ? .init(200, AppsChanged(apps: []))
                : .refused(ControlError(.wrongPasscode, "The passcode is wrong."))
        }
        let window = try start(desktop)
        try await desktop.awaitWindow("Unlock all apps")
        let before = try await desktop.warningPoints()
        try await desktop.type("wrong")
        try await desktop.press("Return")
        await eventually("it was refused") { desktop.daemon.calls("POST /v1/unlock").count == 1 }
        await eventually("the refusal is shown") { try await desktop.warningPoints() > before + 200 }
        #expect(window.isRunning, "another attempt is possible")
        try await desktop.type("correct horse")
        try await desktop.press("Return")
        #expect(try await window.wait() == .code(0))
        let last = try #require(desktop.daemon.calls("POST /v1/unlock").last)
        let request = try JSONDecoder().decode(UnlockRequest.self, from: last.body)
        #expect(request.all && request.apps.isEmpty)
        #expect(request.grant == GrantRequest(.duration, seconds: 900), "the default of the settings")
    }

    @Test func escapeClosesTheWindowWithoutUnlocking() async throws {
        let desktop = try await Desktop(.openbox)
        let window = try start(desktop)
        try await desktop.awaitWindow("Unlock all apps")
        try await desktop.press("Escape")
        #expect(try await window.wait() == .code(0))
        #expect(desktop.daemon.calls("POST /v1/unlock").isEmpty)
    }
}
