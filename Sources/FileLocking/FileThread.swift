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

/// Writes a file to the disk on a thread of its own while its author does something else.
final class SyncInBackground: Sendable {
    private let outcome = Mutex<Result<Void, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ file: OpenFile) {
        Thread.detachNewThread { [self] in
            let result = Result { try file.sync() }
            outcome.withLock { $0 = result }
            done.signal()
        }
    }

    /// Waits for the disk. To be called once.
    /// - Throws: what the disk reported.
    func wait() throws {
        done.wait()
        try outcome.withLock { $0 }?.get()
    }
}
