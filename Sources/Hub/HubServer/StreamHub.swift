import HubAPI
import HubStore
import Logging
import NIOCore
import Synchronization

/// All open streams. Each household's changes are read from the store once, formatted once, and passed to the event
/// loops that have streams of it.
final class StreamHub: Sendable {
    private let store: any HubStore
    private let metrics: HubMetrics
    private let time: any HubTime
    private let limits: HubLimits
    private let logger: Logger
    private let topics = Mutex<[HubID: StreamTopic]>([:])
    private let loops = Mutex<[ObjectIdentifier: StreamLoop]>([:])
    private let isEnding = Atomic<Bool>(false)

    init(store: any HubStore, metrics: HubMetrics, time: any HubTime, limits: HubLimits, logger: Logger) {
        self.store = store
        self.metrics = metrics
        self.time = time
        self.limits = limits
        self.logger = logger
    }

    // MARK: Opening and closing streams

    /// A stream that has begun; it is counted until `leave`.
    struct Entry: Sendable {
        let topic: StreamTopic
        let loop: StreamLoop
        let device: StoredDevice
    }

    func enter(_ device: StoredDevice, _ eventLoop: any EventLoop) throws -> Entry {
        guard !isEnding.load(ordering: .relaxed) else {
            throw HubError(.unavailable, "This hub is shutting down. Try again.", retryAfterSeconds: 2)
        }
        let loop = loops.withLock { loops in
            let loop =
                loops[ObjectIdentifier(eventLoop)]
                ?? StreamLoop(eventLoop, metrics: metrics, heartbeat: limits.heartbeat)
            loops[ObjectIdentifier(eventLoop)] = loop
            return loop
        }
        let topic = try topics.withLock { topics in
            let topic = topics[device.household] ?? StreamTopic(device.household)
            try topic.enter(device.id, loop, limits)
            topics[device.household] = topic
            return topic
        }
        metrics.streamOpened()
        return Entry(topic: topic, loop: loop, device: device)
    }

    func leave(_ entry: Entry) {
        topics.withLock { topics in
            entry.topic.leave(entry.device.id, entry.loop)
            if entry.topic.isEmpty, topics[entry.topic.household] === entry.topic {
                topics[entry.topic.household] = nil
            }
        }
        entry.loop.eventLoop.execute { entry.loop.forgetIfEmpty(entry.topic.household) }
        metrics.streamEnded()
    }

    /// Sets the number after which the household's rings receive records. Called before stored records are read.
    func settle(_ topic: StreamTopic) async throws {
        guard topic.state.withLock({ $0.through == nil }) else { return }
        let sequence = try await store.household(topic.household).sequence
        let isBehind = topic.state.withLock { state in
            if state.through == nil { state.through = sequence }
            return state.wanted > (state.through ?? 0)
        }
        if isBehind { read(topic, through: 0) }
    }

    func connectedDevices(of household: HubID) -> Set<HubID> {
        guard let topic = topics.withLock({ $0[household] }) else { return [] }
        return topic.state.withLock { Set($0.devices.keys) }
    }

    // MARK: Changes

    func end(device: HubID, of household: HubID) {
        topics.withLock { $0[household] }?.end(.revoked, device: device)
    }

    func endAll(of household: HubID) { topics.withLock { $0[household] }?.end(.revoked, device: nil) }

    /// Ends every stream and refuses new ones.
    func endAll() {
        isEnding.store(true, ordering: .relaxed)
        for topic in topics.withLock({ Array($0.values) }) { topic.end(.hubEnds, device: nil) }
    }

    func handle(_ change: HubChange) async {
        switch change {
        case .records(let household, let through):
            if let topic = topics.withLock({ $0[household] }) { read(topic, through: through) }
        case .roster(let household, let number):
            topics.withLock { $0[household] }?.publish([.roster(number)])
        case .join(let household, let invitation):
            topics.withLock { $0[household] }?.publish([.join(invitation)])
        case .revoked(let household, let device): end(device: device, of: household)
        case .unknown:
            for topic in topics.withLock({ Array($0.values) }) { await lookAtEverything(topic) }
        }
    }

    /// Changes may have been missed: reads the household's devices, roster and records again.
    private func lookAtEverything(_ topic: StreamTopic) async {
        do {
            let active = Set(try await store.devices(of: topic.household).filter { $0.state == .active }.map(\.id))
            for device in topic.state.withLock({ Array($0.devices.keys) }) where !active.contains(device) {
                topic.end(.revoked, device: device)
            }
            let report = try await store.household(topic.household)
            topic.publish([.roster(report.rosterNumber)])
            read(topic, through: report.sequence)
        } catch let error as HubError where error.code == .notFound {
            topic.end(.revoked, device: nil)
        } catch {
            // The devices reconnect, and find out then.
            topic.end(.hubEnds, device: nil)
        }
    }

    // MARK: Reading new records

    /// One reader for each household: a call while it runs only extends how far it reads.
    private func read(_ topic: StreamTopic, through: UInt64) {
        let mayRead = topic.state.withLock { $0.announce(through) }
        if mayRead { Task { await self.readAll(topic) } }
    }

    private func readAll(_ topic: StreamTopic) async {
        var backoff = Backoff(first: .milliseconds(100), longest: .seconds(5), jitter: 1...1)
        while true {
            guard let reading = topic.state.withLock({ $0.nextReading() }) else { return }
            do {
                let page = try await metrics.timing("fan_out") {
                    try await store.records(
                        of: topic.household, after: reading.after, limit: 512, maximumBytes: 1 << 20)
                }
                topic.publish(try page.records.map(StreamItem.record))
                topic.state.withLock { $0.finish(reading, next: page.next, more: page.more) }
                backoff.succeeded()
            } catch {
                guard !isEnding.load(ordering: .relaxed) else { return }
                logger.warning("A household's new records could not be read; retrying.")
                try? await time.sleep(for: backoff.next())
            }
        }
    }
}
