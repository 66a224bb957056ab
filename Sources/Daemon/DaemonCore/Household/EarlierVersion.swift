public import SealedFormats

/// A version of a vault's record that another device replaced or removed. It is kept for a while, so that changes of a
/// stolen device can be undone.
public struct EarlierVersion: Hashable, Sendable {
    /// In the order in which they were replaced.
    public let number: Int64
    public let collection: RecordCollection
    public let id: ItemID
    /// The device whose change this version is, even if this computer has sealed it again since.
    public let writer: ItemID
    /// The device that replaced it.
    public let replacer: ItemID
    /// When the replacement arrived, in seconds since 1970 by this computer's clock.
    public let replaced: Double

    public init(
        number: Int64, collection: RecordCollection, id: ItemID, writer: ItemID, replacer: ItemID, replaced: Double
    ) {
        self.number = number
        self.collection = collection
        self.id = id
        self.writer = writer
        self.replacer = replacer
        self.replaced = replaced
    }

    /// As long as a hub keeps content that no record names, unless its operator has set another time.
    public static let retentionSeconds: Double = 30 * 86_400
    /// The limit for one record. Beyond it, the versions that were in force for the shortest time are removed: a device
    /// that rewrites a record repeatedly removes its own versions, not the original.
    public static let maximumPerRecord = 32
    /// The limit for all of them, in sealed bytes. Beyond it, versions are removed by the same rule.
    public static let maximumBytes = 1 << 30
}
