import ControlAPI
import Foundation
import LocalControl
import TestSupport
import Testing

/// The stream of a desktop agent: its reports of inactivity count while it is connected.
struct SessionStreamTests {
    @Test func anAgentReceivesEventsAndItsEndIsDetectedAtOnce() async throws {
        var limits = ControlServer.Limits()
        // Too long to reveal, by a failed heartbeat or by a timeout, that it has disconnected.
        (limits.heartbeat, limits.idleTimeout) = (.seconds(3_600), .seconds(3_600))
        try await withServer(limits) { path, service in
            var connection: RawConnection? = try RawConnection(path)
            connection?.send("GET /v1/session HTTP/1.1\r\nHost: a\r\n\r\n")
            let text = try await blocking { [connection] in connection?.read(until: "ready") }
            #expect(text?.contains("data: {\"ready\":{}}") == true)
            #expect(await service.agents.count == 1)
            #expect(await service.joined.isEmpty, "an agent is not a prompter")
            connection = nil
            await eventually("its end is detected") { await service.agents.isEmpty }
        }
    }
}
