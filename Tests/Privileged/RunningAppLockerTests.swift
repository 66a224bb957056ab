import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A whole AppLocker, as `applocker up` starts it.
@Suite(.requires(.root, .fanotify))
struct RunningAppLockerTests {
    @Test func aLockedProgramIsHeldPromptedForAndContinues() async throws {
        let applocker = try await RunningAppLocker()
        let diary = applocker.directory.path("Diary")
        try FileManager.default.copyItem(atPath: "/bin/echo", toPath: diary)
        let app = try await applocker.add(diary)

        let denied = try await ChildProcess.run(diary, ["dear diary"])
        #expect(denied.exit == .notStarted(errno: EPERM))

        let prompter = try await applocker.prompter { _ in
            PromptAnswerRequest(passcode: RunningAppLocker.passcode, grant: GrantRequest(.thisLaunch))
        }
        let allowed = try await ChildProcess.run(diary, ["dear diary"])
        #expect(allowed.exit == .code(0))
        #expect(allowed.output == "dear diary\n")
        prompter.cancel()

        // Recorded after the launch was answered.
        await eventually("both launches are recorded") {
            let kinds = try await applocker.events(of: app.id).map(\.kind)
            return kinds.contains("launch_denied") && kinds.contains("launch_allowed")
        }
        try await applocker.stop()
    }
}
