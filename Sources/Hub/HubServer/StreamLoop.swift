import HubAPI
import NIOCore

/// The streams' state on one event loop.
///
/// Unchecked: the rings are used only on the event loop.
final class StreamLoop: @unchecked Sendable {
    let eventLoop: any EventLoop
    private let metrics: HubMetrics
    private let heartbeat: TimeAmount
    private var rings: [HubID: StreamRing] = [:]
    private var beats: RepeatedTask?

    init(_ eventLoop: any EventLoop, metrics: HubMetrics, heartbeat: Duration) {
        self.eventLoop = eventLoop
        self.metrics = metrics
        self.heartbeat = TimeAmount(heartbeat)
    }

    /// The household's ring, which exists while the loop has a stream of it.
    func enter(_ household: HubID) -> StreamRing {
        eventLoop.preconditionInEventLoop()
        let ring = rings[household] ?? StreamRing(metrics: metrics)
        rings[household] = ring
        ring.replaying += 1
        if beats == nil {
            beats = eventLoop.scheduleRepeatedTask(initialDelay: heartbeat, delay: heartbeat) { [weak self] _ in
                self?.beat()
            }
        }
        return ring
    }

    func endReplay(_ household: HubID) {
        rings[household]?.replaying -= 1
        forgetIfEmpty(household)
    }

    func forgetIfEmpty(_ household: HubID) {
        guard let ring = rings[household], ring.replaying == 0, ring.members.isEmpty else { return }
        rings[household] = nil
        guard rings.isEmpty else { return }
        beats?.cancel()
        beats = nil
    }

    func ring(of household: HubID) -> StreamRing? { rings[household] }

    func append(_ items: [StreamItem], to household: HubID) { rings[household]?.append(items) }

    func members(of household: HubID) -> [StreamMember] { rings[household].map { Array($0.members.values) } ?? [] }

    func end(_ end: StreamEnd, of household: HubID, where isMeant: (StreamMember) -> Bool) {
        for member in members(of: household) where isMeant(member) { member.ended(end) }
        forgetIfEmpty(household)
    }

    private func beat() {
        for ring in Array(rings.values) {
            for member in Array(ring.members.values) { member.beat() }
        }
    }
}
