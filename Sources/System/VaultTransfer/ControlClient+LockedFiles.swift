import ControlAPI
import FileLocking
public import Foundation
public import LocalControl
public import SealedFormats

extension ControlClient {
    /// Has the daemon seal the body of a locked file's envelope with the key of the open vault.
    ///
    /// - Parameter body: at most 32 KiB.
    /// - Throws: `ControlError` (`vaultLocked`), `ControlClientError`.
    public func seal(_ body: Data, id: ItemID) async throws -> LockedFileHeader {
        let reply = try await call(\.seal, body: SealRequest(id: id.description, plaintext: body))
        guard let vault = ItemID(reply.vault) else { throw ControlClientError.notUnderstood(cause: "a vault's id") }
        return LockedFileHeader(vault: vault, id: id, envelope: try RecordEnvelope(bytes: Array(reply.envelope)))
    }

    /// Has the daemon open the body of a header that was read from a file.
    ///
    /// - Throws: `FileLockingError` (`damaged`) if the vault can't open it, as one of another vault; `ControlError`
    ///   (`vaultLocked`), `ControlClientError`.
    public func open(_ header: LockedFileHeader) async throws -> Data {
        let request = OpenRequest(
            vault: header.vault.description, id: header.id.description, envelope: Data(header.envelope.bytes))
        do {
            return try await call(\.open, body: request).plaintext
        } catch let error as ControlError where [.notReadable, .tooLarge].contains(error.code) {
            throw FileLockingError(.damaged, error.message, cause: error)
        }
    }
}
