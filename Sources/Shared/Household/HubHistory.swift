public import HubAPI

/// Detects whether a hub's store was restored from a backup or replaced since a device read it.
public enum HubHistory {
    /// The last sequence number up to which both are the same; below `newest`, something that the device read is not there any more.
    ///
    /// - Parameters:
    ///   - known: as the hub served them when the device read last.
    ///   - newest: the highest sequence number that the device has seen.
    ///   - served: as the hub serves them now.
    ///   - sequence: the hub's newest sequence number now.
    public static func common(
        known: [HubGeneration], newest: UInt64, served: [HubGeneration], sequence: UInt64
    ) -> UInt64 {
        for (index, generation) in known.enumerated().reversed() {
            guard let place = served.firstIndex(of: generation) else { continue }
            let knownEnd = index + 1 < known.count ? known[index + 1].after : newest
            let servedEnd = place + 1 < served.count ? served[place + 1].after : sequence
            return min(knownEnd, servedEnd)
        }
        return 0
    }
}
