import HubAPI
import Synchronization

/// Passes every change to every reader. A reader that is too slow loses the oldest ones, and then gets `.unknown`.
package final class HubChangeFeed: Sendable {
    private struct State {
        var readers: [Int: AsyncStream<HubChange>.Continuation] = [:]
        var nextReader = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let capacity: Int

    package init(capacity: Int = 4_096) { self.capacity = capacity }

    package func stream() -> AsyncStream<HubChange> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: HubChange.self, bufferingPolicy: .bufferingNewest(capacity))
        let reader: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = continuation
            return state.nextReader
        }
        guard let reader else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: reader) }
        }
        return stream
    }

    /// Publishes changes in this order, but only the last of each household's record numbers. Calls must not overlap.
    package func publish(_ all: [HubChange]) {
        guard !all.isEmpty else { return }
        let changes = Self.withoutOvertaken(all)
        let readers = state.withLock { Array($0.readers.values) }
        for reader in readers {
            for change in changes {
                // Later elements of the buffer are read after `.unknown`, also if more is lost meanwhile.
                if case .dropped = reader.yield(change) { reader.yield(.unknown) }
            }
        }
    }

    /// A transaction of many writes reports each number; the last one is enough for a reader.
    private static func withoutOvertaken(_ changes: [HubChange]) -> [HubChange] {
        guard changes.count > 1 else { return changes }
        var seen: Set<HubID> = []
        return changes.reversed().filter { change in
            guard case .records(let household, _) = change else { return true }
            return seen.insert(household).inserted
        }.reversed()
    }

    package func close() {
        let readers = state.withLock { state in
            state.isClosed = true
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }
}
