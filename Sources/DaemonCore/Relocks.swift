import Synchronization
import WireProtocol

/// Counts how often everything of a user was locked: a passcode that was typed before that opens nothing after it.
///
/// Sendable because its state is one `Mutex`.
final class Relocks: Sendable {
    /// What was so when a passcode was typed.
    struct Ticket: Sendable {
        fileprivate let user: UInt32
        fileprivate let count: UInt64
    }

    private struct Counts {
        var everybody: UInt64 = 0
        var users: [UInt32: UInt64] = [:]

        func count(_ user: UInt32) -> UInt64 { everybody + users[user, default: 0] }
    }

    private let counts = Mutex(Counts())

    func ticket(for user: UInt32) -> Ticket {
        counts.withLock { Ticket(user: user, count: $0.count(user)) }
    }

    /// - Parameter user: nil for everybody.
    func advance(_ user: UInt32?) {
        counts.withLock { counts in
            if let user { counts.users[user, default: 0] += 1 } else { counts.everybody += 1 }
        }
    }

    /// - Throws: `ControlError` with `busy` where everything of that user was locked since.
    func check(_ ticket: Ticket) throws(ControlError) {
        guard counts.withLock({ $0.count(ticket.user) }) == ticket.count else {
            throw ControlError(.busy, "Everything was locked while the passcode was compared. Try again.")
        }
    }
}

/// Says that something which desktop agents and other devices show may have changed. Many changes in a row are one.
///
/// Sendable because its state is one `Mutex`.
final class StateChanges: Sendable {
    private let readers = Mutex<[AsyncStream<Void>.Continuation]>([])

    /// For one reader, who is told once at the beginning.
    func follow() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        readers.withLock { $0.append(continuation) }
        return stream
    }

    func mark() { readers.withLock { readers in for reader in readers { reader.yield() } } }
}
