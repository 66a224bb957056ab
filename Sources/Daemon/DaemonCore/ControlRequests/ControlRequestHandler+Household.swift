import ControlAPI
import Foundation
import Household
import SealedFormats

/// The services of the household: its devices, the hub, and conflicts.
public struct HouseholdServices: Sendable {
    let household: HouseholdService
    let sync: SyncService
    let conflicts: ConflictService

    /// As `HouseholdService.revoke`, after reading everything that the hub has.
    func revoke(_ reference: String, passcode: SecretBytes, user: UInt32) async throws -> [String] {
        try await household.revoke(reference, passcode: passcode, user: user, reader: sync)
    }

    /// As `HouseholdService.restore`, after reading everything that the hub has.
    func restore(_ request: RestoreRequest, user: UInt32) async throws -> RestoreReport {
        try await household.restore(request, user: user, reader: sync)
    }
}

// Requests about the hub and the household's devices.
extension ControlRequestHandler {
    func householdReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        let (name, user) = (request.parameter ?? "", request.peer.user)
        switch request.route {
        case .hubStatus: return try await devices.sync.status()
        case .listDevices: return try await devices.household.devices()
        case .joining:
            return try await devices.household.joiningReport(
                waitingUpTo: try number("wait", in: request, default: 0, range: 0...25))
        case .connectHub: return try await connectHub(try decode(request), user: user)
        case .disconnectHub: return DoneReport(notes: try await devices.household.disconnect(user: user))
        case .joinHub:
            let body: JoinHubRequest = try decode(request)
            return try await devices.household.join(
                body.link,
                HubSettings(
                    url: "", certificates: body.certificates, proxy: body.proxy, isInsecure: body.isInsecure ?? false))
        case .endJoining: try await devices.household.endJoining()
        case .sendVaultKeys:
            let body: PasscodeRequest = try decode(request)
            try await devices.household.sendVaultKeys(SecretBytes(utf8: body.passcode), user: user)
        case .makePairing:
            let body: NewPairingRequest = try decode(request)
            return try await devices.household.makePairing(
                address: body.address, role: body.role?.device ?? .companion)
        case .pairing:
            return try await devices.household.pairing(
                name, waitingUpTo: try number("wait", in: request, default: 0, range: 0...25))
        case .confirmPairing:
            let body: PasscodeRequest = try decode(request)
            return try await devices.household.confirmPairing(
                name, passcode: SecretBytes(utf8: body.passcode), user: user)
        case .endPairing: try await devices.household.endPairing(name)
        case .renameDevice:
            let body: RenameDeviceRequest = try decode(request)
            return try await devices.household.rename(name, to: body.name, user: user)
        case .restoreChanges: return try await devices.restore(try decode(request), user: user)
        default:
            let body: PasscodeRequest = try decode(request)
            return DoneReport(
                notes: try await devices.revoke(name, passcode: SecretBytes(utf8: body.passcode), user: user))
        }
        return DoneReport()
    }

    private func connectHub(_ body: ConnectHubRequest, user: UInt32) async throws -> HubStatus {
        try await devices.household.connect(
            HubSettings(
                url: body.url.hasSuffix("/") ? String(body.url.dropLast()) : body.url, certificates: body.certificates,
                proxy: body.proxy, isInsecure: body.isInsecure ?? false),
            registrationToken: body.registrationToken, user: user)
        return try await devices.sync.status()
    }
}
