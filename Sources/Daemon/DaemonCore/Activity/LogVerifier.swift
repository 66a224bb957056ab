import ControlAPI
import SealedFormats

/// Runs one verification of the log at a time, because each keeps a core busy until it ends.
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
