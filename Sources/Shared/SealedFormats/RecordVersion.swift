import Crypto

/// Names one version of a record: two devices that wrote the same revision of it wrote two versions.
public enum RecordVersion {
    /// In bytes.
    public static let length = 8
    /// So many versions are kept of each record, the newest.
    public static let maximumCount = 16

    /// - Parameter sealed: nil for a tombstone.
    public static func digest(revision: UInt64, sealed: [UInt8]?) -> [UInt8] {
        var fields = Fields("applocker/1/version")
        fields.add(revision)
        fields.add(sealed ?? [])
        return Array(SHA256.hash(data: fields.bytes).prefix(length))
    }

    /// The versions that are in a list, one after the other.
    public static func versions(in bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count - bytes.count % length, by: length).map { Array(bytes[$0..<$0 + length]) }
    }
}
