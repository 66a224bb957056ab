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
        let (signals, arrived) = AsyncStream<Void>.makeStream()
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { arrived.yield() }
            sources.append(source)
            // Registered before the work begins: until then a signal ends this process, which has nothing to undo.
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
        }
        let task = Task { try await work() }
        let watch = Task { for await _ in signals { task.cancel() } }
        defer {
            watch.cancel()
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
