import CGtk4
import ControlAPI
import DesktopSession
import Foundation
import GtkSupport
import LocalControl
import Localization

/// `applocker-prompt --unlock-all`: asks for the passcode once in a window, and every app is unlocked. It decides
/// nothing; the process ends with the window.
@MainActor
final class UnlockAll {
    private static let prompt = "unlock-all"

    private let client: ControlClient
    private let window = PromptWindow()
    private var scene: PromptScene
    private var lockout: Task<Void, Never>?

    /// Returns only if nothing can be shown, after one sentence on standard error.
    static func run(socket: String?) -> Int32 {
        g_set_prgname("applocker-prompt")
        let advice = "In a terminal, `applocker unlock --all` asks for the passcode."
        guard MainLoop.openDisplay(otherwise: advice) != nil else { return 1 }
        let path = ControlSocketPath.find(option: socket, environment: ProcessInfo.processInfo.environment)
        let unlocking = UnlockAll(ControlClient(socketPath: path))
        Task { await unlocking.begin() }
        withExtendedLifetime(unlocking) { MainLoop.run() }
    }

    private init(_ client: ControlClient) {
        self.client = client
        scene = PromptScene(
            prompt: Self.prompt, mode: .asking, name: "AppLocker", icon: "applocker",
            heading: localized("Unlock all apps"), requester: localized("Every locked app can then be started"),
            passcodeHint: localized("Passcode"), defaultGrantSeconds: 300, offersThisLaunch: false)
        window.onUnlock = { [unowned self] _, passcode, grant in
            Task { await self.unlock(UnlockRequest(all: true, grant: grant, passcode: passcode)) }
        }
        window.onCancel = { _ in exit(0) }
    }

    private func begin() async {
        // If the daemon is unreachable, the answer reports that.
        if let settings = try? await client.call(\.settings) {
            scene.defaultGrantSeconds = settings.defaultGrantSeconds
        }
        window.show(scene)
        for await found in CaptureWatch().captures() {
            scene.capture = ScreenCapture.sentence(found) ?? ""
            window.show(scene)
        }
    }

    private func unlock(_ request: UnlockRequest) async {
        scene.mode = .checking
        scene.message = ""
        window.show(scene)
        do {
            try await client.call(\.unlock, body: request)
            exit(0)
        } catch let error as ControlError {
            refuse(
                localized(written: error.message),
                lockoutSeconds: error.code == .lockedOut ? error.retryAfterSeconds : nil)
        } catch {
            refuse(localized("AppLocker did not answer. Try again."), lockoutSeconds: nil)
        }
    }

    private func refuse(_ message: String, lockoutSeconds: Int?) {
        scene.refusals += 1
        scene.message = message
        scene.mode = .asking
        window.show(scene)
        if let lockoutSeconds { pause(lockoutSeconds) }
    }

    /// No passcode is accepted for this time.
    private func pause(_ seconds: Int) {
        let ends = ContinuousClock.now + .seconds(seconds)
        lockout?.cancel()
        lockout = Task {
            while !Task.isCancelled, .now < ends {
                scene.mode = .lockedOut
                let left = PromptQueue.secondsLeft(ends, at: .now)
                scene.message = localized("Too many wrong passcodes. Try again in \(ShownText.countdown(left)).")
                window.show(scene)
                try? await Task.sleep(for: .milliseconds(250))
            }
            guard !Task.isCancelled else { return }
            scene.mode = .asking
            scene.message = ""
            window.show(scene)
        }
    }
}
