import DaemonCore
import Synchronization

/// Signals of the system that a test sends. Sendable because its state is one `Mutex`.
final class TestSignals: SessionSignalsPort {
    let signals: AsyncStream<SessionSignal>
    private let continuation: AsyncStream<SessionSignal>.Continuation
    private let acknowledged = Mutex<[UInt64]>([])
    private let onAcknowledge = Mutex<(@Sendable () -> Void)?>(nil)

    init() { (signals, continuation) = AsyncStream.makeStream() }

    func send(_ signal: SessionSignal) { continuation.yield(signal) }

    func acknowledge(_ number: UInt64) {
        onAcknowledge.withLock { $0 }?()
        acknowledged.withLock { $0.append(number) }
    }

    /// Called on the actor that acknowledges, just before the acknowledgement is stored.
    func beforeAcknowledgement(_ body: @escaping @Sendable () -> Void) { onAcknowledge.withLock { $0 = body } }

    var numbers: [UInt64] { acknowledged.withLock { $0 } }
}
