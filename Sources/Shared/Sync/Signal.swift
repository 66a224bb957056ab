/// Wakes one waiting task. If none waits, the next one to wait continues at once.
public final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    public init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    public func raise() { continuation.yield() }
    public func finish() { continuation.finish() }
    /// For one reader.
    public var raised: AsyncStream<Void> { stream }
}
