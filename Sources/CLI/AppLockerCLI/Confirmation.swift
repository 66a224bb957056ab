import BlockingThread
import Foundation

/// Asks before an irreversible action.
enum Confirmation {
    /// Returns if the answer is yes, or none is needed.
    ///
    /// - Parameter isConfirmed: `--yes`.
    /// - Throws: `CommandLineError` if the answer is no, or there is no terminal.
    static func require(_ question: String, isConfirmed: Bool) async throws {
        guard !isConfirmed else { return }
        let key: UInt8?
        do {
            key = try await runBlocking {
                try Terminal.withControlling { try $0.readKey(question: "\(question.terminalSafe) [y/N] ") }
            }
        } catch {
            throw CommandLineError(
                .usage, code: "confirmation_needed", "\(question.terminalSafe) Use --yes without a terminal.")
        }
        guard key == UInt8(ascii: "y") || key == UInt8(ascii: "Y") else {
            throw CommandLineError(.refused, code: "not_confirmed", "Nothing was changed.")
        }
    }
}
