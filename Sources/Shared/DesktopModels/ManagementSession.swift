import ControlAPI
public import Localization
public import Observation

/// The management session: after one passcode, changes need no passcode until it ends. The daemon decides; the time left here is
/// what its reply promised.
@MainActor @Observable
public final class ManagementSession {
    private struct Open {
        var token: String
        /// On the clock of `DesktopTime.uptime`.
        var end: Duration
        var idleEnd: Duration
        var idle: Duration
    }

    /// Until the session ends without another change; nil while no session is open. `refresh()` keeps it up to date.
    public private(set) var secondsLeft: Int?

    @ObservationIgnored private var current: Open?
    private let control: any DesktopControl
    private let prompt: PasscodePrompt
    private let time: DesktopTime

    public init(control: any DesktopControl, prompt: PasscodePrompt, time: DesktopTime) {
        self.control = control
        self.prompt = prompt
        self.time = time
    }

    /// Does work that needs a session. Asks for the passcode without one, or if the daemon has ended it meanwhile.
    ///
    /// - Parameter title: what the passcode is asked for, "Add Firefox".
    /// - Throws: `CancellationError` if the user cancels; what `work` throws.
    @discardableResult
    public func perform<Result: Sendable>(
        _ title: String, _ work: @MainActor (_ token: String) async throws -> Result
    ) async throws -> Result {
        if let token {
            do {
                return try await use(token, work)
            } catch let error as ControlError where error.code == .sessionNeeded {
                forget()
            }
        }
        return try await use(try await open(title), work)
    }

    /// Does work after which an app may start without its passcode, or that stops or ends instances of an app. Asks for
    /// the passcode also while a session is open: any program of the user can press the window's buttons through the
    /// accessibility bus.
    ///
    /// - Throws: as `perform`.
    @discardableResult
    public func performAsking<Result: Sendable>(
        _ title: String, _ work: @MainActor (_ token: String) async throws -> Result
    ) async throws -> Result {
        let former = token
        let asked = try await open(title)
        if let former { _ = try? await control.call(\.endSession, token: former) }
        return try await use(asked, work)
    }

    /// Does work without a session, and with one only if the daemon requires it.
    ///
    /// - Throws: as `perform`.
    @discardableResult
    public func whereNeeded<Result: Sendable>(
        _ title: String, _ work: @MainActor (_ token: String?) async throws -> Result
    ) async throws -> Result {
        do {
            return try await work(nil)
        } catch let error as ControlError where error.code == .sessionNeeded {
            return try await perform(title, work)
        }
    }

    /// The open session's token.
    public var token: String? {
        refresh()
        return current?.token
    }

    /// Asks for the passcode and opens a session.
    ///
    /// - Throws: `CancellationError` if the user cancels; `DaemonUnreachable`.
    @discardableResult
    public func open(_ title: String = localized("Allow changes")) async throws -> String {
        let question = PasscodeQuestion(
            title: title,
            explanation: localized("Enter the passcode. Changes need no passcode for some minutes then."))
        let (control, time) = (control, time)
        let (report, opened) = try await prompt.ask(question) { passcode in
            let report = try await control.call(\.openSession, body: PasscodeRequest(passcode: passcode))
            return (report, time.uptime())
        }
        adopt(report, opened: opened)
        return report.token
    }

    /// Opens a session with a passcode that was just entered for something else.
    func open(with passcode: String) async throws {
        let report = try await control.call(\.openSession, body: PasscodeRequest(passcode: passcode))
        adopt(report, opened: time.uptime())
    }

    private func adopt(_ report: SessionReport, opened: Duration) {
        let idle = Duration.seconds(report.idleSeconds)
        current = Open(
            token: report.token, end: opened + .seconds(report.expiresInSeconds), idleEnd: opened + idle, idle: idle)
        refresh()
    }

    /// Ends the session; the next change asks again. If the daemon can't be reached, the token is forgotten nevertheless,
    /// and expires.
    public func end() async {
        guard let token = current?.token else { return }
        forget()
        _ = try? await control.call(\.endSession, token: token)
    }

    /// Updates the time that is left; to be called each second while a session is open.
    public func refresh() {
        guard let current else { return show(nil) }
        let left = (min(current.end, current.idleEnd) - time.uptime()).components.seconds
        if left <= 0 { forget() } else { show(Int(left)) }
    }

    private func use<Result: Sendable>(
        _ token: String, _ work: @MainActor (_ token: String) async throws -> Result
    ) async throws -> Result {
        let result = try await work(token)
        if let idle = current?.idle { current?.idleEnd = time.uptime() + idle }
        refresh()
        return result
    }

    private func forget() {
        current = nil
        show(nil)
    }

    private func show(_ seconds: Int?) {
        if secondsLeft != seconds { secondsLeft = seconds }
    }
}
