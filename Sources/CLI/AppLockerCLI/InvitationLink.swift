import BlockingThread
import Foundation

/// The link of an invitation. It is a secret, and other users of this computer can read the arguments of programs.
enum InvitationLink {
    /// - Parameters:
    ///   - argument: the link on the command line; nil to read a line of standard input.
    ///   - question: asks for the link on a terminal.
    ///   - missing: the sentence of the error if there is no link.
    /// - Throws: `CommandLineError` if there is no link.
    static func read(_ argument: String?, question: String, missing: String) async throws -> String {
        if let argument { return argument }
        if isatty(STDIN_FILENO) == 1 { Output.errors.line(question) }
        let line = await runBlocking { readLine(strippingNewline: true) }
        guard let line, !line.isEmpty else { throw CommandLineError(.usage, code: "usage", missing) }
        return line
    }
}
