import Crypto
import Foundation
import HubAPI

/// Lets a device into a household: shown as a QR code, for five minutes, once. Its secret never reaches the hub.
public struct Invitation: Sendable {
    /// In bytes.
    static let secretLength = 32
    /// Of a device's name, in bytes of UTF-8.
    public static let nameLength = 1...64

    public let household: ItemID
    /// The device that invites: the roster has to have it, in a role that administers.
    public let computer: ItemID
    public let id: ItemID
    /// What it admits.
    public let role: DeviceRole
    let secret: SecretBytes

    /// - Parameter code: a new one. Typed, it identifies the same invitation as the link.
    public init(
        household: ItemID, computer: ItemID, role: DeviceRole = .companion, code: PairingCode = PairingCode()
    ) {
        self.household = household
        self.computer = computer
        self.role = role
        id = code.id
        secret = code.invitationSecret
    }

    /// What the hub is shown once, 32 bytes; before, it was given only `proofHash`.
    public var proof: [UInt8] { Self.proof(of: secret) }

    static func proof(of secret: SecretBytes) -> [UInt8] {
        KeyDerivation.hkdf(secret, salt: nil, info: "applocker/1/pair-proof").withUnsafeBytes { Array($0) }
    }

    /// SHA-256 of the proof, 32 bytes.
    public var proofHash: [UInt8] { Array(SHA256.hash(data: proof)) }

    // MARK: Link

    /// The link that the QR code shows.
    /// - Parameter hub: its address, "https://hub.example".
    public func link(hub: String) -> String {
        var bytes = [Self.version(for: role)] + household.bytes + computer.bytes + id.bytes
        secret.withUnsafeBytes { bytes += $0 }
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        return hub + "/#pair=" + Base64URL.encode(bytes)
    }

    /// Reads a link.
    /// - Returns: the invitation, and the hub's address.
    /// - Throws: `SealedFormatsError` with code `malformed` or `unknownVersion`.
    public static func reading(link: String) throws(SealedFormatsError) -> (invitation: Invitation, hub: String) {
        guard let read = try reading(link, mark: "/#pair=", roles: pairingRoles) else {
            throw SealedFormatsError(
                .malformed, "This is not a pairing link; copy the complete link of `applocker pair`.")
        }
        return read
    }

    /// The same for an invitation to a shared vault, whose members all have one role.
    public static func reading(vaultLink: String) throws(SealedFormatsError) -> (invitation: Invitation, hub: String) {
        guard let read = try reading(vaultLink, mark: "/#vault=", roles: [.computer]) else {
            throw SealedFormatsError(
                .malformed, "This is not an invitation to a vault; copy the complete link that a member's phone shows.")
        }
        return read
    }

    /// - Parameter roles: by the link's version, from 1.
    private static func reading(
        _ link: String, mark: String, roles: [DeviceRole]
    ) throws(SealedFormatsError) -> (invitation: Invitation, hub: String)? {
        guard let mark = link.range(of: mark), let bytes = Base64URL.decode(String(link[mark.upperBound...])) else {
            return nil
        }
        return (try Invitation(bytes: [UInt8](bytes), roles: roles), String(link[..<mark.lowerBound]))
    }

    init(bytes: [UInt8], roles: [DeviceRole] = Self.pairingRoles) throws(SealedFormatsError) {
        var reader = ByteReader(bytes, subject: "pairing link")
        let version = try reader.number(UInt8.self)
        guard let role = roles.indices.contains(Int(version) - 1) ? roles[Int(version) - 1] : nil else {
            throw SealedFormatsError(
                .unknownVersion, "The pairing link was made by a newer AppLocker; install that version here.")
        }
        self.role = role
        household = try reader.id()
        computer = try reader.id()
        id = try reader.id()
        var secret = try reader.bytes(Self.secretLength)
        self.secret = SecretBytes(wiping: &secret)
        try reader.end()
    }

    /// By the version of a pairing link, from 1.
    private static let pairingRoles: [DeviceRole] = [.companion, .computer, .administrator]

    private static func version(for role: DeviceRole) -> UInt8 {
        guard let index = pairingRoles.firstIndex(of: role) else { preconditionFailure("a link admits every role") }
        return UInt8(index) + 1
    }

    /// What the link contains and a typed code does not, stored at the hub: 49 bytes, sealed for holders of the code. Once:
    /// the key seals one message.
    public var sealedDetails: [UInt8] {
        let details = [Self.version(for: role)] + household.bytes + computer.bytes
        return Array(GCM.seal(details, key: Self.detailsKey(secret), data: Self.boundDetails(id)))
    }

