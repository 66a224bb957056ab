/// How far the hub was read.
public enum SyncDocuments {
    /// The sequence number up to which the hub was read, in decimal.
    static let cursor = "hub-cursor"
    /// `[HubGeneration]` of the hub's store, as it was when the hub was read last.
    static let generations = "hub-generations"
    /// Present while the hub's records are compared with the local ones.
    static let comparing = "hub-comparing"

    /// Removed with the hub.
    public static let all = [cursor, generations, comparing]
}
