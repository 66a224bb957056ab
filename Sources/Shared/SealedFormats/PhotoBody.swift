import Crypto
public import Foundation

/// What is inside the record of a photo, a video or a voice note (docs/formats.md, "Moments and photos").
public struct PhotoBody: Equatable, Sendable {
    /// One size of a picture: a stream in a blob.
    public struct Size: Codable, Equatable, Sendable {
        /// A media type, one of `types`, or of a recording's original one of `recordingTypes`.
        public var type: String
        /// In bytes, before it is sealed.
        public var size: Int
        /// 32 bytes, of this one stream.
        public var key: Data
        public var blob: ItemID

        public init(type: String, size: Int, key: Data, blob: ItemID) {
            self.type = type
            self.size = size
            self.key = key
            self.blob = blob
        }

        /// - Parameter most: in bytes.
        fileprivate func isRight(_ types: Set<String> = PhotoBody.types, most: Int) -> Bool {
            types.contains(type) && 1...most ~= size && key.count == ContentStream.keyLength
        }

        /// As stored in its blob, in bytes.
        public var sealedSize: UInt64 {
            ContentStream.Layout(contentSize: UInt64(size), chunkSize: .mebi1).sealedSize
        }
    }

    private struct Facts: Codable {
        var width: Int
        var height: Int
        var taken: Double?
        var original: Size
        var medium: Size?
    }

    /// Of the original, upright, in pixels.
    public var width: Int
    public var height: Int
    /// When it was taken according to the picture, seconds since 1970.
    public var taken: Double?
    public var original: Size
    /// A JPEG whose longer side is at most 2,048 pixels; nil where the original is one of at most `maximumMediumBytes`.
    public var medium: Size?
    /// A JPEG whose longer side is at most 320 pixels.
    public var thumbnail: Data

    public init(
        width: Int, height: Int, taken: Double?, original: Size, medium: Size?, thumbnail: Data
    ) {
        self.width = width
        self.height = height
        self.taken = taken
        self.original = original
        self.medium = medium
        self.thumbnail = thumbnail
    }

    public static let types: Set<String> = [
        "image/jpeg", "image/png", "image/webp", "image/heic", "image/avif", "image/gif",
    ]
    /// Of videos and voice notes, which are stored as they were chosen or recorded.
    public static let recordingTypes: Set<String> = [
        "video/mp4", "video/quicktime", "video/webm", "audio/mp4", "audio/webm", "audio/mpeg", "audio/ogg", "audio/wav",
    ]
    /// Of a stored recording, in bytes: it is never opened as a whole.
    public static let maximumRecordingBytes = 1 << 32
    /// Of a chosen file, in bytes.
    public static let maximumOriginal = 50 << 20
    /// Of an original as it is stored: what is drawn again of a chosen file may be larger than the file.
    public static let maximumOriginalBytes = 256 << 20
    /// Of a medium size, and of an original that is shown in its place.
    public static let maximumMediumBytes = 16 << 20
    /// In bytes.
    public static let maximumThumbnail = 16_384
    public static let thumbnailSide = 320
    public static let mediumSide = 2_048
    /// Of a picture, in pixels.
    static let sides = 1...(1 << 17)

    /// The content that the record names, in its order.
    public var blobs: [ItemID] { [original.blob] + (medium.map { [$0.blob] } ?? []) }

    /// - Parameter blobs: that the record names.
    /// - Throws: `SealedFormatsError` with code `malformed`.
    public init(bytes: Data, blobs: [ItemID]) throws(SealedFormatsError) {
        var reader = ByteReader(Array(bytes), subject: "photo")
        let length: UInt32 = try reader.number()
        guard let length = Int(exactly: length), length <= reader.remaining else { throw Self.malformed }
        let json = Data(try reader.bytes(length))
        guard let facts = try? JSONDecoder().decode(Facts.self, from: json),
            // A size that is null is not an absent one.
            let keys = (try? JSONSerialization.jsonObject(with: json)) as? [String: Any],
            keys["medium"] == nil || facts.medium != nil
        else { throw Self.malformed }
        self.init(
            width: facts.width, height: facts.height, taken: facts.taken, original: facts.original,
            medium: facts.medium, thumbnail: Data(reader.rest()))
        guard isRight, self.blobs == blobs else { throw Self.malformed }
    }

    /// - Throws: `SealedFormatsError` with code `malformed` for what no reader would take.
    public func bytes() throws(SealedFormatsError) -> Data {
        let facts = Facts(width: width, height: height, taken: taken, original: original, medium: medium)
        guard isRight, let json = try? Self.encoder.encode(facts) else { throw Self.malformed }
        return Data(UInt32(json.count).bigEndianBytes) + json + thumbnail
    }

    private var isRight: Bool {
        Self.sides.contains(width) && Self.sides.contains(height) && taken.map(MomentBody.times.contains) ?? true
            && isOriginalRight && medium?.isRight(most: Self.maximumMediumBytes) ?? true
            && medium?.blob != original.blob
            && 1...Self.maximumThumbnail ~= thumbnail.count
    }

    /// Whether the original is a video or a voice note; medium size and thumbnail are its poster.
    public var isRecording: Bool { Self.recordingTypes.contains(original.type) }

    private var isOriginalRight: Bool {
        guard isRecording else {
            return original.isRight(most: medium == nil ? Self.maximumMediumBytes : Self.maximumOriginalBytes)
        }
        return medium != nil && original.isRight(Self.recordingTypes, most: Self.maximumRecordingBytes)
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    private static var malformed: SealedFormatsError {
        SealedFormatsError(
            .malformed,
            "A photo has a size in pixels, a thumbnail of at most 16,384 bytes, and content of a known type.")
    }
}

/// Determines whether a file is already in a vault (docs/formats.md, "Moments and photos").
public enum PhotoHash {
    /// 40 hexadecimal digits.
    /// - Parameters:
    ///   - vaultKey: 32 bytes, of this epoch.
    ///   - digest: SHA-256 of the chosen file.
    public static func make(vaultKey: SecretBytes, epoch: UInt32, vault: ItemID, digest: some Collection<UInt8>)
        -> String
    {
        var info = Fields("applocker/1/photo-hash")
        info.add(vault.bytes)
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: vaultKey.withUnsafeBytes { SymmetricKey(data: $0) }, salt: [UInt8](), info: info.bytes,
            outputByteCount: 32)
        let code = HMAC<SHA256>.authenticationCode(for: Array(digest), using: key)
        return Hexadecimal.encode(epoch.bigEndianBytes + Array(code).prefix(16))
    }

    /// The epoch of the vault key that a hash was made with; nil for what is no hash.
    public static func epoch(of hash: String) -> UInt32? { UInt32(hash.prefix(8), radix: 16) }
}
