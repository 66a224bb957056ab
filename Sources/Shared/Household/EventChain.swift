public import HubAPI

/// Detects events of a computer that the hub withholds: each names the one before it, and the status the newest.
public struct EventChain: Codable, Equatable, Sendable {
    private var seen: Set<HubID> = []
    /// Named by an event or a status, but not received.
    private var named: Set<HubID> = []
    /// The event before the first received one; the hub may have removed it.
    private var beginning: HubID?

    public init() {}

    public mutating func add(_ id: HubID, previous: HubID?) {
        if seen.isEmpty {
            beginning = previous
            // A status may have named it before.
            if let previous { named.remove(previous) }
        }
        seen.insert(id)
        named.remove(id)
        if let previous { note(previous) }
    }

    /// - Parameter newest: as a status of the computer names it.
    public mutating func note(_ newest: HubID) {
        if !seen.contains(newest), newest != beginning { named.insert(newest) }
    }

    /// The minimum number of missing events. Call it once everything that the hub has was read.
    public var missing: Int { seen.isEmpty ? 0 : named.count }
}
