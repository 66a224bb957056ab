import Foundation
import Synchronization

/// Work on a thread of its own, parallel to the caller's.
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

    /// Blocks until the work is done. Must be called once.
    func wait() -> Result<Outcome, any Error> {
        done.wait()
        return outcome.withLock { $0 } ?? .failure(CancellationError())
    }
}

/// Counts the content that several threads have processed together.
final class ContentDone: Sendable {
    private let size = Atomic<UInt64>(0)

    /// - Returns: the total so far, in bytes.
    func add(_ count: Int) -> UInt64 { size.add(UInt64(count), ordering: .relaxed).newValue }
}
