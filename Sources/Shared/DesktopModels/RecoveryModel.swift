import ControlAPI
import Localization
public import Observation

/// The recovery sheet: a code that is shown once, printed, and checked by typing it.
@MainActor @Observable
public final class RecoveryModel {
    /// How long a code is shown at most: long enough to print it, or to write it down and to check it.
    static let shownTime = Duration.seconds(600)

    /// The new code while it is shown; nil before and afterwards.
    public private(set) var code: String?
    /// Whether the code was typed correctly since it was made.
    public private(set) var isVerified = false
    /// Why the typed code was refused; empty if it wasn't.
    public private(set) var refusal = ""

    private let context: DesktopContext
    @ObservationIgnored private var hiding: Task<Void, Never>?

    public init(_ context: DesktopContext, _ vault: VaultModel) {
        self.context = context
        vault.onLock.append { [unowned self] in close() }
    }

    /// Makes a new code; an earlier sheet stops working once the new code is entered.
    public func make() async {
        await context.attempt {
            let question = PasscodeQuestion(
                title: localized("Make a recovery sheet"),
                explanation: localized(
                    "Its code sets a new passcode if you forget yours. An earlier sheet works until you check this one."
                ),
                verb: localized("Make"))
            let reply = try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(\.makeRecovery, body: PasscodeRequest(passcode: passcode))
            }
            (code, isVerified, refusal) = (reply.code, false, "")
            hiding?.cancel()
            hiding = Task { [weak self, sleep = context.time.sleep] in
                guard (try? await sleep(Self.shownTime)) != nil, !Task.isCancelled else { return }
                self?.close()
            }
        }
    }

    /// Checks a code that was typed from the sheet. A wrong one counts like a wrong passcode.
    public func verify(_ typed: String) async {
        do {
            try await context.control.call(\.testRecovery, body: RecoveryRequest(code: typed))
            close()
            isVerified = true
            context.announce(localized("The recovery code is valid."))
        } catch is CancellationError {
        } catch {
            refusal = sentence(error)
        }
    }

    /// The code leaves the screen: by itself it sets a new passcode.
    public func close() {
        hiding?.cancel()
        (code, refusal) = (nil, "")
    }

    /// As before the first sheet.
    func forget() {
        close()
        isVerified = false
    }
}
