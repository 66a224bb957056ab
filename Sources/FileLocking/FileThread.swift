import Foundation
import Synchronization

/// Runs work that blocks on a thread of its own, never on Swift's shared ones, and tells it when its task is cancelled.
enum FileThread {
    static func run<Result: Sendable>(
        _ work: @escaping @Sendable (Cancellation) throws -> Result
    ) async throws -> Result {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Swift.Result { try work(cancellation) })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

/// Whether the task that waits for blocking work was cancelled.
final class Cancellation: Sendable {
    private let isCancelled = Atomic(false)

    fileprivate func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` where it was.
    func check() throws {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}

/// Work on a thread of its own, beside that of its author.
final class BackgroundWork<Outcome: Sendable>: Sendable {
    private let outcome = Mutex<Result<Outcome, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable () throws -> Outcome) {
        Thread.detachNewThread { [self] in
            let result = Result { try work() }
            outcome.withLock { $0 = result }
            done.signal()
        }
    }

    /// Blocks until it is done. To be called once.
    func wait() -> Result<Outcome, any Error> {
        done.wait()
        return outcome.withLock { $0 } ?? .failure(CancellationError())
    }
}

/// How much content several threads have gone through together.
final class ContentDone: Sendable {
    private let size = Atomic<UInt64>(0)

    /// - Returns: all so far, in bytes.
    func add(_ count: Int) -> UInt64 { size.add(UInt64(count), ordering: .relaxed).newValue }
}
