/// Where a record belongs. It is stored in clear beside the sealed bytes, and they open under no other name.
public struct RecordName: Hashable, Sendable {
    public var vault: ItemID
    public var collection: RecordCollection
    public var id: ItemID
    /// From 1; each write is the next.
    public var revision: UInt64

    public init(vault: ItemID, collection: RecordCollection, id: ItemID, revision: UInt64) {
        self.vault = vault
        self.collection = collection
        self.id = id
        self.revision = revision
    }
}

/// A kind of record: 1 to 32 characters of a-z and "-".
public struct RecordCollection: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    /// Returns nil for anything else.
    public init?(rawValue: String) {
        let isAllowed = rawValue.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == 45 }
        guard 1...32 ~= rawValue.utf8.count, isAllowed else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    public static let notes = RecordCollection(known: "notes")
    public static let files = RecordCollection(known: "files")
    public static let lockedFiles = RecordCollection(known: "locked-files")
    public static let intruders = RecordCollection(known: "intruders")
    public static let moments = RecordCollection(known: "moments")
    public static let photos = RecordCollection(known: "photos")
    /// Comments on moments and reactions to them.
    public static let remarks = RecordCollection(known: "remarks")
    /// Special dates, and the day that days together are counted from.
    public static let dates = RecordCollection(known: "dates")
    /// The log of a vault. Nobody changes an entry, or signs one of another device.
    public static let audit = RecordCollection(known: "audit")
    /// What the members call a shared vault.
    public static let about = RecordCollection(known: "about")
    /// How a household's phones get into its shared vaults. Computers keep these records and read none.
    public static let vaults = RecordCollection(known: "vaults")
    /// Keys for one device, boxed; like the ones below, of a household instead of a vault.
    public static let keys = RecordCollection(known: "keys")
    public static let devices = RecordCollection(known: "devices")
    public static let status = RecordCollection(known: "status")
    public static let apps = RecordCollection(known: "apps")
    /// The pictures of a computer's listed apps.
    public static let icons = RecordCollection(known: "icons")
    public static let events = RecordCollection(known: "events")
    /// Launches that wait for an answer.
    public static let requests = RecordCollection(known: "requests")
    public static let commands = RecordCollection(known: "commands")
}
