import Dispatch
import Foundation

/// Ctrl-C and SIGTERM as a cancellation: what is half done is put back before the process ends.
enum Interruption {
    /// - Parameter sentence: what is said then.
    /// - Throws: `CommandLineError` where it was interrupted; what the work throws.
    static func cancels<Result: Sendable>(
        saying sentence: String =
            "Interrupted. Files that were finished stay so; the one being worked on is as it was.",
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await work() }
        let sources = [SIGINT, SIGTERM].map { number in
            // Told by the source instead of ending the process.
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
