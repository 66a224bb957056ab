import HubStore
import NIOCore
import Synchronization
import WireProtocol

/// One household with open streams: who has some, and how far what is stored has been read for them.
final class StreamTopic: Sendable {
    struct State {
        /// Everything up to here has been given to the rings; nil until it is known.
        var through: UInt64?
        /// Up to where there is something to read.
        var wanted: UInt64 = 0
        var isReading = false
        /// How many streams each device has open.
        var devices: [HubID: Int] = [:]
        /// Devices and everything that ended while the topic was there: a stream that only begins looks here.
        var ended: Set<HubID> = []
        var isEnded = false
        /// By event loop.
        var loops: [ObjectIdentifier: (loop: StreamLoop, streams: Int)] = [:]

        /// A reading of the store: what follows a number, begun when everything up to another was known to be there.
        struct Reading {
            let after: UInt64
            let wanted: UInt64
        }

        /// Whether somebody has to begin reading now that there is something up to this number.
        mutating func announce(_ number: UInt64) -> Bool {
            wanted = max(wanted, number)
            guard let through, !isReading, wanted > through else { return false }
            isReading = true
            return true
        }

        /// Nil where everything that is wanted has been read: the reader is done.
        mutating func nextReading() -> Reading? {
            guard let through, wanted > through, !loops.isEmpty else {
                isReading = false
                return nil
            }
            return Reading(after: through, wanted: wanted)
        }

        /// Takes over how far a page went. What was announced while it was read is still to be read.
        mutating func finish(_ reading: Reading, next: UInt64, more: Bool) {
            // An announced number that is not there was replaced or forgotten since.
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

    /// - Returns: false where the household has as many streams as it may.
    func enter(_ device: HubID, _ loop: StreamLoop, limit: Int) -> Bool {
        state.withLock { state in
            guard state.loops.values.reduce(0, { $0 + $1.streams }) < limit else { return false }
            state.devices[device, default: 0] += 1
            state.loops[ObjectIdentifier(loop), default: (loop, 0)].streams += 1
            return true
        }
    }

    func leave(_ device: HubID, _ loop: StreamLoop) {
        state.withLock { state in
            let left = state.devices[device, default: 0] - 1
            state.devices[device] = left > 0 ? left : nil
            let streams = (state.loops[ObjectIdentifier(loop)]?.streams ?? 0) - 1
            state.loops[ObjectIdentifier(loop)] = streams > 0 ? (loop, streams) : nil
        }
    }

    func give(_ items: [StreamItem]) {
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
