package import HubAPI

/// What a blob counts for in its household: a row of the store, and the blocks of its file. So a blob of one byte counts
/// about as much as it occupies.
package enum BlobUsage {
    private static let blockBytes: Int64 = 4_096

    /// - Parameter size: of the blob, in bytes.
    package static func bytes(size: Int64) -> Int64 {
        RecordDecision.rowBytes + (size + blockBytes - 1) / blockBytes * blockBytes
    }
}

extension NewBlobRequest {
    /// Throws unless the household has room for the blob. Both stores call it in the transaction that begins the blob, so
    /// blobs that are begun at once count each other. The size is one that the store can hold.
    /// - Parameters:
    ///   - used: the bytes that the household has.
    ///   - limit: the bytes that it may have.
    /// - Returns: the household's bytes with the blob.
    /// - Throws: `quotaExceeded`.
    package func added(to used: Int64, limit: UInt64) throws(HubError) -> Int64 {
        let (sum, overflow) = used.addingReportingOverflow(BlobUsage.bytes(size: Int64(size)))
        guard !overflow, UInt64(clamping: sum) <= limit else {
            throw HubError.overQuota(UInt64(clamping: used), limit: limit)
        }
        return sum
    }
}
