import HubAPI
import HubStore
import NIOCore
import Synchronization

/// One household with open streams: their devices, and how far the store has been read for them.
final class StreamTopic: Sendable {
    struct State {
        /// The rings have received everything up to this number; nil until it is determined.
        var through: UInt64?
        var wanted: UInt64 = 0
        var isReading = false
        var devices: [HubID: Int] = [:]
        /// Devices that were revoked since the topic exists; a new stream checks itself against them.
        var ended: Set<HubID> = []
        var isEnded = false
        /// The loops that have streams of the household.
        var loops: [ObjectIdentifier: (loop: StreamLoop, streams: Int)] = [:]

        /// One read of the store: the records after a number, begun when all up to another were announced.
        struct Reading {
            let after: UInt64
            let wanted: UInt64
        }

        /// - Returns: whether the caller has to start reading, because there is something up to this number.
        mutating func announce(_ number: UInt64) -> Bool {
            wanted = max(wanted, number)
            guard let through, !isReading, wanted > through else { return false }
            isReading = true
            return true
        }

        /// Nil if everything that was announced has been read: the reader ends.
        mutating func nextReading() -> Reading? {
            guard let through, wanted > through, !loops.isEmpty else {
                isReading = false
                return nil
            }
            return Reading(after: through, wanted: wanted)
        }

        /// Records how far a page was read. Numbers that were announced meanwhile still have to be read.
        mutating func finish(_ reading: Reading, next: UInt64, more: Bool) {
            // An announced number without a record was replaced or pruned since.
            through = max(reading.after, next, more ? 0 : reading.wanted)
        }
    }

    let household: HubID
    let state = Mutex(State())

    init(_ household: HubID) { self.household = household }

    var loops: [StreamLoop] { state.withLock { $0.loops.values.map(\.loop) } }

    var isEmpty: Bool { state.withLock { $0.loops.isEmpty } }

    func isEnded(_ device: HubID) -> Bool { state.withLock { $0.isEnded || $0.ended.contains(device) } }

    func isRevoked(_ device: HubID) -> Bool { state.withLock { $0.ended.contains(device) } }

    /// - Throws: `tooMany` if the household or the device has reached its limit of streams.
    func enter(_ device: HubID, _ loop: StreamLoop, _ limits: HubLimits) throws(HubError) {
        try state.withLock { state throws(HubError) in
            guard state.loops.values.reduce(0, { $0 + $1.streams }) < limits.streamsPerHousehold else {
                throw Self.tooMany("household", limits.streamsPerHousehold)
            }
            guard state.devices[device, default: 0] < limits.streamsPerDevice else {
                throw Self.tooMany("device", limits.streamsPerDevice)
            }
            state.devices[device, default: 0] += 1
            state.loops[ObjectIdentifier(loop), default: (loop, 0)].streams += 1
        }
    }

    private static func tooMany(_ owner: String, _ limit: Int) -> HubError {
        HubError(
            .tooMany, "The \(owner) has \(limit) streams open already. Close some.", retryAfterSeconds: 10)
    }

    func leave(_ device: HubID, _ loop: StreamLoop) {
        state.withLock { state in
            let left = state.devices[device, default: 0] - 1
            state.devices[device] = left > 0 ? left : nil
            let streams = (state.loops[ObjectIdentifier(loop)]?.streams ?? 0) - 1
            state.loops[ObjectIdentifier(loop)] = streams > 0 ? (loop, streams) : nil
        }
    }

    func publish(_ items: [StreamItem]) {
        guard !items.isEmpty else { return }
        for loop in loops { loop.eventLoop.execute { loop.append(items, to: self.household) } }
    }

    func end(_ end: StreamEnd, device: HubID?) {
        let loops = state.withLock { state in
            if let device { state.ended.insert(device) } else { state.isEnded = true }
            return state.loops.values.map(\.loop)
        }
        for loop in loops {
            loop.eventLoop.execute {
                loop.end(end, of: self.household) { device == nil || $0.device == device }
            }
        }
    }
}
