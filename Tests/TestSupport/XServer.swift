import Foundation
import Testing

/// An X server of one test's own (Xvfb), which ends with the value.
public final class XServer: Sendable {
    public let process: ChildProcess
    /// What DISPLAY says: ":" and the first number that was free.
    public let display: String

    /// - Parameter screen: width, height and depth, "1280x800x24".
    public init(screen: String = "640x480x24") async throws {
        // Without -noreset the server throws everybody out when the only client there is leaves, those that are just
        // coming included.
        let process = try ChildProcess(
            "Xvfb", ["-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-ac", "-noreset"])
        self.process = process
        await eventually("Xvfb names its display or ends") { process.output.hasSuffix("\n") || !process.isRunning }
        let number = process.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try #require(!number.isEmpty, "Xvfb did not start: \(process.stateForPeople)")
        display = ":" + number
    }
}
