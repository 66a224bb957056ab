import ControlAPI

extension ControlClient {
    /// Does work that uses the vault's keys at its beginning and end alone, such as sealing a large file: the daemon locks
    /// a vault that is not used for some minutes, at least one.
    ///
    /// - Parameter period: between two uses.
    /// - Throws: what `work` throws.
    public func usingVault<Result: Sendable>(
        every period: Duration = .seconds(20), _ work: () async throws -> Result
    ) async throws -> Result {
        async let _: Void = useVault(every: period)
        return try await work()
    }

    /// Ends with its task. A locked vault stays locked.
    private func useVault(every period: Duration) async {
        while (try? await Task.sleep(for: period)) != nil {
            _ = try? await call(\.knownPhotos, body: KnownPhotosRequest(digests: []))
        }
    }
}
