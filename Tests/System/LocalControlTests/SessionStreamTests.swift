import ControlAPI
import Foundation
import LocalControl
import TestSupport
import Testing

/// The stream of a desktop agent: how it tells inactivity counts for as long as it is there.
struct SessionStreamTests {
    @Test func anAgentIsToldAndIsMissedAtOnce() async throws {
        var limits = ControlServer.Limits()
        // It is neither by a failed heartbeat nor by silence that its going is noticed.
        (limits.heartbeat, limits.idleTimeout) = (.seconds(3_600), .seconds(3_600))
        try await withServer(limits) { path, service in
            var connection: RawConnection? = try RawConnection(path)
            connection?.send("GET /v1/session HTTP/1.1\r\nHost: a\r\n\r\n")
            let text = try await blocking { [connection] in connection?.read(until: "ready") }
            #expect(text?.contains("data: {\"ready\":{}}") == true)
            #expect(await service.agents.count == 1)
            #expect(await service.joined.isEmpty, "an agent is no prompter")
            connection = nil
            await eventually("it is missed") { await service.agents.isEmpty }
        }
    }
}
