import Synchronization
package import WireProtocol

/// The minute in which each device was seen last, so that a hub writes it once.
package final class Sightings: Sendable {
    private static let largest = 10_000
    private let minutes = Mutex<[HubID: Int64]>([:])

    package init() {}

    /// Whether the device was not seen in this minute or a later one before.
    package func isNews(_ minute: Int64, of device: HubID) -> Bool {
        minutes.withLock { minutes in
            guard minutes[device] ?? .min < minute else { return false }
            if minutes.count >= Self.largest { minutes = [:] }
            minutes[device] = minute
            return true
        }
    }
}
