import Crypto
public import Foundation

/// A small record, sealed under a vault key by way of an item key of its own.
public struct RecordEnvelope: Hashable, Sendable {
    /// Before the body, in bytes.
    static let headerLength = 128

    /// Of the vault key that wraps the item key.
    public let wrapEpoch: UInt32
    /// In which the body was sealed; below `wrapEpoch` after a change of the vault key.
    public let bodyEpoch: UInt32
    private let salt: [UInt8]
    private let commitment: [UInt8]
    /// 48 bytes.
    private let wrappedKey: [UInt8]
    private let body: Data

    /// Seals a body, at most 16 MiB less its padding, under a fresh item key.
    /// - Parameters:
    ///   - vaultKey: 32 bytes, of this epoch.
    ///   - epoch: from 1.
    /// - Throws: `SealedFormatsError` with code `tooLarge`.
    public init(
        sealing plaintext: some Collection<UInt8>, as name: RecordName, vaultKey: SecretBytes, epoch: UInt32
    ) throws(SealedFormatsError) {
        precondition(epoch > 0, "epochs count from 1")
        var padded = try Padding.pad(plaintext)
        defer { padded.withUnsafeMutableBytes { wipe($0) } }
        let itemKey = SecretBytes.random(count: 32)
        let body = GCM.seal(
            padded, key: Self.bodyKey(itemKey), data: Self.boundData("applocker/1/body", name, epoch: epoch))
        self.init(itemKey, body: body, bodyEpoch: epoch, as: name, vaultKey: vaultKey, epoch: epoch)
    }

    private init(
        _ itemKey: SecretBytes, body: Data, bodyEpoch: UInt32, as name: RecordName, vaultKey: SecretBytes, epoch: UInt32
    ) {
        let salt = CommittedKey.freshSalt()
        let wrapData = Self.boundData("applocker/1/wrap", name, epoch: epoch)
        let committed = CommittedKey(vaultKey, salt: salt, info: wrapData)
        wrapEpoch = epoch
        self.bodyEpoch = bodyEpoch
        self.salt = salt
        commitment = committed.commitment
        wrappedKey = Array(GCM.seal(itemKey, key: committed.key, data: wrapData))
        self.body = body
    }

    /// The body. Nothing of it is given out before all of it was authenticated.
    /// - Parameter vaultKey: of `wrapEpoch`.
    /// - Throws: `SealedFormatsError` with code `wrongKey` or `damaged`.
    public func open(as name: RecordName, vaultKey: SecretBytes) throws(SealedFormatsError) -> Data {
        let itemKey = try itemKey(as: name, vaultKey: vaultKey)
        guard
            var padded = GCM.open(
                body, key: Self.bodyKey(itemKey), data: Self.boundData("applocker/1/body", name, epoch: bodyEpoch)),
            let plaintext = Padding.unpad(wiping: &padded)
        else { throw Self.damaged }
        return plaintext
    }

    /// The same record under the vault key of another epoch; the body stays as it is.
    /// - Throws: as `open`; with code `parametersOutOfRange` where the epoch is below `wrapEpoch`.
    public func rewrapped(
        as name: RecordName, from oldKey: SecretBytes, to newKey: SecretBytes, epoch: UInt32
    ) throws(SealedFormatsError) -> RecordEnvelope {
        guard epoch >= wrapEpoch else {
            throw SealedFormatsError(
                .parametersOutOfRange,
                "The record has epoch \(wrapEpoch) and can't return to \(epoch); use the vault's newest key.")
        }
        return RecordEnvelope(
            try itemKey(as: name, vaultKey: oldKey), body: body, bodyEpoch: bodyEpoch, as: name, vaultKey: newKey,
            epoch: epoch)
    }

    private func itemKey(as name: RecordName, vaultKey: SecretBytes) throws(SealedFormatsError) -> SecretBytes {
        let wrapData = Self.boundData("applocker/1/wrap", name, epoch: wrapEpoch)
        let committed = CommittedKey(vaultKey, salt: salt, info: wrapData)
        guard committed.matches(commitment) else {
            throw SealedFormatsError(
                .wrongKey,
                "The record was sealed under another name or key, or is damaged; it can't be opened here.")
        }
        guard let itemKey = GCM.openSecret(wrappedKey, key: committed.key, data: wrapData) else { throw Self.damaged }
        return itemKey
    }

    private static func bodyKey(_ itemKey: SecretBytes) -> SymmetricKey {
        let material = itemKey.withUnsafeBytes { SymmetricKey(data: $0) }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material, info: Array("applocker/1/body-key".utf8), outputByteCount: 32)
    }

    private static func boundData(_ label: String, _ name: RecordName, epoch: UInt32) -> [UInt8] {
        var fields = Fields(label)
        fields.add(name.vault.bytes)
        fields.add(name.collection.rawValue)
        fields.add(name.id.bytes)
        fields.add(name.revision)
        fields.add(epoch)
        return fields.bytes
    }

    private static var damaged: SealedFormatsError {
        SealedFormatsError(.damaged, "The record was changed or truncated; restore it from a backup.")
    }
}

// MARK: Bytes

extension RecordEnvelope {
    public var bytes: [UInt8] {
        var bytes = Array("APEV".utf8)
        bytes.reserveCapacity(Self.headerLength + body.count)
        bytes += [1, 0, 0, 0]
        bytes += wrapEpoch.bigEndianBytes
        bytes += bodyEpoch.bigEndianBytes
        bytes += salt
        bytes += commitment
        bytes += wrappedKey
        bytes += body
        return bytes
    }

    /// - Throws: `SealedFormatsError` with code `malformed` or `unknownVersion`.
    public init(bytes: [UInt8]) throws(SealedFormatsError) {
        var reader = ByteReader(bytes, subject: "sealed record")
        try reader.magic("APEV")
        try reader.zeros(3)
        wrapEpoch = try reader.number()
        bodyEpoch = try reader.number()
        salt = try reader.bytes(CommittedKey.saltLength)
        commitment = try reader.bytes(CommittedKey.commitmentLength)
        wrappedKey = try reader.bytes(48)
        let length = reader.remaining - GCM.tagLength
        guard bodyEpoch > 0, bodyEpoch <= wrapEpoch, Padding.minimumLength...Padding.maximumLength ~= length else {
            throw reader.malformed()
        }
        body = Data(reader.rest())
    }
}
