import ControlAPI
import Policy
import TestSupport
import Testing

@testable import DaemonCore

/// Events that any user can cause in any number do not fill the log.
@Suite struct LogFloodTests {
    @Test func aFloodOfDenialsIsLoggedAsOneLineWithItsCount() async throws {
        let world = try await World()
        for number in 1...788 { world.gate.report(.ended(number: UInt64(10_000 + number), .tooManyWaiting)) }
        world.gate.launch(world.launch(1))
        await eventually("all launches were read") { try await world.events(.launchDenied).contains { $0.app != nil } }
        await eventually { world.time.waits.contains(RepeatedEvents.window) }
        world.time.advance(by: RepeatedEvents.window)
        await eventually("the other events are counted") {
            try await refusals(world).contains { $0.sentence.contains("787 more times") }
        }
        #expect(try await refusals(world).count == 2)
    }

    private func refusals(_ world: World) async throws -> [EventReport] {
        try await world.events(.launchDenied).filter { $0.reason == Reason.tooManyWaiting.rawValue }
    }

    @Test func readingALockedFileInALoopDoesNotFillTheDisk() async throws {
        let world = try await World()
        for process in 1...5_000 {
            world.gate.report(
                .readDenied(app: firefox, process: Int32(process), user: bob.user, path: "/usr/bin/firefox"))
        }
        // One attempt of another user is among them.
        world.gate.report(.readDenied(app: firefox, process: 7, user: alice.user, path: "/usr/bin/firefox"))
        await eventually { try await world.events(.readDenied).contains { $0.user == alice.user } }
        #expect(try await world.events(.readDenied).count { $0.user == bob.user } == RepeatedEvents.burst)
        await eventually { world.time.waits.contains(RepeatedEvents.window) }
        world.time.advance(by: RepeatedEvents.window)
        await eventually {
            try await world.events(.readDenied).contains {
                $0.user == bob.user
                    && $0.sentence.contains("\(5_000 - RepeatedEvents.burst) more times")
            }
        }
    }
}
