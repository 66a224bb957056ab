import Foundation

@testable import SealedFormats

/// The sealed formats, under keys that are the same in every run.
extension FuzzedParser {
    private static let key = secret([UInt8](1...32))
    private static let id = ItemID(bytes: [UInt8](1...16))!
    private static let name = RecordName(vault: id, collection: .notes, id: id, revision: 1)
    private static let boxKeys = try! BoxKeyPair(privateKey: key)
    private static let stretched = KeySlots.StretchedKey(key: key)

    private static func secret(_ bytes: some Collection<UInt8>) -> SecretBytes {
        var bytes = Array(bytes)
        return SecretBytes(wiping: &bytes)
    }

    static func slots(_ bytes: [UInt8]) {
        guard let slots = try? KeySlots(bytes: bytes) else { return }
        same(slots.bytes, as: bytes)
        _ = slots.open(stretched)
    }

    static func ring(_ bytes: [UInt8]) {
        _ = try? KeyRing(sealed: bytes, rootKey: key)
        guard let ring = try? KeyRing(plaintext: secret(bytes)) else { return }
        same(ring.plaintext.withUnsafeBytes { Array($0) }, as: bytes)
        let again = try? KeyRing(sealed: ring.sealed(under: key), rootKey: key)
        precondition(again?.entries.count == ring.entries.count, "a ring that was sealed does not open")
    }

    static func envelope(_ bytes: [UInt8]) {
        guard let envelope = try? RecordEnvelope(bytes: bytes) else { return }
        same(envelope.bytes, as: bytes)
        _ = try? envelope.open(as: name, vaultKey: key)
    }

    /// As a header with one chunk, and its first 8 bytes as the size of sealed content.
    static func stream(_ bytes: [UInt8]) {
        let size = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        for chunkSize in ContentStream.ChunkSize.allCases {
            guard let layout = try? ContentStream.Layout(sealedSize: size, chunkSize: chunkSize) else { continue }
            precondition(layout.sealedSize == size, "a layout of another size")
            precondition(layout.range(ofChunk: layout.chunkCount - 1).upperBound == size, "chunks that don't fill it")
        }
        let header = Array(bytes.prefix(ContentStream.headerLength))
        _ = try? ContentStream(opening: header, name: ContentStream.Name(purpose: "fuzz"), key: key)
        let sealing = ContentStream(sealing: ContentStream.Name(purpose: "fuzz"), key: key, chunkSize: .kibi64)
        _ = try? sealing.open(bytes, index: 0, isLast: true)
        _ = try? sealing.open(bytes, index: 1, isLast: true)
    }

    /// As a box, as what a box holds, and as a public key.
    static func box(_ bytes: [UInt8]) {
        _ = try? PublicKeyBox.open(bytes, as: name, with: boxKeys)
        if bytes.count > 5 + 8 {
            // After the recipient, which fuzzing can't guess.
            let addressed = bytes[..<5] + boxKeys.publicKey.fingerprint + bytes[13...]
            _ = try? PublicKeyBox.open(Array(addressed), as: name, with: boxKeys)
        }
        if let key = try? BoxPublicKey(bytes: bytes) { same(key.bytes, as: bytes) }
        if let key = try? DevicePublicKey(bytes: bytes) { _ = key.verify(bytes, of: bytes, purpose: "") }
        var padded = Data(bytes)
        if let body = Padding.unpad(wiping: &padded) {
            precondition((try? Padding.pad(body)).map { Array($0) } == bytes, "padding in two spellings")
        }
    }

    static func lockedFile(_ bytes: [UInt8]) {
        _ = try? LockedFileHeader.envelopeLength(inFixed: bytes)
        guard let header = try? LockedFileHeader(bytes: bytes) else { return }
        same(header.bytes, as: bytes)
    }

    static func backup(_ bytes: [UInt8]) {
        if let entry = try? BackupEntry(header: bytes) { same(entry.header, as: bytes) }
        guard let header = try? BackupHeader(bytes: bytes) else { return }
        same(header.bytes, as: bytes)
        _ = header.slots.open(stretched)
    }

    static func earlier(_ bytes: [UInt8]) {
        _ = EarlierContainer.isOne(bytes)
        _ = try? EarlierContainer.open(bytes, passcode: key, purpose: .backup)
    }

    static func verifier(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let verifier = try? PasscodeVerifier(text: text) else { return }
        precondition(verifier.text == text, "a verifier in two spellings")
    }

    /// A recovery code, an audit chain's head, an id, the name of a collection.
    static func texts(_ bytes: [UInt8]) {
        if let code = try? RecoveryCode(text: secret(bytes)) {
            let again = try? RecoveryCode(text: code.printed)
            precondition(again?.passcode == code.passcode, "a recovery code that does not read back")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if let head = AuditChain.Head(text) { precondition(head.description == text, "a head in two spellings") }
        if let id = ItemID(text) { precondition(id.description == text, "an id in two spellings") }
        if let id = ItemID(bytes: bytes) { same(id.bytes, as: bytes) }
        _ = RecordCollection(rawValue: text)
    }
}
