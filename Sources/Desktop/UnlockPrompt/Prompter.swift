import BlockingThread
import ControlAPI
import DesktopSession
import Localization

/// Keeps the connection to the daemon, shows pending launches and sends the answers. It decides nothing.
@MainActor
final class Prompter {
    /// The pause after the daemon disconnected, and between attempts to connect.
    static let reconnectPause: Duration = .seconds(1)
    /// How often the desktop's processes are registered with the daemon: panels and shells may be restarted.
    static let registrationPeriod: Duration = .seconds(60)
    private static let countdownStep: Duration = .milliseconds(250)

    private let connection: any PromptConnection
    private let window: PromptWindow
    /// Starts a launch by the desktop again; later failures are reported to the closure.
    private let start: (ExecRequest, _ onFailure: @escaping @Sendable (String) -> Void) throws -> Void
    private var queue = PromptQueue()
    private var countdown: Task<Void, Never>?
    private let captures = CaptureWatch()
    /// Runs while the window is shown.
    private var captureWatch: Task<Void, Never>?
    private var captureSentence = ""
    private var lastProblem = ""

    init(
        connection: any PromptConnection, window: PromptWindow,
        start: @escaping (ExecRequest, _ onFailure: @escaping @Sendable (String) -> Void) throws -> Void
    ) {
        self.connection = connection
        self.window = window
        self.start = start
        window.onUnlock = { [unowned self] prompt, passcode, grant in
            answer(prompt, PromptAnswerRequest(passcode: passcode, grant: grant))
        }
        window.onCancel = { [unowned self] prompt in cancel(prompt) }
    }

    /// Serves until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                try await serve()
                note("AppLocker closed the connection.")
            } catch {
                note(sentence(error))
            }
            queue.settleAll()
            refresh()
            try? await Task.sleep(for: Self.reconnectPause)
        }
    }

    private func serve() async throws {
        let events = try await connection.events()
        let registering = Task { await registerDesktop() }
        defer { registering.cancel() }
        for try await event in events {
            switch event {
            case .ready:
                note("Connected.")
            case .ask(let report):
                queue.ask(report, at: .now)
            case .start(let report, let execRequest):
                startAgain(execRequest, report)
            case .settled(let prompt, _):
                queue.settle(prompt)
            }
            refresh()
        }
    }

    private func registerDesktop() async {
        while !Task.isCancelled {
            let desktop = DesktopProcesses()
            let processes = await runBlocking { desktop.find() }
            // After a failure the processes are registered in the next round, or at the next connection.
            if (try? await connection.registerDesktop(processes)) != nil {
                note("The desktop's processes are registered.")
            }
            try? await Task.sleep(for: Self.registrationPeriod)
        }
    }

    private func answer(_ prompt: String, _ request: PromptAnswerRequest) {
        guard let report = queue.current?.report, report.prompt == prompt else { return }
        queue.beginAnswer(prompt)
        refresh()
        Task {
            do {
                let answer = try await connection.answer(prompt, with: request)
                queue.settle(prompt)
                if let execRequest = answer.execRequest {
                    startAgain(execRequest, report)
                } else if report.startsAgain {
                    showNotice(report, localized("It is unlocked. Start it again."))
                }
            } catch let error as ControlError where error.code == .noSuchPrompt {
                queue.settle(prompt)
            } catch let error as ControlError {
                queue.refuse(
                    prompt, localized(written: error.message),
                    lockoutSeconds: error.code == .lockedOut ? error.retryAfterSeconds : nil,
                    at: .now)
            } catch {
                queue.refuse(
                    prompt, localized("AppLocker did not answer. Try again."), lockoutSeconds: nil, at: .now)
                note(sentence(error))
            }
            refresh()
        }
    }

    private func startAgain(_ execRequest: ExecRequest, _ report: PromptReport) {
        do {
            try start(execRequest) { [weak self] sentence in
                Task { @MainActor in self?.showNotice(report, sentence) }
            }
        } catch {
            showNotice(report, sentence(error))
        }
    }

    private func showNotice(_ report: PromptReport, _ sentence: String) {
        queue.show(.init(name: report.name, icon: report.icon, text: sentence))
        refresh()
    }

    private func cancel(_ prompt: String?) {
        guard let prompt else {
            queue.dismissNotice()
            refresh()
            return
        }
        queue.settle(prompt)
        refresh()
        Task {
            do {
                try await connection.cancel(prompt)
            } catch {
                // The launch is denied by its time limit.
                note(sentence(error))
            }
        }
    }

    /// Shows the current state, and updates the countdown while the window is shown.
    private func refresh() {
        queue.dropExpired(at: .now)
        var scene = queue.scene(at: .now)
        scene?.capture = captureSentence
        window.show(scene)
        guard scene != nil else {
            countdown?.cancel()
            countdown = nil
            captureWatch?.cancel()
            captureWatch = nil
            captureSentence = ""
            return
        }
        watchCaptures()
        guard countdown == nil else { return }
        countdown = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.countdownStep)
                if !Task.isCancelled { self?.refresh() }
            }
        }
    }

    /// Shows whether the screen is being recorded, as long as the window is shown.
    private func watchCaptures() {
        guard captureWatch == nil else { return }
        captureWatch = Task { [weak self, captures] in
            for await found in captures.captures() where !Task.isCancelled {
                self?.captureSentence = ScreenCapture.sentence(found) ?? ""
                self?.refresh()
            }
        }
    }

    /// Writes one line to standard error whenever the error changes.
    private func note(_ sentence: String) {
        guard sentence != lastProblem else { return }
        lastProblem = sentence
        StandardError.write("applocker-prompt: \(sentence)\n")
    }
}
