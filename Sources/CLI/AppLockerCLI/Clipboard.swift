import Foundation

/// Keeps a text on the desktop's clipboard for a while. `applocker-prompt` holds it, in a session of its own that
/// outlives this process. It gets the text in a memory file, so the text is on no disk, in no argument and not in the
/// environment.
enum Clipboard {
    /// Returns when the text can be pasted. Blocks: call it on a thread of its own.
    ///
    /// - Throws: `CommandLineError` if there is no desktop, or its clipboard can't be used.
    static func hold(_ text: Data, seconds: Int) throws(CommandLineError) {
        var answer: [Int32] = [-1, -1]
        guard pipe(&answer) == 0 else { throw failure(String(cString: strerror(errno))) }
        for end in answer { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(answer[0]) }
        do {
            defer { close(answer[1]) }
            _ = try WindowProcess.start(
                ["--hold-clipboard-fd", "3", "--seconds", String(seconds)], content: text, output: answer[1],
                outlivesThis: true)
        } catch {
            throw failure(error.sentence)
        }
        var first: UInt8 = 0
        // The pipe ends if the process failed; it has printed why.
        guard read(answer[0], &first, 1) == 1 else { throw failure("See above.") }
    }

    private static func failure(_ cause: String) -> CommandLineError {
        CommandLineError(.refused, code: "no_clipboard", "Nothing was copied: \(cause)")
    }
}
