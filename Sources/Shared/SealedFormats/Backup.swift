import Crypto
public import Foundation

/// What a backup, `.aplockerbackup`, begins with: everything but the stream of its entries.
public struct BackupHeader: Sendable {
    /// In bytes.
    public static let length = 8 + KeySlots.length

    /// The passphrase's, without a mixed secret. Its root key is the stream's content key.
    public let slots: KeySlots

    public init(slots: KeySlots) {
        precondition(!slots.usesMixedSecret, "a backup opens with its passphrase alone")
        self.slots = slots
    }

    public static var streamName: ContentStream.Name { ContentStream.Name(purpose: "backup") }

    public var bytes: [UInt8] { Self.start + slots.bytes }

    private static var start: [UInt8] { Container.start(version: 2, purpose: .backup) }

    /// Whether a file begins as a backup of this version does.
    public static func isBeginning(_ bytes: [UInt8]) -> Bool { bytes.starts(with: start) }

    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion`, `unknownAlgorithm` or
    ///   `parametersOutOfRange`.
    public init(bytes: [UInt8]) throws(SealedFormatsError) {
        var reader = ByteReader(bytes, subject: "backup")
        try reader.magic("APLK", version: 2)
        guard try reader.number(UInt8.self) == Container.Purpose.backup.rawValue else { throw reader.malformed() }
        try reader.zeros(2)
        do {
            slots = try KeySlots(bytes: reader.rest())
        } catch {
            throw SealedFormatsError(
                error.code,
                error.code == .malformed
                    ? "The beginning of the backup is damaged. Use another copy of it."
                    : "This AppLocker can't read the backup: it is damaged, or a newer AppLocker made it.",
                cause: error)
        }
        guard !slots.usesMixedSecret else { throw reader.malformed() }
    }
}

/// One entry of a backup's content.
public struct BackupEntry: Hashable, Sendable {
    public enum Kind: UInt8, Sendable {
        case manifest = 1
        case settings = 2
        case keyRing = 3
        case record = 4
        case blob = 5
        case end = 255
    }

    /// Before the bytes.
    public static let headerLength = 9
    /// Of an entry that is read whole, in bytes; only blobs may be larger.
    public static let maximumLength: UInt64 = 32 << 20

    public let kind: Kind
    /// In bytes.
    public let length: UInt64

    public init(kind: Kind, length: UInt64) {
        self.kind = kind
        self.length = length
    }

    /// 9 bytes.
    public var header: [UInt8] { [kind.rawValue] + length.bigEndianBytes }

    /// - Throws: `SealedFormatsError` with code `malformed` or `tooLarge`.
    public init(header: [UInt8]) throws(SealedFormatsError) {
        var reader = ByteReader(header, subject: "backup")
        guard let kind = Kind(rawValue: try reader.number(UInt8.self)) else { throw reader.malformed() }
        length = try reader.number()
        self.kind = kind
        try reader.end()
        switch kind {
        case .blob: guard length >= UInt64(ItemID.length) else { throw reader.malformed() }
        case .end: guard length == 0 else { throw reader.malformed() }
        case .manifest, .settings, .keyRing, .record: break
        }
        if kind != .blob, length > Self.maximumLength {
            throw SealedFormatsError(.tooLarge, "The backup has an entry of \(length) bytes, above the limit.")
        }
    }
}

/// Version 1 of backups and locked files: opened, never written.
public enum EarlierContainer {
    public enum Purpose: String, Sendable {
        case backup = "export"
        case lockedFile = "filelockr"
    }

    private static let headerLength = 4 + 1 + 32
    /// The longest backup of the earlier AppLocker that is read, in bytes.
    public static let maximumBackupLength: UInt64 = 64 << 20

    /// Whether these are the first bytes of a container of version 1.
    public static func isOne(_ bytes: [UInt8]) -> Bool { bytes.starts(with: Array("APLK".utf8) + [1]) }

    /// Opens all of it at once, as it was sealed.
    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion` or `wrongKey`.
    public static func open(
        _ bytes: [UInt8], passcode: SecretBytes, purpose: Purpose
    ) throws(SealedFormatsError) -> Data {
        var reader = ByteReader(bytes, subject: "file of the earlier AppLocker")
        try reader.magic("APLK")
        let salt = try reader.bytes(32)
        let nonce = try reader.bytes(12)
        guard reader.remaining >= GCM.tagLength else { throw reader.malformed() }
        let key = salt.withUnsafeBytes {
            KeyDerivation.hkdf(passcode, salt: SecretBytes(copying: $0), info: purpose.rawValue)
        }
        let sealed = reader.rest()
        guard let plaintext = GCM.open(sealed, key: key.withUnsafeBytes { SymmetricKey(data: $0) }, nonce: nonce) else {
            throw SealedFormatsError(
                .wrongKey, "Wrong passcode, or the file was changed; the earlier format can't distinguish these.")
        }
        return plaintext
    }
}
