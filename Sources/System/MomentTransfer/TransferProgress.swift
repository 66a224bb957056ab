import Synchronization

/// How far a long transfer is.
public struct TransferProgress: Sendable {
    public enum Phase: Sendable {
        /// Files are read, to find the photos among them.
        case scanning
        case importing
        /// Sealed copies are read back and compared with their files.
        case comparing
        case exporting
    }

    /// Called on any thread.
    public typealias Handler = @Sendable (TransferProgress) -> Void

    public let phase: Phase
    /// Of `total`: bytes when importing and comparing, otherwise files.
    public let done: UInt64
    /// At least 1.
    public let total: UInt64
}

/// Counts what is done in one phase.
final class PhaseProgress: Sendable {
    private let phase: TransferProgress.Phase
    private let total: UInt64
    private let handler: TransferProgress.Handler
    private let done = Mutex<UInt64>(0)

    init(_ phase: TransferProgress.Phase, total: UInt64, _ handler: @escaping TransferProgress.Handler) {
        self.phase = phase
        self.total = max(1, total)
        self.handler = handler
        handler(TransferProgress(phase: phase, done: 0, total: self.total))
    }

    /// One more was finished, successfully or not.
    func finish(_ size: UInt64) {
        done.withLock { done in
            done = min(total, done + size)
            handler(TransferProgress(phase: phase, done: done, total: total))
        }
    }
}
