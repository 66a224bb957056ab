/// Wakes one waiting task. If none waits, the next one to wait continues at once.
final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func raise() { continuation.yield() }
    func finish() { continuation.finish() }
    /// For one reader.
    var raised: AsyncStream<Void> { stream }
}
