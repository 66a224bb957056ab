import Foundation
import Glibc
import HubAPI
import HubStore
import Synchronization

/// A hub's message to the others: the payload of a NOTIFY.
enum PostgresNotice {
    static let channel = "applocker_hub"

    /// - Returns: nil for changes that need no message.
    static func payload(_ change: HubChange) -> String? {
        switch change {
        case .records(let household, let through): "records \(household) \(through)"
        case .roster(let household, let number): "roster \(household) \(number)"
        case .join(let household, let invitation): "join \(household) \(invitation)"
        case .revoked(let household, let device): "revoked \(household) \(device)"
        case .unknown: nil
        }
    }

    /// Payloads of a later version, or of another program, are unknown.
    static func change(_ payload: String) -> HubChange {
        let words = payload.split(separator: " ").map(String.init)
        guard words.count == 3, let household = HubID(words[1]) else { return .unknown }
        switch words[0] {
        case "records": return UInt64(words[2]).map { .records(household: household, through: $0) } ?? .unknown
        case "roster": return UInt64(words[2]).map { .roster(household: household, number: $0) } ?? .unknown
        case "join": return HubID(words[2]).map { .join(household: household, invitation: $0) } ?? .unknown
        case "revoked": return HubID(words[2]).map { .revoked(household: household, device: $0) } ?? .unknown
        default: return .unknown
        }
    }

    /// Sends to every hub, including this one, when the transaction is committed, in the order of commits.
    static func send(_ changes: [HubChange], _ connection: PostgresConnection) throws {
        for change in changes {
            guard let payload = payload(change) else { continue }
            try connection.query("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
        }
    }
}

/// Receives the messages of the hubs of this database, on a connection and a thread of its own.
final class PostgresListener: Sendable {
    private let connection: PostgresConnection
    private let feed: HubChangeFeed
    private let absence: PostgresAbsence
    /// `stop` writes to it, so that the thread stops waiting.
    private let wake = Mutex<(read: Int32, write: Int32)>((-1, -1))
    private let isStopping = Mutex(false)
    private let ended = Mutex<(isOver: Bool, waiting: CheckedContinuation<Void, Never>?)>((true, nil))

    init(_ settings: PostgresConnectionSettings, feed: HubChangeFeed, absence: PostgresAbsence) {
        self.absence = absence
        connection = PostgresConnection(settings, label: "postgres listener")
        self.feed = feed
    }

    /// Returns once it listens.
    /// - Throws: `PostgresHubStoreError`.
    func start() async throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgresHubStoreError(.unreachable, cause: String(cString: strerror(errno)))
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (reading, writing) = (ends[0], ends[1])
        wake.withLock { $0 = (reading, writing) }
        try await connection.perform { try Self.listen($0) }
        ended.withLock { $0.isOver = false }
        let thread = Thread { [self] in
            run(wake: reading)
            let waiting = ended.withLock { state in
                state.isOver = true
                return state.waiting
            }
            waiting?.resume()
        }
        thread.name = "postgres listener"
        thread.start()
    }

    /// Returns before the thread has ended.
    func cancel() {
        isStopping.withLock { $0 = true }
        var byte: UInt8 = 1
        wake.withLock { ends in if ends.write >= 0 { _ = Glibc.write(ends.write, &byte, 1) } }
    }

    func stop() async {
        cancel()
        await withCheckedContinuation { continuation in
            let isOver = ended.withLock { state in
                if !state.isOver { state.waiting = continuation }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    deinit {
        wake.withLock { ends in
            for end in [ends.read, ends.write] where end >= 0 { close(end) }
        }
    }

    private static func listen(_ connection: PostgresConnection) throws {
        try connection.connect()
        do {
            try connection.command("LISTEN \(PostgresNotice.channel)")
        } catch let error as PostgresError {
            throw PostgresHubStoreError(.unreachable, cause: error.message)
        }
    }

    /// Runs on the thread.
    private func run(wake: Int32) {
        while !isStopping.withLock({ $0 }) {
            do {
                let payloads = try connection.notifications()
                feed.publish(payloads.map(PostgresNotice.change))
                wait(for: connection.socket, or: wake, milliseconds: -1)
            } catch {
                reconnect(wake: wake)
            }
        }
        connection.disconnect()
    }

    private func reconnect(wake: Int32) {
        connection.disconnect()
        // Messages are missed from now on until it listens again.
        while !isStopping.withLock({ $0 }) {
            do {
                try Self.listen(connection)
                absence.ended()
                feed.publish([.unknown])
                return
            } catch {
                let delay = absence.delayAfterFailure()
                wait(for: -1, or: wake, milliseconds: Int32(delay / .milliseconds(1)))
            }
        }
    }

    /// - Parameter milliseconds: the time limit; -1: none.
    private func wait(for socket: Int32, or wake: Int32, milliseconds: Int32) {
        var events = [
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0), pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&events, 2, milliseconds)
    }
}
