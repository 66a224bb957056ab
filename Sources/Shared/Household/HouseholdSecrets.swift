import Crypto
public import Foundation
public import HubAPI
public import SealedFormats

/// A device's own keys, its token at the hub, and the household's keys that it received.
public struct HouseholdSecrets: Sendable {
    public static let tokenLength = 32

    public let household: ItemID
    public let signingKey: DeviceSigningKey
    public let boxKey: BoxKeyPair
    /// 32 bytes.
    public let token: SecretBytes
    /// Status keys; on a companion the keys of the vaults too.
    public private(set) var ring: KeyRing

    public init(
        household: ItemID, signingKey: DeviceSigningKey, boxKey: BoxKeyPair, token: SecretBytes, ring: KeyRing
    ) {
        self.household = household
        self.signingKey = signingKey
        self.boxKey = boxKey
        self.token = token
        self.ring = ring
    }

    public var device: ItemID { signingKey.publicKey.id }

    /// SHA-256, which the hub stores.
    public var tokenHash: Data { Self.hash(of: token) }

    public static func hash(of token: SecretBytes) -> Data {
        token.withUnsafeBytes { bytes in
            var hash = SHA256()
            hash.update(bufferPointer: bytes)
            return Data(hash.finalize())
        }
    }

    /// Of the newest status key; 0 before there is one.
    public var epoch: UInt32 { ring.current(.status, vault: household)?.epoch ?? 0 }

    /// How far a status key's epoch may be above the newest known one: 256 revocations of a household with several
    /// computers. A ring is full long before the epochs are used up.
    public static let largestEpochStep: UInt32 = 1 << 16
    /// The highest epoch of a device's first key.
    public static let largestFirstEpoch: UInt32 = 1 << 31
    /// The limit for keys from other devices. The rest of a ring is for this device's own keys.
    public static let maximumGiven = KeyRing.maximumEntries - 256

    /// Adds keys; known ones change nothing.
    /// - Parameter madeHere: they are not another device's.
    /// - Throws: `RecordRefusal.unreadable` if a key differs from the known one of its epoch, an epoch is too high, or the
    ///   ring is full.
    public mutating func add(_ keys: KeyRing, madeHere: Bool = false) throws(RecordRefusal) {
        let newest = epoch
        let farthest =
            newest == 0
            ? Self.largestFirstEpoch
            : newest.addingReportingOverflow(Self.largestEpochStep)
                .partialValue
        var fresh = 0
        for entry in keys.entries {
            if let known = ring.key(entry.kind, vault: entry.vault, epoch: entry.epoch) {
                guard known == entry.key else { throw .unreadable }
                continue
            }
            fresh += 1
            guard entry.kind != .status || entry.epoch <= max(newest, farthest) else { throw .unreadable }
        }
        let room = madeHere ? KeyRing.maximumEntries - 2 : Self.maximumGiven
        guard fresh == 0 || ring.entries.count + fresh <= room else { throw .unreadable }
        ring = KeyRing(ring.entries + keys.entries)
    }

    // MARK: Records of the household

    /// A record under the newest status key, signed.
    /// - Throws: `SealedFormatsError` with code `tooLarge`, or `RecordRefusal.unreadable` without a status key.
    public func seal(
        _ body: some Encodable, _ collection: RecordCollection, _ id: ItemID, revision: UInt64, replaces: UInt64? = nil
    ) throws -> HubRecord {
        guard let entry = ring.current(.status, vault: household) else { throw RecordRefusal.unreadable }
        let name = RecordName(vault: household, collection: collection, id: id, revision: revision)
        let envelope = try RecordEnvelope(
            sealing: try JSONEncoder().encode(body), as: name, vaultKey: entry.key, epoch: entry.epoch)
        return sign(name, epoch: entry.epoch, sealed: envelope.bytes, replaces: replaces)
    }

    /// - Throws: `RecordRefusal.unreadable`, or `StatusKeyMissing`.
    public func open<Body: Decodable>(_ record: CheckedRecord, as type: Body.Type = Body.self) throws -> Body {
        guard let sealed = record.sealed, let envelope = try? RecordEnvelope(bytes: sealed),
            envelope.wrapEpoch == record.epoch
        else { throw RecordRefusal.unreadable }
        guard let key = ring.key(.status, vault: household, epoch: record.epoch) else {
            throw StatusKeyMissing(epoch: record.epoch)
        }
        guard let body = try? envelope.open(as: record.name, vaultKey: key),
            let value = try? JSONDecoder().decode(type, from: body)
        else { throw RecordRefusal.unreadable }
        return value
    }

    // MARK: Signing

    /// Signs what is sealed already; the author is this device.
    public func sign(
        _ name: RecordName, epoch: UInt32, sealed: [UInt8]?, blobs: [ItemID] = [], replaces: UInt64? = nil
    ) -> HubRecord {
        let signature = RecordSignature.sign(name, epoch: epoch, blobs: blobs, sealed: sealed, with: signingKey)
        return HubRecord(
            collection: name.collection.rawValue, id: HubID(name.id), vault: HubID(name.vault), revision: name.revision,
            epoch: epoch, author: HubID(device), sealed: sealed.map { Data($0) }, blobs: blobs.map { HubID($0) },
            signature: Data(signature), replaces: replaces)
    }
}

/// A record is sealed under a status key that this device has not received yet.
public struct StatusKeyMissing: Error, Equatable, Sendable {
    public let epoch: UInt32
}

extension HouseholdSecrets {
    /// The request to join by this invitation.
    /// - Throws: `SealedFormatsError` where the name is too long.
    public func joinRequest(to invitation: Invitation, as role: HubDeviceRole, name: String) throws -> JoinRequest {
        let joining = try Invitation.Joining(
            signingKey: signingKey.publicKey, boxKey: boxKey.publicKey, name: name)
        return JoinRequest(
            proof: Data(invitation.proof), device: HubID(device), role: role, tokenHash: tokenHash,
            sealed: Data(invitation.seal(joining)))
    }
}
