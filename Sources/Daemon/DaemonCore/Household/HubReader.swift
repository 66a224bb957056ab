/// Reads the hub's records before a change of the household that depends on them.
protocol HubReader: Sendable {
    /// Returns when everything that the hub had is here.
    ///
    /// - Throws: what the connection throws.
    func readUpToDate() async throws
}
