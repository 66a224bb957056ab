import Dispatch
import Foundation

/// Turns Ctrl-C and SIGTERM into a cancellation, so that unfinished work is undone before the process ends.
enum Interruption {
    /// - Parameter sentence: the message of the error.
    /// - Throws: `CommandLineError` after an interruption; what the work throws.
    static func cancels<Result: Sendable>(
        saying sentence: String =
            "Interrupted. Finished files stay locked or unlocked; the current file is unchanged.",
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await work() }
        let sources = [SIGINT, SIGTERM].map { number in
            // The dispatch source receives the signal instead.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { task.cancel() }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        }
        do {
            return try await task.value
        } catch is CancellationError {
            throw CommandLineError(.refused, code: "interrupted", sentence)
        }
    }
}
