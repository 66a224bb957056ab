package import HubAPI

extension NewBlobRequest {
    /// Throws unless the household has room for the blob. Both stores call it in the transaction that begins the blob, so
    /// blobs that are begun at once count each other.
    /// - Parameters:
    ///   - used: the bytes that the household has.
    ///   - limit: the bytes that it may have.
    /// - Returns: the household's bytes with the blob.
    /// - Throws: `quotaExceeded`.
    package func added(to used: Int64, limit: UInt64) throws(HubError) -> Int64 {
        let (sum, overflow) = used.addingReportingOverflow(Int64(clamping: size))
        guard !overflow, UInt64(clamping: sum) <= limit else {
            throw HubError.overQuota(UInt64(clamping: used), limit: limit)
        }
        return sum
    }
}
