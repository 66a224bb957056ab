import ControlAPI
import FileLocking
import Foundation
import LocalControl
import SealedFormats

/// Has AppLocker seal and open the header of a locked file. The vault is opened with the passcode if necessary; files
/// of the earlier AppLocker need only their own passcode.
actor VaultSealing: LockedFileSealing {
    private let client: ControlClient
    private let passcodes: PasscodeSource
    private var hasOpened = false
    private var earlier: SecretBytes?

    init(client: ControlClient, passcodes: PasscodeSource) {
        self.client = client
        self.passcodes = passcodes
    }

    func seal(_ body: Data, id: ItemID) async throws -> LockedFileHeader {
        let reply = try await use(\.seal, SealRequest(id: id.description, plaintext: body))
        guard let vault = ItemID(reply.vault) else { throw ControlClientError.notUnderstood(cause: "a vault's id") }
        return LockedFileHeader(vault: vault, id: id, envelope: try RecordEnvelope(bytes: Array(reply.envelope)))
    }

    func open(_ header: LockedFileHeader) async throws -> Data {
        let request = OpenRequest(
            vault: header.vault.description, id: header.id.description, envelope: Data(header.envelope.bytes))
        return try await use(\.open, request).plaintext
    }

    func earlierPasscode(for path: String) async throws -> SecretBytes {
        if let earlier { return earlier }
        let name = (path as NSString).lastPathComponent.terminalSafe
        let text = try await passcodes.existing("Passcode that \(name) was locked with by the earlier AppLocker").text
        let passcode = SecretBytes(utf8: text)
        // A script passes one passcode for all files; a person may have used several.
        if case .descriptor = passcodes { earlier = passcode }
        return passcode
    }

    private func use<Body: Encodable & Sendable, Reply>(
        _ operation: ControlOperationPath<Body, Reply>, _ body: Body
    ) async throws -> Reply {
        // A descriptor has only one line; if the vault locks meanwhile, the terminal asks for the passcode.
        let vault = OpenVault(client: client, passcodes: hasOpened ? .terminal : passcodes)
        let reply = try await Self.request(operation, body, vault)
        hasOpened = true
        return reply
    }

    private static func request<Body: Encodable & Sendable, Reply>(
        _ operation: ControlOperationPath<Body, Reply>, _ body: Body, _ vault: OpenVault
    ) async throws -> Reply {
        try await vault.use { try await vault.client.call(operation, body: body) }
    }
}
