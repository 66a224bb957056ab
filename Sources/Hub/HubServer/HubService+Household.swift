import Crypto
import Foundation
import HTTPTypes
import HubAPI
import HubStore
import WebPush

extension HubService {
    // MARK: The hub itself

    func health() async throws -> HubReply {
        guard !isAboutToEnd else { throw HubError(.unavailable, "This hub is shutting down.", retryAfterSeconds: 5) }
        // Any query that reaches the database will do.
        let nobody = HubID(String(repeating: "0", count: 32))!
        do {
            _ = try await metrics.timing("health") { try await store.pushSubscriptions(of: nobody) }
        } catch let error as HubError where error.code == .notFound {}
        return .text("ok\n", type: "text/plain; charset=utf-8")
    }

    func metricsPage(_ request: HubRequest) throws -> HubReply {
        let mayRead =
            request.client.isLocal
            || configuration.metricsToken.map { isSame(Data("Bearer \($0)".utf8), authorization(request)) } ?? false
        guard mayRead else {
            throw HubError(
                .forbidden, "Only a client on the hub's own machine, or one with the metrics token, may read this.")
        }
        return .text(metrics.text(), type: "text/plain; version=0.0.4; charset=utf-8")
    }

    private func authorization(_ request: HubRequest) -> Data { Data((request.headers[.authorization] ?? "").utf8) }

    func report(_ request: HubRequest) throws -> HubReply {
        try .json(
            HubReport(
                name: "applocker-hub", version: Release.version, time: UInt64(max(0, time.milliseconds())),
                pushKey: pushKey.publicKey,
                needsRegistrationToken: configuration.registration != .open && !request.client.isLocal,
                registration: configuration.registration.report))
    }

    // MARK: Households

    func household(_ request: HubRequest) async throws -> HubReply {
        let stored = try await store.household(request.knownDevice().household)
        return try .json(
            HouseholdReport(
                household: stored.household, sequence: stored.sequence, records: stored.records, bytes: stored.bytes,
                quotaBytes: configuration.limits.quotaBytes,
                recordingBytes: configuration.limits.recordingBytes, eventDays: stored.eventDays,
                generations: stored.generations))
    }

    func changeHousehold(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(ChangeHouseholdRequest.self)
        if let days = message.eventDays {
            try Check.range(days, 1...3_650, "eventDays")
            try await store.changeHousehold(request.knownDevice().household, eventDays: days)
        }
        return try await household(request)
    }

    /// Not while another device administers it: then a device leaves by an entry that it signs. With the token of a locked
    /// phone alone, nobody deletes what others have.
    func removeHousehold(_ request: HubRequest) async throws -> HubReply {
        let device = try request.knownDevice()
        let household = device.household
        let isShared = try await store.devices(of: household).contains {
            $0.id != device.id && $0.state == .active && $0.role.administers
        }
        guard !isShared else {
            throw HubError(.forbidden, "Another device administers this household; revoke this one instead.")
        }
        try await store.removeHousehold(household)
        streams.endAll(of: household)
        return .done
    }

    // MARK: Devices

    static func ownReport(_ device: StoredDevice) -> OwnDeviceReport {
        OwnDeviceReport(device: device.id, household: device.household, role: device.role, state: device.state)
    }

    func leave(_ request: HubRequest) async throws -> HubReply {
        let device = try request.knownDevice()
        try await store.removeDevice(device.id, of: device.household)
        streams.end(device: device.id, of: device.household)
        return .done
    }

    func devices(_ request: HubRequest) async throws -> HubReply {
        let household = try request.knownDevice().household
        let connected = streams.connectedDevices(of: household)
        let list = try await store.devices(of: household).map { device in
            HubDevice(
                id: device.id, role: device.role, state: device.state,
                lastSeen: device.lastSeen.map { UInt64(max(0, $0)) },
                isConnected: connected.contains(device.id), hasPush: device.hasPush)
        }
        return try .json(HubDeviceList(devices: list))
    }

    // MARK: Roster and pairing

    func roster(_ request: HubRequest) async throws -> HubReply {
        let after = try request.number("after", default: 0)
        let household = try request.knownDevice().household
        try request.share.growToEncode(try await store.rosterBytes(of: household, after: after))
        return try .json(RosterPage(entries: try await store.roster(of: household, after: after)))
    }

    /// - Returns: nil for a token of no revoked device.
    func household(ofRevoked token: String) async throws -> HubID? {
        guard let hash = Self.hash(token: token) else { return nil }
        return try await store.household(ofRevoked: hash)
    }

    /// A revoked device may read the entry that revokes it, and nothing else: it can verify the signature only there.
    /// - Returns: nil for a token of no such device.
    func rosterOfRevoked(_ request: HubRequest, token: String, of household: HubID) async throws -> HubReply? {
        guard let hash = Self.hash(token: token) else { return nil }
        let after = try request.number("after", default: 0)
        try request.share.growToEncode(try await store.rosterBytes(of: household, after: after))
        return try await store.roster(ofRevoked: hash, after: after).map { try .json(RosterPage(entries: $0)) }
    }

    func invite(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(NewInvitationRequest.self)
        try Check.bytes(message.proofHash, 32, "proofHash")
        try Check.range(message.expiresInSeconds, 1...300, "expiresInSeconds")
        if let details = message.details { try Check.bytes(details, 1...256, "details") }
        let device = try request.knownDevice()
        try await store.invite(message, household: device.household, by: device.id, at: time.seconds())
        return .done
    }

    func invitation(_ request: HubRequest) async throws -> HubReply {
        let stored = try await store.invitation(
            request.id(), household: request.knownDevice().household, at: time.seconds())
        return try .json(
            InvitationReport(
                id: stored.id, join: stored.join.map { JoinReport(device: $0.device, sealed: $0.sealed) }))
    }

    func withdrawInvitation(_ request: HubRequest) async throws -> HubReply {
        try await store.withdrawInvitation(request.id(), household: request.knownDevice().household)
        return .done
    }

    /// For a device that has a typed code. The proof is shown before joining: it proves the code, and does not use up the invitation.
    func invitationDetails(_ request: HubRequest) async throws -> HubReply {
        let id = try request.id()
        let message = try request.message(InvitationDetailsRequest.self)
        try Check.bytes(message.proof, 32, "proof")
        try limits.countArrival(request.client)
        let details = try await store.invitationDetails(
            id, proofHash: Data(SHA256.hash(data: message.proof)), at: time.seconds())
        return try .json(InvitationDetails(details: details))
    }

    func join(_ request: HubRequest) async throws -> HubReply {
        let id = try request.id()
        let message = try request.message(JoinRequest.self)
        try Check.bytes(message.proof, 32, "proof")
        try Check.bytes(message.tokenHash, 32, "tokenHash")
        try Check.bytes(message.sealed, 1...4_096, "sealed")
        try limits.countArrival(request.client)
        let invitation = try await store.join(
            message, invitation: id, proofHash: Data(SHA256.hash(data: message.proof)), at: time.seconds())
        return try .json(
            OwnDeviceReport(
                device: message.device, household: invitation.household, role: message.role, state: .pending))
    }
}
