import Crypto
import Foundation
import HubAPI
import HubStore
import SealedFormats

// Who may found a household.
extension HubService {
    func foundHousehold(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(NewHouseholdRequest.self)
        try Check.bytes(message.tokenHash, 32, "tokenHash")
        try Check.bytes(message.entry, 1...4_096, "entry")
        if let invitation = message.vaultInvitation { try Check.bytes(invitation.proof, 32, "proof") }
        try Self.requireRole(message.founderRole, of: message.device, in: message.entry)
        guard message.founderRole.administers else {
            throw HubError(.badRequest, "A companion can't found a household; found it as an administrator.")
        }
        try limits.countArrival(request.client)
        let terms = try await foundingTerms(message, request)
        _ = try await metrics.timing("found") { try await store.foundHousehold(message, terms) }
        return try .json(
            OwnDeviceReport(
                device: message.device, household: message.household, role: message.founderRole, state: .active))
    }

    /// - Throws: `HubError` with `forbidden`, `gone` or `tooMany` where nothing entitles the client.
    private func foundingTerms(
        _ message: NewHouseholdRequest, _ request: HubRequest
    ) async throws -> FoundingTerms {
        var terms = FoundingTerms(
            maximumMain: configuration.limits.households, eventDays: configuration.eventDays, time: time.seconds())
        if try await isOfMember(request) {
            terms.isMain = false
            return terms
        }
        guard !request.client.isLocal else { return terms }
        switch configuration.registration {
        case .open: try limits.countOpenFounding(request.client)
        case .closed:
            throw HubError(.forbidden, "This hub is closed: its operator accepts no new households.")
        case .token(let token):
            terms.invitation = try invitation(message, token: token, at: terms.time, from: request.client)
        }
        return terms
    }

    /// - Returns: nil for the registration token itself, which is not used up.
    private func invitation(
        _ message: NewHouseholdRequest, token: String, at time: Int64, from client: Client
    ) throws -> FoundingTerms.Invitation? {
        if let text = message.start {
            guard let start = try? StartInvitation(text: text), start.isAuthentic(token: token),
                let id = HubID(start.id.description)
            else {
                try limits.countFailedToken(client)
                throw HubError(
                    .forbidden, "This start link is not one of this hub; copy the whole link, or ask for another one.")
            }
            let expires = Int64(clamping: start.expires)
            guard expires > time else { throw HubError.startIsOver }
            guard expires - time <= Int64(StartInvitation.longestLifetime) else {
                throw HubError(.forbidden, "This start link is valid for more than 30 days; ask for another one.")
            }
            return .start(id: id, expires: expires)
        }
        if let invitation = message.vaultInvitation {
            return .household(id: invitation.id, proofHash: Data(SHA256.hash(data: invitation.proof)))
        }
        guard let given = message.registrationToken, isSame(Data(given.utf8), Data(token.utf8)) else {
            try limits.countFailedToken(client)
            throw HubError(
                .forbidden,
                "A new household needs an invitation of this hub's operator: a link of `applocker-hub invite`, or the "
                    + "registration token.")
        }
        return nil
    }

    /// Whether the request is from an active device of a household on this hub. Such a device may found another one: a
    /// shared vault.
    private func isOfMember(_ request: HubRequest) async throws -> Bool {
        guard let token = HubResponder.bearerToken(request.headers) else { return false }
        return try await lookUp(token: token, from: request.client)?.state == .active
    }

    /// The devices go by the entry and the hub by the request, so both have to agree. An entry that can't be read is left
    /// to the devices, which refuse it.
    static func requireRole(_ role: HubDeviceRole, of device: HubID, in entry: Data) throws {
        guard let member = Roster.memberAdmitted(by: [UInt8](entry)) else { return }
        guard member.id.bytes == device.bytes, HubDeviceRole(member.role) == role else {
            throw HubError(.badRequest, "The entry admits another device, or in another role, than the request.")
        }
    }
}
