import BlockingThread
import ControlAPI
import Foundation

/// Asks the command line whether a phone can reach the hub: it has the means, which this program would not use otherwise.
struct PhoneWaysCheck: Sendable {
    /// An absolute path.
    let commandLine: String
    /// AppLocker may be started after the window.
    let socket: @Sendable () -> String

    /// - Parameter directory: of AppLocker's programs.
    init(directory: String, socket: @escaping @Sendable () -> String) {
        (commandLine, self.socket) = (directory + "/applocker", socket)
    }

    /// - Returns: nil if the command line is not installed, or can't check it.
    func ways(to address: String?) async -> PhoneWaysReport? {
        let output = try? await runBlocking { [self] in try run(address) }
        return output.flatMap { try? JSONDecoder().decode(PhoneWaysReport.self, from: $0) }
    }

    private func run(_ address: String?) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: commandLine)
        process.arguments =
            ["pair", "--ways", "--json", "--socket", socket()] + (address.map { ["--address=\($0)"] } ?? [])
        // Without a terminal it asks for no passcode.
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return data
    }
}
