import ControlAPI
import Foundation
import LocalControl
import SealedFormats

/// Requests that need the vault's keys. A locked vault is opened with the passcode, and stays open, as after `applocker
/// vault unlock`.
struct OpenVault: Sendable {
    let client: ControlClient
    let passcodes: PasscodeSource
    /// That `client` is in, as `ControlClient.inVault` names it; nil for this computer's own vault.
    var sharedVault: String?

    /// For requests about this computer's own vault, whose passcode opens the shared ones.
    private var ownClient: ControlClient { client.inVault(nil) }

    /// Like `use`, for a text that the user has typed: after a wrong passcode on the terminal it asks again, so that
    /// the text isn't lost.
    func save<Result>(_ work: () async throws -> Result) async throws -> Result {
        while true {
            do {
                return try await use(work)
            } catch let error as ControlError where error.code == .wrongPasscode {
                guard case .terminal = passcodes else { throw error }
                Output.errors.line("\(error.message.terminalSafe) Press Enter alone to discard the text.")
            }
        }
    }

    /// Opens the vault unless it is open for this user.
    func openIfLocked() async throws {
        let status = try await ownClient.call(\.vault)
        if case .terminal = passcodes, status.isOpen, status.user == getuid() { return }
        try await open()
    }

    /// A passcode from a descriptor is checked even if the vault is open: a wrong one is always refused.
    func use<Result>(_ work: () async throws -> Result) async throws -> Result {
        if case .descriptor = passcodes {
            try await open()
            return try await work()
        }
        do {
            return try await work()
        } catch let error as ControlError where error.code == .vaultLocked {
            do {
                try await open()
            } catch let failure as CommandLineError where failure.code == Terminal.missing {
                throw error
            }
            return try await work()
        }
    }

    /// What several references name, in order and each once. All are looked up before anything is done with one.
    func find<Item: Sendable>(
        _ references: [String], _ read: @Sendable (ControlClient, String) async throws -> (id: String, item: Item)
    ) async throws -> [Item] {
        try await use {
            var (ids, items): (Set<String>, [Item]) = ([], [])
            for reference in references {
                let (id, item) = try await read(client, reference)
                if ids.insert(id).inserted { items.append(item) }
            }
            return items
        }
    }

    /// The vault for new files and photos, opened if necessary.
    func id() async throws -> ItemID {
        let id = if let sharedVault { try await sharedID(sharedVault) } else { try await ownID() }
        guard let vault = id.flatMap({ ItemID($0) }) else {
            throw ControlError(.failed, "AppLocker did not report its vault. Restart it and try again.")
        }
        return vault
    }

    private func ownID() async throws -> String? {
        let status: VaultStatus = try await use {
            // Any request that needs the keys opens the vault.
            try await ownClient.call(\.knownPhotos, body: KnownPhotosRequest(digests: []))
            return try await ownClient.call(\.vault)
        }
        return status.vault
    }

    private func sharedID(_ reference: String) async throws -> String? {
        let report = try await use { try await ownClient.call(\.readVault, parameter: reference) }
        try report.requireMember()
        return report.vault
    }

    @discardableResult
    func open() async throws -> VaultStatus {
        try await ownClient.requireSetUp()
        return try await ownClient.call(
            \.openVault, body: PasscodeRequest(passcode: try await passcodes.existing().text))
    }
}
