import Foundation
import Household
import SealedFormats
import WireProtocol

/// The household: hub, devices, what they are told and what they ask.
public struct HouseholdServices: Sendable {
    let household: HouseholdService
    let sync: SyncService
    let notes: ConflictService
}

// The hub and the devices that meet there. Who has given the owner's passcode before may look, other users may not: names of devices are
// names of people. What changes them needs a management session.
extension ControlPlane {
    func householdReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        let (name, user) = (request.parameter ?? "", request.peer.user)
        switch request.route {
        case .hubStatus, .listDevices, .joining: try await requirePasscodeGiven(request)
        default: break
        }
        switch request.route {
        case .hubStatus: return try await devices.sync.status()
        case .listDevices: return try await devices.household.devices()
        case .joining:
            return try await devices.household.joiningReport(
                waitingUpTo: try number("wait", in: request, default: 0, range: 0...25))
        default: try await sessions.require(request.token, of: request.peer)
        }
        switch request.route {
        case .connectHub: return try await connectHub(try decode(request), user: user)
        case .disconnectHub: return DoneReport(notes: try await devices.household.disconnect(user: user))
        case .joinHub:
            let body: JoinHubRequest = try decode(request)
            return try await devices.household.join(
                body.link,
                HubSettings(
                    url: "", certificates: body.certificates, proxy: body.proxy, isInsecure: body.isInsecure ?? false))
        case .endJoining: try await devices.household.endJoining()
        case .giveVaultKeys:
            let body: PasscodeRequest = try decode(request)
            try await devices.household.giveVaultKeys(SecretBytes(utf8: body.passcode), user: user)
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
        case .restoreChanges: return try await devices.household.restore(try decode(request), user: user)
        default:
            let body: PasscodeRequest = try decode(request)
            return DoneReport(
                notes: try await devices.household.revoke(name, passcode: SecretBytes(utf8: body.passcode), user: user))
        }
        return DoneReport()
    }

    private func requirePasscodeGiven(_ request: ControlRequest) async throws {
        if await passcodes.hasGivenPasscode(request.peer.user) { return }
        guard try await reachesEverybody(request) else {
            throw ControlError(
                .sessionNeeded,
                "The hub and the devices are shown to users who have given AppLocker's passcode on this computer. Open a session first."
            )
        }
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
