import Foundation
import Synchronization

/// Runs work that blocks (a terminal, a pipe, a key derivation, a child process) on a new thread: Swift's shared threads
/// are as many as the cores, and blocking one stops whatever else runs there.
///
/// - Throws: what `work` throws.
public func runBlocking<Success: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Success
) async throws(Failure) -> Success {
    let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(returning: Result { () throws(Failure) in try work() })
        }
    }
    return try result.get()
}

/// The same for work that ends early when the task that waits for it is cancelled.
///
/// - Throws: what `work` throws.
public func runBlocking<Success: Sendable>(
    _ work: @escaping @Sendable (Cancellation) throws -> Success
) async throws -> Success {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
        try await runBlocking { try work(cancellation) }
    } onCancel: {
        cancellation.cancel()
    }
}

/// Whether the task that waits for blocking work was cancelled.
public final class Cancellation: Sendable {
    private let isCancelled = Atomic(false)

    fileprivate func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` where it was.
    public func check() throws {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}
