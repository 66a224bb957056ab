import Foundation
import LocalControl
import TestSupport
import Testing
import WireProtocol

/// The stream of a desktop agent: how it tells inactivity counts for as long as it is there.
struct SessionStreamTests {
    @Test func anAgentIsToldAndIsMissedAtOnce() async throws {
        try await withServer { path, service in
            var connection: RawConnection? = try RawConnection(path)
            connection?.send("GET /v1/session HTTP/1.1\r\nHost: a\r\n\r\n")
            let text = try await blocking { [connection] in connection?.read(until: "ready") }
            #expect(text?.contains("data: {\"ready\":{}}") == true)
            #expect(await service.agents.count == 1)
            #expect(await service.joined.isEmpty, "an agent is no prompter")
            connection = nil
            let left = ContinuousClock.now
            await eventually { await service.agents.isEmpty }
            #expect(left.duration(to: .now) < .seconds(5), "long before the next heartbeat")
        }
    }
}
