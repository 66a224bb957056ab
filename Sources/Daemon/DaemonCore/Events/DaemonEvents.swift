import ControlAPI
import Policy
import Synchronization

/// An event in one feature that makes other features act. The events shown to people are in the activity log.
enum DaemonEvent: Sendable {
    /// A launch waits for an answer.
    case promptOpened(PromptReport)
    case promptSettled(prompt: String, outcome: PromptOutcome)
    /// - Parameter failures: how many in a row.
    case wrongPasscode(failures: Int, app: AppID?, user: UInt32)
    /// An app is closed soon, because its grant ends.
    case closingSoon(Closing, name: String, left: Duration)
    /// What was sent as `closingSoon` no longer applies.
    case closingWithdrawn(Closing)
    /// This computer is in another household, or in none.
    case householdChanged
    /// Records for the hub were written to the outbox.
    case recordsQueued
    /// Everything that the hub has was read, and its stream is open.
    case hubConnected
    /// Records of vaults were received from the hub.
    case vaultRecordsReceived
}

/// Passes each event to every subscriber, in order. A feature subscribes when it is created, so it misses nothing.
///
/// Sendable because its state is one `Mutex`.
final class DaemonEvents: Sendable {
    private let subscribers = Mutex<[AsyncStream<DaemonEvent>.Continuation]>([])

    /// For one reader.
    func subscribe() -> AsyncStream<DaemonEvent> {
        let (stream, continuation) = AsyncStream<DaemonEvent>.makeStream()
        subscribers.withLock { $0.append(continuation) }
        return stream
    }

    func send(_ event: DaemonEvent) {
        subscribers.withLock { subscribers in for subscriber in subscribers { subscriber.yield(event) } }
    }
}
