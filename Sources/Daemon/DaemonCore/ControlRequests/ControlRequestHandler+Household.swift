import ControlAPI
import Foundation
import Household
import SealedFormats
import Sync

/// The services of the household: its devices, the hub, and conflicts.
public struct HouseholdServices: Sendable {
    let household: HouseholdService
    let sync: SyncService
    let conflicts: ConflictService

    /// As `HouseholdService.revoke`, after reading everything that the hub has.
    func revoke(_ reference: String, passcode: SecretBytes, user: UInt32) async throws -> [String] {
        try await household.revoke(reference, passcode: passcode, user: user, reader: sync.engine)
    }

    /// As `HouseholdService.restore`, after reading everything that the hub has.
    func restore(_ request: RestoreRequest, user: UInt32) async throws -> RestoreReport {
        try await household.restore(request, user: user, reader: sync.engine)
    }
}

// Requests about the hub and the household's devices.
extension ControlRequestHandler {
    func addHouseholdRequests(to table: inout RequestTable) {
        let (household, sync) = (devices.household, devices.sync)
        table.answer(\.hubStatus) { _ in try await sync.status() }
        table.answer(\.connectHub) { request in
            let body = try request.body
            try await household.connect(
                HubSettings(
                    url: body.url.hasSuffix("/") ? String(body.url.dropLast()) : body.url,
                    certificates: body.certificates, proxy: body.proxy, isInsecure: body.isInsecure ?? false),
                registrationToken: body.registrationToken, user: request.user)
            return try await sync.status()
        }
        table.answer(\.disconnectHub) { DoneReport(notes: try await household.disconnect(user: $0.user)) }
        table.answer(\.joinHub) { request in
            let body = try request.body
            return try await household.join(
                body.link,
                HubSettings(
                    url: "", certificates: body.certificates, proxy: body.proxy, isInsecure: body.isInsecure ?? false))
        }
        table.answer(\.joining) { try await household.joiningReport(waitingUpTo: $0.query.wait) }
        table.perform(\.endJoining) { _ in try await household.endJoining() }
        table.perform(\.sendVaultKeys) {
            try await household.sendVaultKeys(SecretBytes(utf8: $0.body.passcode), user: $0.user)
        }
        table.answer(\.makePairing) { request in
            let body = try request.body
            return try await household.makePairing(address: body.address, role: body.role?.device ?? .companion)
        }
        table.answer(\.pairing) { try await household.pairing($0.name, waitingUpTo: $0.query.wait) }
        table.answer(\.confirmPairing) {
            try await household.confirmPairing($0.name, passcode: SecretBytes(utf8: $0.body.passcode), user: $0.user)
        }
        table.perform(\.endPairing) { try await household.endPairing($0.name) }
        table.answer(\.listDevices) { _ in try await household.devices() }
        table.answer(\.renameDevice) { try await household.rename($0.name, to: $0.body.name, user: $0.user) }
        table.answer(\.revokeDevice) {
            DoneReport(
                notes: try await devices.revoke($0.name, passcode: SecretBytes(utf8: $0.body.passcode), user: $0.user))
        }
        table.answer(\.restoreChanges) { try await devices.restore($0.body, user: $0.user) }
    }
}
