public import Foundation

/// `POST /v1/invitations`, by devices that administer.
public struct NewInvitationRequest: Codable, Sendable {
    public var id: HubID
    /// SHA-256 of the proof, 32 bytes.
    public var proofHash: Data
    /// 1 to 300.
    public var expiresInSeconds: Int
    /// At most 256 bytes, sealed, for a device that has a typed code instead of the link. Nil: only the link joins.
    public var details: Data?
    public init(id: HubID, proofHash: Data, expiresInSeconds: Int = 300, details: Data? = nil) {
        self.id = id
        self.proofHash = proofHash
        self.expiresInSeconds = expiresInSeconds
        self.details = details
    }
}

/// `POST /v1/invitations/{invitation}/details`, without a token, before joining.
public struct InvitationDetailsRequest: Codable, Sendable {
    /// 32 bytes.
    public var proof: Data
    public init(proof: Data) { self.proof = proof }
}

/// What the inviting device stored for a device with a typed code.
public struct InvitationDetails: Codable, Equatable, Sendable {
    public var details: Data
    public init(details: Data) { self.details = details }
}

/// `GET /v1/invitations/{invitation}`, by devices that administer; expired and withdrawn ones are `gone`.
public struct InvitationReport: Codable, Sendable {
    public var id: HubID
    /// Present once a device has joined.
    public var join: JoinReport?
    public init(id: HubID, join: JoinReport?) {
        self.id = id
        self.join = join
    }
}

public struct JoinReport: Codable, Sendable {
    public var device: HubID
    /// Opens with the pair key.
    public var sealed: Data
    public init(device: HubID, sealed: Data) {
        self.device = device
        self.sealed = sealed
    }
}

/// `POST /v1/invitations/{invitation}/join`, without a token. Takes once, then the invitation is used up; the same request
/// again is answered as the first time.
public struct JoinRequest: Codable, Equatable, Sendable {
    /// 32 bytes.
    public var proof: Data
    public var device: HubID
    public var role: HubDeviceRole
    /// SHA-256 of the token that the device made for itself, 32 bytes.
    public var tokenHash: Data
    /// At most 4 KiB.
    public var sealed: Data
    public init(proof: Data, device: HubID, role: HubDeviceRole, tokenHash: Data, sealed: Data) {
        self.proof = proof
        self.device = device
        self.role = role
        self.tokenHash = tokenHash
        self.sealed = sealed
    }
}
