import CLinux
import Glibc
import Testing

@testable import LaunchGate

@Suite struct EventQueueTests {
    private let source = SimulatedEvents()

    private func event() throws -> PermissionEvent {
        PermissionEvent(
            source: source, file: open("/dev/null", O_RDONLY), handle: try #require(ProcessHandle(opening: getpid())),
            isExecution: true)
    }

    @Test func usersAreServedInTurn() throws {
        var queue = EventQueue()
        let events = try (0..<6).map { _ in try event() }
        let users: [UInt32] = [1, 1, 1, 1, 2, 3]
        let accepted = zip(events, users).map { queue.append($0, of: $1) }
        #expect(accepted == [true, true, true, true, true, true])
        let order = (0..<6).compactMap { _ in queue.popFirst() }.compactMap { event in
            events.firstIndex { $0 === event }
        }
        #expect(order == [0, 4, 5, 1, 2, 3])
        #expect(queue.isEmpty)
    }

    @Test func oneUserCanFillOnlyAPartOfTheQueue() throws {
        var queue = EventQueue()
        let event = try event()
        let users = [UInt32](repeating: 1, count: EventQueue.maximumPerUser + 1) + [2]
        let accepted = users.map { queue.append(event, of: $0) }
        #expect(accepted == users.indices.map { $0 != EventQueue.maximumPerUser })
        #expect(!queue.isFull)
        _ = queue.popFirst()
        let isTaken = queue.append(event, of: 1)
        #expect(isTaken)
    }
}
