import BlockingThread
import Foundation
import Glibc
import Localization

/// Sets the first passcode of an AppLocker that a system service runs: only an administrator may, by polkit's own dialog.
/// Afterwards polkit permits no change: each change needs the passcode.
struct AdministratorSetUp: Sendable {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// Absolute paths.
    let pkexec: String
    let commandLine: String
    let socket: String

    /// - Returns: nil where polkit's program or the command line is not installed.
    init?(pkexec: String = "/usr/bin/pkexec", directory: String, socket: String) {
        (self.pkexec, commandLine, self.socket) = (pkexec, directory + "/applocker", socket)
        guard [pkexec, commandLine].allSatisfy(FileManager.default.isExecutableFile) else { return nil }
    }

    /// - Parameter passcode: it reaches the command line through a pipe.
    /// - Throws: `CancellationError` if the dialog was cancelled; `Refused`.
    func set(_ passcode: String) async throws {
        let (status, problem) = try await runBlocking { [self] in try run(passcode) }
        switch status {
        case 0: return
        // pkexec(1): dismissed.
        case 126: throw CancellationError()
        default:
            throw Refused(
                description: problem.isEmpty ? localized("The administrator's password was not accepted.") : problem)
        }
    }

    private func run(_ passcode: String) throws -> (status: Int32, problem: String) {
        let process = Process()
        let (input, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: pkexec)
        process.arguments = [commandLine, "setup", "--socket", socket, "--passcode-fd", "0"]
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        // pkexec may end without reading the passcode.
        signal(SIGPIPE, SIG_IGN)
        try process.run()
        try? input.fileHandleForWriting.write(contentsOf: Data((passcode + "\n").utf8))
        try? input.fileHandleForWriting.close()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
