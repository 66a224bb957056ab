package import Foundation
package import HubAPI

/// The limit of a household's roster. A device that was offline for years reads all of it in one answer, of which clients
/// accept 4 MiB: in base64 the largest roster is 3.4 MiB.
package enum RosterSize {
    /// What each entry counts besides its bytes.
    package static let entryBytes = 64
    package static let maximum = 2 << 20
    /// Left for entries that remove a device, so that a full roster prevents no revocation.
    package static let maximumOfRemovals = maximum + (512 << 10)

    /// - Parameters:
    ///   - bytes: of the entries so far, each with `entryBytes`.
    ///   - removesDevice: whether the hub had the device that the entry revokes.
    /// - Throws: `quotaExceeded`.
    package static func requireRoom(for entry: Data, after bytes: Int64, removesDevice: Bool) throws(HubError) {
        let sum = bytes + Int64(entry.count + entryBytes)
        guard sum <= Int64(removesDevice ? maximumOfRemovals : maximum) else { throw HubError.rosterIsFull }
    }
}
