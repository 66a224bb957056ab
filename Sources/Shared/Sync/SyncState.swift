/// The connection to the hub, as people see it.
public struct SyncState: Sendable {
    public let isConnected: Bool
    /// Why there is no connection, or why records can't be sent; one sentence.
    public let problem: String?
    /// In seconds since 1970 by this device's clock.
    public let lastSync: Double?
    /// As the hub reports it.
    public let recordsAtHub: Int
    /// Records for the hub that are not on disk yet.
    public let inMemory: Int
    /// Records of the hub that failed the checks.
    public let refused: Int
    /// One sentence each, without repetition.
    public let protocolViolations: [String]
}
