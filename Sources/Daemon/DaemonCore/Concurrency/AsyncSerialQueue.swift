/// Lets an actor finish one piece of work, including its suspensions, before the next begins. An actor alone
/// interleaves work at each suspension.
///
/// Not Sendable: it belongs to one actor and is only touched on it.
final class AsyncSerialQueue {
    /// The queue has reached its maximum length.
    struct Full: Error {}

    private let maximumQueued: Int
    private var isBusy = false
    private var queue: [CheckedContinuation<Void, Never>] = []

    init(maximumQueued: Int = .max) { self.maximumQueued = maximumQueued }

    /// Runs `work` after all work that was queued earlier.
    /// - Throws: `Full`, or what `work` throws.
    func perform<Value>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value
    ) async throws -> Value {
        if isBusy {
            guard queue.count < maximumQueued else { throw Full() }
            await withCheckedContinuation { queue.append($0) }
        } else {
            isBusy = true
        }
        defer { if queue.isEmpty { isBusy = false } else { queue.removeFirst().resume() } }
        return try await work()
    }
}
