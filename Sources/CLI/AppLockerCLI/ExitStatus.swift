import ControlAPI
import HubAPI
import LocalControl
import MomentTransfer
import Supervisor

/// The exit codes of `applocker`. Scripts rely on these numbers; docs/command-line.md lists them.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    case done = 0
    /// Wrong passcode, locked out, or any other refusal; nothing was changed.
    case refused = 1
    /// The command line, or a value in it, is wrong.
    case usage = 2
    /// The control socket doesn't answer.
    case notRunning = 3
    /// No such app, category, note, file or photo, or a name that fits several.
    case noSuchApp = 4
}

/// A failure that `applocker` itself detects, before or instead of AppLocker's reply.
struct CommandLineError: Error, Equatable, Sendable, CustomStringConvertible {
    let status: ExitStatus
    /// A stable word for programs, in the style of `ControlError.Code`.
    let code: String
    /// One sentence: what failed and what to do.
    let sentence: String

    init(_ status: ExitStatus, code: String, _ sentence: String) {
        self.status = status
        self.code = code
        self.sentence = sentence
    }

    var description: String { sentence }
}

/// The report of an error, and the exit code after it.
struct Failure: Equatable, Sendable {
    let status: ExitStatus
    let code: String
    let message: String
    var retryAfterSeconds: Int?
}

extension Failure {
    init(_ error: any Error) {
        switch error {
        case let error as ControlError:
            self.init(
                status: Self.status(of: error.code), code: error.code.rawValue, message: error.message,
                retryAfterSeconds: error.retryAfterSeconds)
        case let error as ControlClientError:
            switch error {
            case .notRunning:
                self.init(status: .notRunning, code: "not_running", message: error.description)
            case .noAnswer:
                self.init(status: .refused, code: "no_answer", message: error.description)
            case .notUnderstood:
                self.init(status: .refused, code: "not_understood", message: error.description)
            }
        case let error as CommandLineError:
            self.init(status: error.status, code: error.code, message: error.sentence)
        case let error as TransferError:
            self.init(
                status: error.kind == .badInput ? .usage : .refused, code: error.code, message: error.sentence)
        case let error as HubError:
            self.init(
                status: .refused, code: error.code.rawValue, message: error.message,
                retryAfterSeconds: error.retryAfterSeconds)
        case let error as HubUnreachable:
            self.init(status: .refused, code: "hub", message: error.sentence)
        case let error as SupervisorError:
            self.init(status: .refused, code: Self.snakeCase(error.code.rawValue), message: error.description)
        default:
            self.init(status: .refused, code: "failed", message: "\(error)")
        }
    }

    /// "alreadyRunning" as "already_running".
    private static func snakeCase(_ word: String) -> String {
        word.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    private static func status(of code: ControlError.Code) -> ExitStatus {
        switch code {
        case .badRequest: .usage
        case .noSuchApp, .ambiguousApp, .noSuchCategory, .noSuchItem, .ambiguousItem: .noSuchApp
        case .notSetUp, .alreadySetUp, .wrongPasscode, .lockedOut, .sessionNeeded, .notYours, .essential,
            .noSuchPrompt, .passcodeTooShort, .tooLarge, .busy, .hub, .failed, .vaultLocked, .notReadable:
            .refused
        }
    }
}

/// The object that `--json` prints for a failed command: `{"error": {"code": ..., "message": ...}}`.
struct FailureDocument: Encodable {
    struct Details: Encodable {
        var code: String
        var message: String
        var retryAfterSeconds: Int?
    }

    var error: Details

    init(_ failure: Failure) {
        error = Details(
            code: failure.code, message: failure.message, retryAfterSeconds: failure.retryAfterSeconds)
    }
}
