import Foundation
import TestSupport
import Testing

/// A private X server (Xvfb), which ends when the value is released.
public final class XServer: Sendable {
    public let process: ChildProcess
    /// The value of DISPLAY: ":" and the first free number.
    public let display: String

    /// - Parameters:
    ///   - screen: width, height and depth, "1280x800x24".
    ///   - repeatsKeys: whether it repeats a key that is held, as X servers do: where a test presses one shortly, also a
    ///     key that a busy machine holds for longer.
    public init(screen: String = "640x480x24", repeatsKeys: Bool = false) async throws {
        // Without -noreset the server disconnects everybody when its only client leaves, including clients that are
        // just connecting.
        let process = try ChildProcess(
            "Xvfb",
            ["-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-ac", "-noreset"]
                + (repeatsKeys ? [] : ["-r"]))
        self.process = process
        await eventually("Xvfb names its display or ends") { process.output.hasSuffix("\n") || !process.isRunning }
        let number = process.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try #require(!number.isEmpty, "Xvfb did not start: \(process.stateDescription)")
        display = ":" + number
    }
}