    /// Opens what a phone left at the hub for a typed code.
    /// - Returns: the invitation, and whether it is one to a shared vault.
    /// - Throws: `SealedFormatsError` with code `damaged`, `malformed` or `unknownVersion`.
    public static func opening(
        details sealed: [UInt8], with code: PairingCode
    ) throws(SealedFormatsError) -> (invitation: Invitation, isOfVault: Bool) {
        guard let details = GCM.open(Data(sealed), key: detailsKey(code.invitationSecret), data: boundDetails(code.id))
        else {
            throw SealedFormatsError(.damaged, "The hub returned another invitation; it can't be trusted.")
        }
        var reader = ByteReader([UInt8](details), subject: "invitation")
        let version = try reader.number(UInt8.self)
        let isOfVault = version == vaultDetails
        let role: DeviceRole? = isOfVault ? .computer : pairingRoles.first { Self.version(for: $0) == version }
        guard let role else {
            throw SealedFormatsError(
                .unknownVersion, "The invitation was made by a newer AppLocker; install that version here.")
        }
        let (household, computer) = (try reader.id(), try reader.id())
        try reader.end()
        return (Invitation(household: household, computer: computer, role: role, code: code), isOfVault)
    }

    /// The version of a vault's link, with the top bit set.
    private static let vaultDetails: UInt8 = 0x81

    private static func detailsKey(_ secret: SecretBytes) -> SymmetricKey {
        KeyDerivation.hkdf(secret, salt: nil, info: "applocker/1/pair-details")
            .withUnsafeBytes { SymmetricKey(data: $0) }
    }

    private static func boundDetails(_ id: ItemID) -> [UInt8] {
        var bound = Fields("applocker/1/pair-details")
        bound.add(id.bytes)
        return bound.bytes
    }

    // MARK: Joining

    /// What a device reports about itself when it joins.
    public struct Joining: Hashable, Sendable {
        public let signingKey: DevicePublicKey
        public let boxKey: BoxPublicKey
        /// 1 to 64 bytes of UTF-8.
        public let name: String

        /// - Throws: `SealedFormatsError` with code `malformed` where the name is empty or too long.
        public init(
            signingKey: DevicePublicKey, boxKey: BoxPublicKey, name: String
        ) throws(SealedFormatsError) {
            guard Invitation.nameLength ~= name.utf8.count else {
                throw SealedFormatsError(.malformed, "A device's name has 1 to 64 bytes; choose a shorter one.")
            }
            self.signingKey = signingKey
            self.boxKey = boxKey
            self.name = name
        }
    }

    /// Seals the keys and the name to the device that made the invitation. Once: the key seals one message.
    public func seal(_ joining: Joining) -> [UInt8] {
        let body = joining.signingKey.bytes + joining.boxKey.bytes + Array(joining.name.utf8)
        guard let padded = try? Padding.pad(body) else { preconditionFailure("this fits into a record") }
        return Array(GCM.seal(padded, key: pairKey, data: boundData))
    }

    /// - Throws: `SealedFormatsError` with code `damaged` if it was sealed without the link.
    public func open(_ sealed: [UInt8]) throws(SealedFormatsError) -> Joining {
        guard var padded = GCM.open(Data(sealed), key: pairKey, data: boundData),
            let body = Padding.unpad(wiping: &padded)
        else {
            throw SealedFormatsError(
                .damaged, "A device without the pairing link tried to join and was not admitted. Pair again.")
        }
        var reader = ByteReader([UInt8](body), subject: "joining device")
        let signingKey = try DevicePublicKey(bytes: try reader.bytes(65))
        let boxKey = try BoxPublicKey(bytes: try reader.bytes(65))
        guard let name = String(bytes: reader.rest(), encoding: .utf8) else { throw reader.malformed() }
        return try Joining(signingKey: signingKey, boxKey: boxKey, name: name)
    }

    private var pairKey: SymmetricKey {
        KeyDerivation.hkdf(secret, salt: nil, info: "applocker/1/pair-key").withUnsafeBytes { SymmetricKey(data: $0) }
    }

    private var boundData: [UInt8] {
        var fields = Fields("applocker/1/pair")
        fields.add(household.bytes)
        fields.add(computer.bytes)
        fields.add(id.bytes)
        return fields.bytes
    }
}
