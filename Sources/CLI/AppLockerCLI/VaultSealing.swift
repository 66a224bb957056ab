import ControlAPI
import FileLocking
import Foundation
import LocalControl
import SealedFormats
import VaultTransfer

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
        try await use { try await $0.seal(body, id: id) }
    }

    func open(_ header: LockedFileHeader) async throws -> Data {
        try await use { try await $0.open(header) }
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

    private func use<Result: Sendable>(_ work: @Sendable (ControlClient) async throws -> Result) async throws -> Result
    {
        // A descriptor has only one line; if the vault locks meanwhile, the terminal asks for the passcode.
        let vault = OpenVault(client: client, passcodes: hasOpened ? .terminal : passcodes)
        let result = try await vault.use { try await work(vault.client) }
        hasOpened = true
        return result
    }
}
