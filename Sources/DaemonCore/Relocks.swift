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

/// Says that something which desktop agents show may have changed. Many changes in a row are one.
final class StateChanges: Sendable {
    let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func mark() { continuation.yield() }
}
