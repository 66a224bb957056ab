import Foundation
import Glibc

/// Runs a program to its end.
enum ProgramRun {
    /// Blocks until it ends.
    ///
    /// - Parameters:
    ///   - program: an absolute path.
    ///   - input: what it reads; a secret goes this way.
    ///   - environment: nil for this process's own.
    ///   - starting: called with what starts it.
    /// - Returns: its exit status, and what it wrote about problems.
    static func run(
        _ program: String, _ arguments: [String], input text: String, environment: [String: String]? = nil,
        starting: (() throws -> Void) throws -> Void = { try $0() }
    ) throws -> (status: Int32, problem: String) {
        let process = Process()
        let input = Pipe()
        // A file, not a pipe: the program can still write when this window was closed.
        guard let file = tmpfile() else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { fclose(file) }
        let errors = FileHandle(fileDescriptor: fileno(file), closeOnDealloc: false)
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        // It may end without reading its input.
        signal(SIGPIPE, SIG_IGN)
        try starting { try process.run() }
        try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        try errors.seek(toOffset: 0)
        let problem = String(decoding: try errors.readToEnd() ?? Data(), as: UTF8.self)
        return (process.terminationStatus, problem.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
