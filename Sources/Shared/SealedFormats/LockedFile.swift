/// What a locked file, `.aplk`, begins with: everything but the stream of its content.
public struct LockedFileHeader: Sendable {
    /// Of what stands before the envelope, in bytes.
    public static let fixedLength = 44
    /// The longest envelope that is read, in bytes.
    public static let maximumEnvelopeLength = 1 << 20

    public let vault: ItemID
    public let id: ItemID
    public let envelope: RecordEnvelope

    public init(vault: ItemID, id: ItemID, envelope: RecordEnvelope) {
        self.vault = vault
        self.id = id
        self.envelope = envelope
    }

    /// What the envelope is sealed as.
    public static func name(vault: ItemID, id: ItemID) -> RecordName {
        RecordName(vault: vault, collection: .lockedFiles, id: id, revision: 1)
    }

    public static func streamName(vault: ItemID, id: ItemID) -> ContentStream.Name {
        ContentStream.Name(vault: vault, collection: .lockedFiles, id: id)
    }

    public var bytes: [UInt8] {
        let envelope = envelope.bytes
        return Container.start(version: 2, purpose: .lockedFile) + vault.bytes + id.bytes
            + UInt32(envelope.count).bigEndianBytes + envelope
    }

    /// How long the envelope is, from the first 44 bytes of a file.
    /// - Throws: `SealedFormatsError` with code `malformed` or `unknownVersion`.
    public static func envelopeLength(inFixed bytes: [UInt8]) throws(SealedFormatsError) -> Int {
        var reader = try fixedPart(bytes)
        _ = try reader.bytes(32)
        let length = Int(try reader.number(UInt32.self))
        guard 1...maximumEnvelopeLength ~= length else { throw reader.malformed() }
        return length
    }

    /// - Parameter bytes: the fixed part and the envelope.
    /// - Throws: `SealedFormatsError` with code `malformed` or `unknownVersion`.
    public init(bytes: [UInt8]) throws(SealedFormatsError) {
        let length = try Self.envelopeLength(inFixed: Array(bytes.prefix(Self.fixedLength)))
        var reader = try Self.fixedPart(bytes)
        vault = try reader.id()
        id = try reader.id()
        _ = try reader.number(UInt32.self)
        envelope = try RecordEnvelope(bytes: try reader.bytes(length))
        try reader.end()
    }

    private static func fixedPart(_ bytes: [UInt8]) throws(SealedFormatsError) -> ByteReader {
        var reader = ByteReader(bytes, subject: "locked file")
        try reader.magic("APLK", version: 2)
        guard try reader.number(UInt8.self) == Container.Purpose.lockedFile.rawValue else { throw reader.malformed() }
        try reader.zeros(2)
        return reader
    }
}

/// The start that locked files and backups share.
enum Container {
    enum Purpose: UInt8 {
        case backup = 1
        case lockedFile = 2
    }

    static func start(version: UInt8, purpose: Purpose) -> [UInt8] {
        Array("APLK".utf8) + [version, purpose.rawValue, 0, 0]
    }
}
