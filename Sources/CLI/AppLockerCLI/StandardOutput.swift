import Foundation

enum StandardOutput {
    /// Blocks.
    /// - Throws: `CommandLineError` if the reader has closed the pipe.
    static func write(_ bytes: Data) throws {
        guard Output.writeAll(bytes, to: STDOUT_FILENO) else {
            throw CommandLineError(
                .refused, code: "failed",
                "Standard output can't be written (\(String(cString: strerror(errno)))); not all was written.")
        }
    }
}
