import Crypto
public import Foundation

/// Large content, sealed in chunks that open one by one: the STREAM construction of Hoang, Reyhanitabar, Rogaway and
/// Vizár (CRYPTO 2015) with AES-256-GCM.
public struct ContentStream: Sendable {
    /// Of the header, in bytes.
    public static let headerLength = 72
    /// Of a content key, in bytes.
    public static let keyLength = 32

    /// Of a chunk's plaintext but the last one's, in bytes.
    public enum ChunkSize: UInt8, CaseIterable, Sendable {
        case kibi64 = 16
        case kibi256 = 18
        case mebi1 = 20

        public var bytes: Int { 1 << Int(rawValue) }
    }

    /// What the stream belongs to; it opens under no other name.
    public struct Name: Hashable, Sendable {
        fileprivate let bytes: [UInt8]

        /// Of a record's content.
        public init(vault: ItemID, collection: RecordCollection, id: ItemID) {
            var fields = Fields()
            fields.add(vault.bytes)
            fields.add(collection.rawValue)
            fields.add(id.bytes)
            bytes = fields.bytes
        }

        /// Of a stream that stands alone.
        public init(purpose: String) { bytes = Fields(purpose).bytes }
    }

    public let chunkSize: ChunkSize
    /// The 72 bytes that the sealed content begins with.
    public let header: [UInt8]
    private let key: SymmetricKey
    private let noncePrefix: [UInt8]

    /// For sealing. The key, 32 bytes, must be fresh: it is for this one content.
    public init(sealing name: Name, key: SecretBytes, chunkSize: ChunkSize = .mebi1) {
        let start = Self.start(chunkSize)
        let salt = CommittedKey.freshSalt()
        let committed = CommittedKey(key, salt: salt, info: Self.boundData(start, name))
        self.chunkSize = chunkSize
        header = start + salt + committed.commitment
        self.key = committed.key
        noncePrefix = committed.noncePrefix
    }

    /// For opening what begins with this header.
    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion`, `parametersOutOfRange` or `wrongKey`.
    public init(opening header: [UInt8], name: Name, key: SecretBytes) throws(SealedFormatsError) {
        var reader = ByteReader(header, subject: "sealed content")
        try reader.magic("APST")
        let logarithm = try reader.number(UInt8.self)
        guard let chunkSize = ChunkSize(rawValue: logarithm) else {
            throw SealedFormatsError(
                .parametersOutOfRange,
                "The sealed content has an unknown chunk size; install a newer AppLocker.")
        }
        try reader.zeros(2)
        let salt = try reader.bytes(CommittedKey.saltLength)
        let commitment = try reader.bytes(CommittedKey.commitmentLength)
        try reader.end()
        let committed = CommittedKey(key, salt: salt, info: Self.boundData(Self.start(chunkSize), name))
        guard committed.matches(commitment) else {
            throw SealedFormatsError(
                .wrongKey, "The content belongs to another record, or its start is damaged; it can't be opened here.")
        }
        self.chunkSize = chunkSize
        self.header = header
        self.key = committed.key
        noncePrefix = committed.noncePrefix
    }

    /// One chunk: ciphertext, then the tag of 16 bytes. The indices of what is returned don't begin at 0.
    /// - Parameters:
    ///   - plaintext: exactly `chunkSize.bytes`, or fewer where it is the last; none only where it is also the first.
    ///   - index: from 0. Each index is sealed once.
    public func seal(_ plaintext: some DataProtocol, index: UInt32, isLast: Bool) -> Data {
        precondition(
            isLast
                ? plaintext.count <= chunkSize.bytes && (!plaintext.isEmpty || index == 0)
                : plaintext.count == chunkSize.bytes, "a chunk of a wrong size")
        return GCM.seal(plaintext, key: key, nonce: nonce(index, isLast))
    }

    /// - Parameter chunk: ciphertext and tag.
    /// - Throws: `SealedFormatsError` with code `damaged`: changed, out of place, or the end is missing.
    public func open(_ chunk: some DataProtocol, index: UInt32, isLast: Bool) throws(SealedFormatsError) -> Data {
        let length = chunk.count - GCM.tagLength
        let isAllowed = isLast ? length <= chunkSize.bytes && (length > 0 || index == 0) : length == chunkSize.bytes
        guard isAllowed, let plaintext = GCM.open(chunk, key: key, nonce: nonce(index, isLast)) else {
            throw SealedFormatsError(
                .damaged,
                "The content is damaged at chunk \(index): changed, out of order or truncated. Restore it from a backup."
            )
        }
        return plaintext
    }

    private func nonce(_ index: UInt32, _ isLast: Bool) -> [UInt8] {
        noncePrefix + index.bigEndianBytes + [isLast ? 1 : 0]
    }

    private static func start(_ chunkSize: ChunkSize) -> [UInt8] {
        Array("APST".utf8) + [1, chunkSize.rawValue, 0, 0]
    }

    private static func boundData(_ start: [UInt8], _ name: Name) -> [UInt8] {
        var fields = Fields("applocker/1/stream")
        fields.add(start)
        fields.add(name.bytes)
        return fields.bytes
    }
}

// MARK: Sizes

extension ContentStream {
    /// Where the chunks of content of some size lie.
    public struct Layout: Hashable, Sendable {
        public let chunkSize: ChunkSize
        /// Of the plaintext, in bytes.
        public let contentSize: UInt64

        public init(contentSize: UInt64, chunkSize: ChunkSize) {
            self.contentSize = contentSize
            self.chunkSize = chunkSize
        }

        /// - Parameter sealedSize: with the header, in bytes.
        /// - Throws: `SealedFormatsError` with code `malformed` for a size that nothing has.
        public init(sealedSize: UInt64, chunkSize: ChunkSize) throws(SealedFormatsError) {
            let malformed = SealedFormatsError(
                .malformed, "The sealed content is truncated; restore it from a backup.")
            let sealedChunk = UInt64(chunkSize.bytes + GCM.tagLength)
            guard sealedSize >= UInt64(ContentStream.headerLength + GCM.tagLength) else { throw malformed }
            let body = sealedSize - UInt64(ContentStream.headerLength)
            let (full, rest) = body.quotientAndRemainder(dividingBy: sealedChunk)
            guard full + (rest > 0 ? 1 : 0) <= 1 << 32, rest == 0 || rest > 16 || full == 0 else { throw malformed }
            let last = rest == 0 ? 0 : rest - UInt64(GCM.tagLength)
            self.init(contentSize: full * UInt64(chunkSize.bytes) + last, chunkSize: chunkSize)
        }

        /// At least 1: empty content is one empty chunk.
        public var chunkCount: UInt64 {
            let (full, rest) = contentSize.quotientAndRemainder(dividingBy: UInt64(chunkSize.bytes))
            return max(1, full + (rest > 0 ? 1 : 0))
        }

        /// With the header, in bytes.
        public var sealedSize: UInt64 {
            UInt64(ContentStream.headerLength) + contentSize + chunkCount * UInt64(GCM.tagLength)
        }

        /// Of the sealed chunk, in bytes from the start of the header.
        public func range(ofChunk index: UInt64) -> Range<UInt64> {
            let sealedChunk = UInt64(chunkSize.bytes + GCM.tagLength)
            let start = UInt64(ContentStream.headerLength) + index * sealedChunk
            return start..<min(start + sealedChunk, sealedSize)
        }
    }
}
