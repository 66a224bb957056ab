import ControlAPI
import Localization
public import Observation

/// The name of an app in the person's language.
///
/// - Parameters:
///   - id: of the app.
///   - name: the one that the daemon has.
public typealias AppNaming = @MainActor (_ id: String, _ name: String) -> String

/// What all models of a window share.
@MainActor @Observable
public final class DesktopContext {
    public let control: any DesktopControl
    public let prompt: PasscodePrompt
    public let session: ManagementSession
    public let time: DesktopTime
    @ObservationIgnored let appName: AppNaming

    /// The newest sentence to show for a moment.
    public private(set) var announcement = ""
    /// Increases with each announcement, also where its sentence is the same.
    public private(set) var announcements = 0

    /// - Parameter appName: by default the daemon's name.
    public init(control: any DesktopControl, time: DesktopTime, appName: @escaping AppNaming = { $1 }) {
        self.appName = appName
        self.control = control
        self.time = time
        prompt = PasscodePrompt()
        session = ManagementSession(control: control, prompt: prompt, time: time)
    }

    /// Shows a sentence for a moment.
    public func announce(_ sentence: String) {
        guard !sentence.isEmpty else { return }
        announcement = sentence
        announcements += 1
    }

    /// Does what the user asked for, and announces why it failed. A cancelled passcode dialog is no failure.
    ///
    /// - Returns: nil after a failure.
    @discardableResult
    public func attempt<Result: Sendable>(_ work: @MainActor () async throws -> Result) async -> Result? {
        do {
            return try await work()
        } catch is CancellationError {
            return nil
        } catch {
            announce(sentence(error))
            return nil
        }
    }
}

extension DesktopContext {
    /// Ends an app's grant. For a grant of another user, such as a phone's, it asks for the passcode.
    func lock(_ app: String, name: String) async {
        await attempt {
            try await session.whereNeeded(localized("Lock \(name)")) { token in
                try await control.call(\.lock, token: token, body: LockRequest(apps: [app]))
            }
        }
    }
}
