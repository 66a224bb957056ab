import BlockingThread
import Foundation
import GtkSupport
import Localization

/// Opens the companion in a browser of this computer by `applocker panel`, which pairs the browser the first time and
/// keeps the link out of every argument.
struct CompanionPanel: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// An absolute path.
    let commandLine: String
    /// AppLocker may be started after the window.
    let socket: @Sendable () -> String
    /// Starts the command line under the session's limit of core files.
    let starting: @Sendable (() throws -> Void) throws -> Void

    /// Returns once the browser is paired, or is being opened.
    ///
    /// - Parameter passcode: it reaches the command line through a pipe.
    /// - Throws: `Failed`, or what Foundation throws where the command line can't be started.
    func open(_ passcode: String) async throws {
        let arguments = ["panel", "--socket", socket(), "--passcode-fd", "0"]
        // The browser gets what the session has, and not what only this window shall have.
        let environment = ProcessInfo.processInfo.environment.filter { ProcessHygiene.ownVariables[$0.key] == nil }
        let (status, problem) = try await runBlocking { [self] in
            try ProgramRun.run(
                commandLine, arguments, input: passcode + "\n", environment: environment, starting: starting)
        }
        guard status != 0 else { return }
        let sentence = problem.split(separator: "\n").first.map { String($0.trimmingPrefix("applocker: ")) }
        throw Failed(
            description: sentence.map { localized(written: $0) }
                ?? localized("The companion was not opened: the command line ended with status \(status)."))
    }
}
