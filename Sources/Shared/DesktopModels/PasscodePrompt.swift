import ControlAPI
public import Localization
public import Observation

/// What the passcode is asked for.
public struct PasscodeQuestion: Equatable, Sendable {
    /// "Change settings".
    public var title: String
    /// One sentence below the title.
    public var explanation: String
    /// The button: "Continue", "Unlock".
    public var verb: String
    /// False: the recovery code is of no use here.
    public var isOfThisAppLocker: Bool

    public init(
        title: String, explanation: String, verb: String = localized("Continue"), isOfThisAppLocker: Bool = true
    ) {
        self.title = title
        self.explanation = explanation
        self.verb = verb
        self.isOfThisAppLocker = isOfThisAppLocker
    }
}

/// The window's one passcode dialog. It stays open until the daemon accepts a passcode or the user cancels; no passcode is
/// kept.
@MainActor @Observable
public final class PasscodePrompt {
    private struct Pending {
        var attempt: (String) async throws -> Void
        var fail: (any Error) -> Void
    }

    /// Nil: the dialog is closed.
    public private(set) var question: PasscodeQuestion?
    /// A passcode is being compared, which takes about a second. The dialog can't be cancelled meanwhile.
    public private(set) var isChecking = false
    /// Why the last passcode was refused; empty at first.
    public private(set) var refusal = ""
    /// Increases with each refusal, also where its sentence is the same.
    public private(set) var refusals = 0

    @ObservationIgnored private var pending: Pending?

    public init() {}

    /// Opens the dialog and returns what `attempt` returns for a passcode that is accepted.
    ///
    /// - Parameter attempt: sends the passcode to the daemon.
    /// - Throws: `CancellationError` if the user cancels or the dialog is open already; what `attempt` throws, apart from
    ///   refused passcodes.
    @discardableResult
    public func ask<Reply: Sendable>(
        _ question: PasscodeQuestion, attempt: @escaping @MainActor (String) async throws -> Reply
    ) async throws -> Reply {
        guard pending == nil else { throw CancellationError() }
        return try await withCheckedThrowingContinuation { continuation in
            pending = Pending(
                attempt: { continuation.resume(returning: try await attempt($0)) },
                fail: { continuation.resume(throwing: $0) })
            refusal = ""
            self.question = question
        }
    }

    /// Tries a passcode.
    public func submit(_ passcode: String) async {
        guard let pending, !isChecking, !passcode.isEmpty else { return }
        isChecking = true
        defer { isChecking = false }
        do {
            try await pending.attempt(passcode)
            close()
        } catch let error as ControlError where Self.isRefusal(error) {
            refusal = localized(written: error.message)
            refusals += 1
        } catch {
            close()
            pending.fail(error)
        }
    }

    /// Closes the dialog if it still asks this.
    func cancel(_ question: PasscodeQuestion) { if self.question == question { cancel() } }

    public func cancel() {
        guard let pending, !isChecking else { return }
        close()
        pending.fail(CancellationError())
    }

    private func close() {
        pending = nil
        question = nil
        refusal = ""
    }

    private static func isRefusal(_ error: ControlError) -> Bool {
        switch error.code {
        case .wrongPasscode, .lockedOut, .passcodeTooShort, .busy: true
        default: false
        }
    }
}
