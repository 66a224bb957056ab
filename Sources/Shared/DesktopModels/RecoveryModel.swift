import ControlAPI
import Localization
public import Observation

/// The recovery sheet: a code that is shown once, printed, and checked by typing it.
@MainActor @Observable
public final class RecoveryModel {
    /// The new code while it is shown; nil before and afterwards.
    public private(set) var code: String?
    /// Whether the code was typed correctly since it was made.
    public private(set) var isVerified = false
    /// Why the typed code was refused; empty if it wasn't.
    public private(set) var refusal = ""

    private let context: DesktopContext

    public init(_ context: DesktopContext) { self.context = context }

    /// Makes a new code; an earlier sheet stops working.
    public func make() async {
        await context.attempt {
            let question = PasscodeQuestion(
                title: localized("Make a recovery sheet"),
                explanation: localized(
                    "Its code sets a new passcode if you forget yours. An earlier sheet stops working."),
                verb: localized("Make"))
            let reply = try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(\.makeRecovery, body: PasscodeRequest(passcode: passcode))
            }
            (code, isVerified, refusal) = (reply.code, false, "")
        }
    }

    /// Checks a code that was typed from the sheet. A wrong one counts like a wrong passcode.
    public func verify(_ typed: String) async {
        do {
            try await context.control.call(\.testRecovery, body: RecoveryRequest(code: typed))
            (isVerified, refusal) = (true, "")
            context.announce(localized("The recovery code is valid."))
        } catch is CancellationError {
        } catch {
            refusal = sentence(error)
        }
    }

    /// The code leaves the screen.
    public func close() { (code, refusal) = (nil, "") }

    /// As before the first sheet.
    func forget() {
        close()
        isVerified = false
    }
}
