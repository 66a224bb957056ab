import Foundation
import Glibc
import SealedFormats

/// The body of a locked file's envelope: JSON as specified in `docs/formats.md`.
struct LockedFileBody: Codable {
    /// The file name when it was locked, without its folder.
    var name: String
    /// Size in bytes.
    var size: UInt64
    /// Permission bits with set-user, set-group and sticky.
    var mode: UInt32
    /// Seconds since 1970 with nine decimals.
    var modified: String
    /// Extended attributes by name.
    var attributes: [String: Data]
    /// 32 bytes.
    var contentKey: Data

    init(_ status: FileStatus, name: String, attributes: [String: Data], contentKey: SecretBytes) {
        self.name = name
        size = status.size
        mode = UInt32(status.mode)
        modified = status.modified.text
        self.attributes = attributes
        self.contentKey = contentKey.withUnsafeBytes { Data($0) }
    }

    /// - Throws: `FileLockingError` with code `tooLarge` if the extended attributes don't fit in a header.
    func encoded(path: String) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(self)
        guard data.count <= Self.maximumLength else {
            throw FileLockingError(
                .tooLarge,
                "\(path) has more extended attributes than a locked file keeps (about 20 KiB); remove some first.")
        }
        return data
    }

    /// The limit of the JSON, in bytes.
    static let maximumLength = 32 << 10

    /// - Throws: `FileLockingError` with code `damaged`.
    init(decoding data: Data, path: String) throws {
        do {
            self = try JSONDecoder().decode(LockedFileBody.self, from: data)
        } catch {
            throw FileLockingError(
                .damaged, "The metadata of \(path) has an unknown version; install a newer AppLocker.",
                cause: error)
        }
        guard contentKey.count == ContentStream.keyLength, mode <= 0o7777, FileStatus.Time(text: modified) != nil else {
            throw FileLockingError(
                .damaged, "The metadata of \(path) is invalid; restore it from a backup.")
        }
    }

    /// Returns the content key and wipes the copy in this value.
    mutating func takeContentKey() -> SecretBytes {
        defer { contentKey = Data() }
        return contentKey.withUnsafeMutableBytes { SecretBytes(wiping: $0) }
    }
}

extension FileStatus.Time {
    /// Seconds with nine decimals. Before 1970 the decimals count backwards, while the kernel's nanoseconds always
    /// count forwards.
    var text: String {
        let isBefore = seconds < 0
        let (whole, rest) =
            isBefore && nanoseconds > 0
            ? ((seconds + 1).magnitude, 1_000_000_000 - nanoseconds) : (seconds.magnitude, nanoseconds)
        let digits = String(rest)
        return (isBefore ? "-" : "") + "\(whole)." + String(repeating: "0", count: 9 - digits.count) + digits
    }

    /// Nil for anything but the format of `text`.
    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 9, let whole = Int(parts[0].drop { $0 == "-" }),
            let rest = Int(parts[1]), rest >= 0, whole < 1 << 60
        else { return nil }
        if text.hasPrefix("-") {
            self.init(seconds: rest > 0 ? -whole - 1 : -whole, nanoseconds: rest > 0 ? 1_000_000_000 - rest : 0)
        } else {
            self.init(seconds: whole, nanoseconds: rest)
        }
        guard self.text == text else { return nil }
    }
}
