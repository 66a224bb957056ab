import Synchronization

/// Signals that state shown by desktop agents and other devices may have changed. Many changes in a row are one signal.
///
/// Sendable because its state is one `Mutex`.
final class StateChanges: Sendable {
    private let readers = Mutex<[AsyncStream<Void>.Continuation]>([])

    /// For one reader, which receives one signal at the beginning.
    func follow() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        readers.withLock { $0.append(continuation) }
        return stream
    }

    func mark() { readers.withLock { readers in for reader in readers { reader.yield() } } }
}
