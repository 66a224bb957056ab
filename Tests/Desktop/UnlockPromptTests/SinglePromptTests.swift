import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// `applocker-prompt --unlock-all` and `--keep-open`: the real window on a real X server.
@Suite(
    .requires(.display, .program("xdotool"), .program("openbox"), .program("xprop"), .program("import")))
struct SinglePromptTests {
    private func start(_ desktop: Desktop, _ task: String = "--unlock-all") throws -> ChildProcess {
        try ChildProcess(
            BuiltProducts.path("applocker-prompt"), [task, "--socket", desktop.daemon.socketPath],
            environment: desktop.environment)
    }

    /// - Parameter seconds: until the app is closed.
    private func unlocked(for seconds: Int?, hasOwnPasscode: Bool = false) -> ScriptedDaemon.Reply {
        .init(
            200,
            AppList(apps: [
                AppReport(
                    id: "firefox", name: "Firefox", icon: nil, state: seconds == nil ? .locked : .unlocked,
                    unlockedForSeconds: seconds, schedule: nil, categories: [], hasOwnPasscode: hasOwnPasscode,
                    onGrantEnd: "close", executables: [], privateDirectories: [], sharedWith: [])
            ]))
    }

    /// Types a wrong passcode, which is refused, and the right one.
    ///
    /// - Returns: what the window sent with the right one.
    private func accepted(by window: ChildProcess, titled title: String, on desktop: Desktop) async throws
        -> UnlockRequest
    {
        desktop.daemon.on(.unlock) { body in
            let request = try? JSONDecoder().decode(UnlockRequest.self, from: body)
            return request?.passcode == "correct horse"
                ? .init(200, AppsChanged(apps: []))
                : .refused(ControlError(.wrongPasscode, "The passcode is wrong."))
        }
        try await desktop.awaitWindow(title)
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
        return try JSONDecoder().decode(UnlockRequest.self, from: last.body)
    }

    @Test func onlyAPasscodeKeepsAnAppOpenForLonger() async throws {
        let desktop = try await Desktop(.openbox)
        desktop.daemon.on(.listApps) { _ in unlocked(for: 600) }
        let window = try start(desktop, "--keep-open=firefox")
        let request = try await accepted(by: window, titled: "Keep Firefox open for 5 more minutes", on: desktop)
        #expect(request.apps == ["firefox"] && !request.all && request.extends)
        #expect(request.grant == GrantRequest(.duration, seconds: 300))
    }

    @Test func thePromptToKeepAnAppOpenEndsWithTheAppsUnlock() async throws {
        let desktop = try await Desktop(.openbox)
        desktop.daemon.on(.listApps) { _ in unlocked(for: 2) }
        let window = try start(desktop, "--keep-open=firefox")
        #expect(try await window.wait() == .code(0))
        #expect(desktop.daemon.calls("POST /v1/unlock").isEmpty)
    }

    @Test func theRightPasscodeUnlocksEverythingAndClosesTheWindow() async throws {
        let desktop = try await Desktop(.openbox)
        desktop.daemon.on(.settings) { _ in
            .init(200, SettingsReport(promptTimeoutSeconds: 30, defaultGrantSeconds: 900, holdsRoot: false))
        }
        let window = try start(desktop)
        let request = try await accepted(by: window, titled: "Unlock all apps", on: desktop)
        #expect(request.all && request.apps.isEmpty)
        #expect(request.grant == GrantRequest(.duration, seconds: 900), "the default of the settings")
    }

    @Test func escapeClosesTheWindowWithoutUnlocking() async throws {
        let desktop = try await Desktop(.openbox)
        let window = try start(desktop)
        try await desktop.awaitWindow("Unlock all apps")
        await desktop.awaitKeyboard(of: "applocker-prompt")
        try await desktop.press("Escape")
        #expect(try await window.wait() == .code(0))
        #expect(desktop.daemon.calls("POST /v1/unlock").isEmpty)
    }
}
