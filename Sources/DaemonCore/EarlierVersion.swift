public import SealedFormats

/// A version of a record of a vault that another device replaced or removed. It is kept for a while, so that what a stolen
/// device did can be undone.
public struct EarlierVersion: Hashable, Sendable {
    /// In the order in which they were replaced.
    public let number: Int64
    public let collection: RecordCollection
    public let id: ItemID
    /// The device whose change this version is, also where this computer has sealed it anew since.
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

    /// As long as a hub keeps what no record names any more, unless its operator chose another time.
    public static let retentionSeconds: Double = 30 * 86_400
    /// Of one record. Beyond it those go that were in force for the shortest time: a device that rewrites a record again and
    /// again removes its own versions, not the one that it found.
    public static let maximumPerRecord = 32
    /// Of all of them, in sealed bytes. Beyond it the same ones go.
    public static let maximumBytes = 1 << 30
}
