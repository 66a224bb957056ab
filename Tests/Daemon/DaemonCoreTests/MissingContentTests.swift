import Household
import HubAPI
import SealedFormats
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// Content that another device added and that is not on this computer.
@Suite struct MissingContentTests {
    /// Counts the requests for content. Sendable because its state is in `Mutex`es.
    private final class Asking: Sendable {
        let connected: ConnectedWorld
        let content = ItemID.random()
        let asked = Mutex(0)
        /// Whether other requests have no answer either.
        let isCut = Mutex(false)

        init(connected: ConnectedWorld) {
            self.connected = connected
            connected.hub.state.withLock { $0.blobs[HubID(content)] = (1, [0]) }
        }

        /// Tries to fetch the content. Returns whether the hub was asked for it.
        func asks() async throws -> Bool {
            let before = asked.withLock { $0 }
            await #expect(throws: HubUnreachable.self) { try await connected.sync.engine.fetch(content) }
            return asked.withLock { $0 } > before
        }
    }

    /// An export asks for all that is missing here; each attempt may wait for its time limit.
    @Test func isNotAskedForAgainSoonWithoutAConnection() async throws {
        let asking = Asking(connected: try await ConnectedWorld())
        let (connected, engine) = (asking.connected, asking.connected.sync.engine)
        connected.interceptor.intercept { request, answer in
            if request.route == .blobState {
                asking.asked.withLock { $0 += 1 }
            } else if !asking.isCut.withLock({ $0 }) {
                return answer
            }
            throw HubUnreachable(.timeout, "The hub did not answer.")
        }
        // While there is a connection, a failure concerns one request alone.
        for _ in 0..<2 { #expect(try await asking.asks()) }
        asking.isCut.withLock { $0 = true }
        for stream in connected.hub.silence() { stream.finish() }
        await eventually("the connection has ended") { await !engine.isConnected }
        for _ in 0..<2 { #expect(try await !asking.asks()) }
        connected.world.time.advance(by: .seconds(11))
        #expect(try await asking.asks())
        #expect(try await !asking.asks())
    }
}
