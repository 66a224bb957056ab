import BlockingThread
import Foundation
import Glibc
import Localization

/// What only an administrator may do to an AppLocker that a system service runs, by polkit's own dialog: set the first
/// passcode, and start the service. polkit permits no other change: each needs the passcode.
struct Administrator: Sendable {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    private static let service = "applockerd.service"

    /// Absolute paths.
    let pkexec: String
    let commandLine: String
    let systemctl: String
    let units: String
    let socket: String

    /// - Returns: nil where polkit's program or the command line is not installed.
    init?(
        pkexec: String = "/usr/bin/pkexec", systemctl: String = "/usr/bin/systemctl",
        units: String = "/usr/lib/systemd/system", directory: String, socket: String
    ) {
        (self.pkexec, self.systemctl, self.units, self.socket) = (pkexec, systemctl, units, socket)
        commandLine = directory + "/applocker"
        guard [pkexec, commandLine].allSatisfy(FileManager.default.isExecutableFile) else { return nil }
    }

    /// - Parameter passcode: it reaches the command line through a pipe.
    /// - Throws: `CancellationError` if the dialog was cancelled; `Refused`.
    func set(_ passcode: String) async throws {
        try await perform([commandLine, "setup", "--socket", socket, "--passcode-fd", "0"], input: passcode + "\n")
    }

    var canStartService: Bool {
        FileManager.default.isExecutableFile(atPath: systemctl)
            && FileManager.default.fileExists(atPath: "\(units)/\(Self.service)")
    }

    /// Returns once the service answers. It starts the gate too.
    /// - Throws: as `set`.
    func startService() async throws { try await perform([systemctl, "start", Self.service], input: "") }

    private func perform(_ command: [String], input: String) async throws {
        let (status, problem) = try await runBlocking { [self] in try run(command, input: input) }
        switch status {
        case 0: return
        // pkexec(1): dismissed.
        case 126: throw CancellationError()
        default:
            throw Refused(
                description: problem.isEmpty ? localized("The administrator's password was not accepted.") : problem)
        }
    }

    private func run(_ command: [String], input text: String) throws -> (status: Int32, problem: String) {
        let process = Process()
        let (input, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: pkexec)
        process.arguments = command
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        // pkexec may end without reading its input.
        signal(SIGPIPE, SIG_IGN)
        try process.run()
        try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try? input.fileHandleForWriting.close()
        let problem = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, problem.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
