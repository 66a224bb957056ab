public import Foundation
import TestSupport
import Testing

extension ChildProcess {
    /// Starts the window manager openbox and waits until it runs: it drops requests to show a window that arrive before
    /// that, even after it has announced itself by `_NET_SUPPORTING_WM_CHECK`, and the window is never shown.
    public static func openbox(
        environment: [String: String], workingDirectory: String? = nil, user: uid_t? = nil
    ) async throws -> ChildProcess {
        let openbox = try ChildProcess(
            "openbox", ["--sm-disable", "--startup", "echo started"], environment: environment,
            workingDirectory: workingDirectory, user: user)
        let isRunning = await eventually("openbox runs") { openbox.output.contains("started\n") || !openbox.isRunning }
        try #require(isRunning && openbox.isRunning, "\(openbox.stateDescription) \(openbox.errorOutput)")
        return openbox
    }
}
