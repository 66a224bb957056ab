import ControlAPI
import Localization
public import Observation

/// Whether the vault is open for this window. Its pages show nothing while it is locked.
@MainActor @Observable
public final class VaultModel {
    public private(set) var isOpen = false

    private let context: DesktopContext
    /// Removes what was read from the vault.
    @ObservationIgnored var onLock: [() -> Void] = []
    /// Increases with each lock.
    @ObservationIgnored private var locks = 0

    public init(_ context: DesktopContext) { self.context = context }

    /// Reads whether it is open: it locks itself, with the screen or on sleep for example.
    public func refresh() async {
        let status = try? await context.control.call(\.vault)
        // Open for another user it can't be read here either, which the first list reports.
        show(status?.isOpen == true)
    }

    /// Asks for the passcode and opens it.
    public func open() async {
        await context.attempt {
            let question = PasscodeQuestion(
                title: localized("Open the vault"),
                explanation: localized("Notes and photos are sealed until you enter the passcode."),
                verb: localized("Open"))
            let status = try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(\.openVault, body: PasscodeRequest(passcode: passcode))
            }
            show(status.isOpen)
        }
    }

    public func lock() async {
        await context.attempt {
            let status = try await context.control.call(\.closeVault)
            show(status.isOpen)
        }
    }

    /// Reads from the vault; a refusal because it is locked shows that. What arrives after a lock is dropped.
    func read<Result: Sendable>(_ work: @MainActor () async throws -> Result) async -> Result? {
        let before = locks
        return await context.attempt {
            do {
                let result = try await work()
                guard locks == before else { throw CancellationError() }
                return result
            } catch let error as ControlError where error.code == .vaultLocked {
                show(false)
                throw CancellationError()
            }
        }
    }

    private func show(_ isOpen: Bool) {
        guard isOpen != self.isOpen else { return }
        self.isOpen = isOpen
        guard !isOpen else { return }
        locks += 1
        for wipe in onLock { wipe() }
    }
}
