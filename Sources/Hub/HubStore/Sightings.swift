package import HubAPI
import Synchronization

/// The minute in which each device was last seen, so that a hub writes it once.
package final class Sightings: Sendable {
    private static let largest = 100_000
    private let minutes = Mutex<[HubID: Int64]>([:])

    package init() {}

    /// Whether this is later than the minute in which the device was last seen.
    package func isNewMinute(_ minute: Int64, of device: HubID) -> Bool {
        minutes.withLock { minutes in
            guard minutes[device] ?? .min < minute else { return false }
            if minutes.count >= Self.largest { minutes = [:] }
            minutes[device] = minute
            return true
        }
    }
}
