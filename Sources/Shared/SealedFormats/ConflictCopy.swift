/// One of two versions of a record that were written at the same time becomes a record of its own.
public enum ConflictCopy {
    /// The same on every device that makes a copy of this version, so that there is one.
    /// - Parameter sealed: of the version.
    public static func id(of record: ItemID, sealed: [UInt8]) -> ItemID {
        var fields = Fields("applocker/1/conflict")
        fields.add(record.bytes)
        fields.add(sealed)
        return fields.id
    }
}
