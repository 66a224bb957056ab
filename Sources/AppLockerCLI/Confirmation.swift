import Foundation

/// A question before something can't be undone.
enum Confirmation {
    /// Returns where the answer is yes, or none is needed.
    ///
    /// - Parameter isGiven: `--yes`.
    /// - Throws: `CommandLineError` for a no, and where there is no terminal to ask on.
    static func require(_ question: String, isGiven: Bool) async throws {
        guard !isGiven else { return }
        let key: UInt8?
        do {
            key = try await OwnThread.run {
                try Terminal.withControlling { try $0.readKey(question: "\(question.terminalSafe) [y/N] ") }
            }
        } catch {
            throw CommandLineError(
                .usage, code: "confirmation_needed", "\(question.terminalSafe) Say --yes where nobody can be asked.")
        }
        guard key == UInt8(ascii: "y") || key == UInt8(ascii: "Y") else {
            throw CommandLineError(.refused, code: "not_confirmed", "Nothing was changed.")
        }
    }
}
