import Foundation
import Household
import HubAPI
import SealedFormats

/// Removes this computer from a list of devices. Without another one that administers nobody could admit or revoke devices,
/// so the household is removed at the hub instead.
///
/// - Parameters:
///   - key: this computer's in that household.
///   - clock: seconds since 1970.
///   - follow: reads the newest list from the hub.
/// - Throws: what the connection throws, and `follow`.
func leaveHousehold(
    isolation: isolated (any Actor)? = #isolation, at hub: any HubConnection, by key: DeviceSigningKey, clock: UInt64,
    _ follow: () async throws -> Roster
) async throws {
    let own = key.publicKey.id
    for attempt in 1...3 {
        let roster = try await follow()
        guard roster.members.contains(where: { $0.role.administers && $0.id != own }) else {
            return try await hub.removeHousehold()
        }
        let entry = roster.revoking(own, by: key, at: clock)
        do {
            return try await hub.append(
                RosterAppendRequest(
                    number: roster.head.number + 1, entry: Data(entry), change: .revoke(device: HubID(own))))
        } catch let error as HubError where error.code == .conflict && attempt < 3 {
            continue
        }
    }
}
