import Sync

/// Repeats the work if a record or document that it depends on was written meanwhile.
@discardableResult
func retryingOnConflict<Value>(
    isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value
) async throws -> Value {
    for _ in 1..<5 {
        do {
            return try await work()
        } catch is RevisionConflict {
        } catch is DocumentChanged {}
    }
    return try await work()
}
