import Foundation
import Supervisor

/// Turns Ctrl-C and SIGTERM into a cancellation, so that unfinished work is undone before the process ends.
enum Interruption {
    /// - Parameter sentence: the message of the error.
    /// - Throws: `CommandLineError` after an interruption; what the work throws.
    static func cancels<Result: Sendable>(
        saying sentence: String =
            "Interrupted. Finished files stay locked or unlocked; the current file is unchanged.",
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let (signals, arrived) = AsyncStream<Void>.makeStream()
        let numbers = [SIGINT, SIGTERM]
        let received = await TerminationSignals(ends: numbers, ignores: []) { arrived.yield() }
        let task = Task { try await work() }
        let watch = Task { for await _ in signals { task.cancel() } }
        defer {
            watch.cancel()
            received.cancel()
            for number in numbers { signal(number, SIG_DFL) }
        }
        do {
            return try await task.value
        } catch is CancellationError {
            throw CommandLineError(.refused, code: "interrupted", sentence)
        }
    }
}
