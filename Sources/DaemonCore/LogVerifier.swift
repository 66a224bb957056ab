import SealedFormats
import WireProtocol

/// Verifies the log once at a time: it keeps a core busy for as long as the log is long.
actor LogVerifier {
    private let store: any ActivityStore
    private var isBusy = false

    init(store: any ActivityStore) { self.store = store }

    /// - Throws: `ControlError` with `busy` while another verification runs; `CancellationError`.
    func verify(known: AuditChain.Head?) async throws -> LogVerification {
        guard !isBusy else {
            throw ControlError(.busy, "The log is being verified already. Try again when that has ended.")
        }
        isBusy = true
        defer { isBusy = false }
        return try await store.verifyLog(known: known)
    }
}
