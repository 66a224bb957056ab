import HubAPI
import HubStore
import Testing

@testable import HubServer

/// When a client that reads too slowly is disconnected.
struct StreamMemberTests {
    @Test func aClientThatReadsBetweenTwoHeartbeatsIsNotDisconnected() async {
        let metrics = HubMetrics()
        // Without a channel it is never writable at a heartbeat.
        let connection = RequestGuard(
            counter: ConnectionCounter(), metrics: metrics, limits: HubLimits(), trustedProxies: [])
        let ring = StreamRing(metrics: metrics)
        let device = StoredDevice(
            household: .random(), id: .random(), role: .computer, state: .active, lastSeen: nil, hasPush: false)
        let end = await withCheckedContinuation { ended in
            let member = StreamMember(
                device: device, connection: connection, ring: ring, position: 0, sequence: 0, whenEnded: ended)
            for _ in 0..<4 {
                member.beat()
                member.becameWritable()
            }
            #expect(metrics.text().contains("applocker_hub_streams_cut_off_total 0"))
            for _ in 0..<2 { member.beat() }
        }
        #expect(end == .tooSlow)
        #expect(metrics.text().contains("applocker_hub_streams_cut_off_total 1"))
    }
}
