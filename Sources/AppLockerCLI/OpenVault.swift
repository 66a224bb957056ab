import Foundation
import LocalControl
import WireProtocol

/// Requests that need the vault's keys: it is opened with the passcode where it is not open, and stays open, as it does
/// after `applocker vault unlock`.
struct OpenVault: Sendable {
    let client: ControlClient
    let passcodes: PasscodeSource

    /// As `use`, after somebody has written something: on the terminal a wrong passcode is asked for again, so that the
    /// text is not lost by it.
    func save<Result>(_ work: () async throws -> Result) async throws -> Result {
        while true {
            do {
                return try await use(work)
            } catch let error as ControlError where error.code == .wrongPasscode {
                guard case .terminal = passcodes else { throw error }
                Output.errors.line("\(error.message.terminalSafe) Enter alone gives up and loses the text.")
            }
        }
    }

    /// Opens the vault where it is not open for this user.
    func openIfLocked() async throws {
        let status: VaultStatus = try await client.call(.vault)
        if case .terminal = passcodes, status.isOpen, status.user == getuid() { return }
        try await open()
    }

    /// A passcode that was handed over is looked at even where the vault is open: a wrong one never passes.
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

    @discardableResult
    func open() async throws -> VaultStatus {
        let status: StatusReport = try await client.call(.status)
        guard status.isSetUp else {
            throw ControlError(.notSetUp, "No passcode has been chosen yet. Run `applocker setup` first.")
        }
        return try await client.call(
            .openVault, body: PasscodeRequest(passcode: try await passcodes.existing().text))
    }
}
