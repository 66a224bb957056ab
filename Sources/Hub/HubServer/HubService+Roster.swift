import Foundation
import HubAPI
import HubStore
import SealedFormats

// Entries of rosters. A locked phone stores its token unsealed, but not its signing key: with a copy of an
// administrator's token alone, nobody may admit or revoke a device, or end the chain with an entry that no device accepts.
extension HubService {
    func appendToRoster(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(RosterAppendRequest.self)
        try Check.number(message.number, "number")
        try Check.bytes(message.entry, 1...4_096, "entry")
        let device = try request.knownDevice()
        if case .admit(let admitted, let role, _) = message.change {
            try Self.requireRole(role, of: admitted, in: message.entry)
        }
        let stored = try await store.roster(of: device.household, after: 0)
        guard let last = stored.last, message.number == UInt64(stored.count) + 1 else {
            // Never for the store to decide: if another entry is appended meanwhile, this one would be the next there,
            // and unchecked.
            let isStored = message.number <= stored.count && stored[Int(message.number) - 1] == message.entry
            guard isStored else { throw HubError.rosterNumber(next: UInt64(stored.count) + 1) }
            return .done
        }
        try Self.check(message, by: device.id, after: last, in: stored)
        try await store.appendToRoster(message, of: device.household)
        if let revoked = message.change.revoked { streams.end(device: revoked, of: device.household) }
        return .done
    }

    /// - Parameter stored: the chain so far.
    /// - Throws: `HubError` with `forbidden`.
    private static func check(
        _ message: RosterAppendRequest, by sender: HubID, after last: Data, in stored: [Data]
    ) throws {
        let statement = try? RosterStatement([UInt8](message.entry), after: [UInt8](last)) {
            RecordAuthors.key(of: $0.bytes, in: stored)
        }
        guard let statement, isSame(message.change, statement, sender) else {
            throw HubError(
                .forbidden,
                "The entry is not the next one of the list of devices, or is not signed by the device that sends it.")
        }
    }

    /// Any administrator may send again what a restored hub has lost, also if another member signed it.
    private static func isSame(
        _ change: HubAPI.RosterChange, _ statement: RosterStatement, _ sender: HubID
    ) -> Bool {
        switch (change, statement.change) {
        case (.admit(let device, _, _), .admit(let member)):
            statement.author.bytes == sender.bytes && member.id.bytes == device.bytes
        case (.revoke(let device), .revoke(let revoked)):
            statement.author.bytes == sender.bytes && revoked.bytes == device.bytes
        case (.restore(nil), .admit): true
        case (.restore(let device?), .revoke(let revoked)): revoked.bytes == device.bytes
        default: false
        }
    }
}
