import CGtk4
import ControlAPI
import DesktopSession
import Foundation
import GtkSupport
import LocalControl
import Localization

/// Asks for the passcode once in a window, and unlocks every app (`applocker-prompt --unlock-all`) or keeps one open
/// for longer (`--keep-open`). It decides nothing; the process ends with the window.
@MainActor
final class SinglePrompt {
    private let client: ControlClient
    /// The app that is kept open; nil: every app is unlocked.
    private let app: String?
    private let window = PromptWindow()
    private var scene: PromptScene
    private var lockout: Task<Void, Never>?
    /// The app is being closed already.
    private var isTooLate = false

    /// Returns only if nothing can be shown, after one sentence on standard error.
    ///
    /// - Parameter app: the id of the app that is kept open; nil: every app is unlocked.
    static func run(keepingOpen app: String? = nil, socket: String?) -> Int32 {
        g_set_prgname("applocker-prompt")
        let advice = "In a terminal, `applocker unlock` asks for the passcode."
        guard MainLoop.openDisplay(otherwise: advice) != nil else { return 1 }
        let path = ControlSocketPath.find(option: socket, environment: ProcessInfo.processInfo.environment)
        let prompt = SinglePrompt(ControlClient(socketPath: path), keepingOpen: app)
        Task { await prompt.begin() }
        withExtendedLifetime(prompt) { MainLoop.run() }
    }

    private init(_ client: ControlClient, keepingOpen app: String?) {
        self.client = client
        self.app = app
        scene = PromptScene(
            prompt: "single", mode: .asking, name: "AppLocker", icon: "applocker",
            heading: localized("Unlock all apps"), requester: localized("Every locked app can then be started"),
            passcodeHint: localized("Passcode"), defaultGrantSeconds: 300, offersThisLaunch: false)
        window.onUnlock = { [unowned self] _, passcode, grant in
            let request =
                app.map {
                    UnlockRequest(
                        apps: [$0], grant: GrantRequest(.duration, seconds: ClosingNotice.extensionSeconds),
                        extends: true, passcode: passcode)
                } ?? UnlockRequest(all: true, grant: grant, passcode: passcode)
            Task { await self.unlock(request) }
        }
        window.onCancel = { _ in exit(0) }
    }

    private func begin() async {
        // If the daemon is unreachable, the answer reports that.
        if let app {
            let report = try? await client.call(\.listApps).apps.first { $0.id == app }
            keepOpen(app, report)
        } else if let settings = try? await client.call(\.settings) {
            scene.defaultGrantSeconds = settings.defaultGrantSeconds
        }
        window.show(scene)
        for await found in CaptureWatch().captures() {
            scene.capture = ScreenCapture.sentence(found) ?? ""
            window.show(scene)
        }
    }

    private func keepOpen(_ app: String, _ report: AppReport?) {
        let name = ShownText.shortened(ShownText.line(report?.name ?? app))
        let minutes = ClosingNotice.extensionSeconds / 60
        scene.name = name
        scene.icon = report?.icon
        scene.heading = localized("Keep \(name) open for \(minutes) more minutes")
        scene.requester = localized("It is closed when its unlock ends")
        scene.passcodeHint = localized(report?.hasOwnPasscode == true ? "Passcode for \(name)" : "Passcode")
        scene.verb = localized("_Keep Open")
        scene.offersGrants = false
        if let seconds = report?.unlockedForSeconds { countDown(seconds) }
    }

    /// Ends with the app's grant: from then on nothing can be kept open.
    private func countDown(_ seconds: Int) {
        let ends = ContinuousClock.now + .seconds(seconds)
        Task {
            while .now < ends {
                let left = PromptQueue.secondsLeft(ends, at: .now)
                scene.remaining = localized("Closes in \(ShownText.countdown(left))")
                scene.remainingFraction = Double(left) / Double(seconds)
                window.show(scene)
                try? await Task.sleep(for: .milliseconds(250))
            }
            isTooLate = true
            if scene.mode != .checking { exit(0) }
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
        if isTooLate { exit(0) }
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
