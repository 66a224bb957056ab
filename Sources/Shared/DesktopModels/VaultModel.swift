import ControlAPI
import Localization
public import Observation

/// Whether the vault is open for this window. Its pages show nothing while it is locked.
@MainActor @Observable
public final class VaultModel {
    /// How long locking everything waits for what is being saved.
    static let savingLimit = Duration.seconds(2)
    /// How often `watch` reads whether it is open.
    static let watchPeriod = Duration.seconds(1)

    public private(set) var isOpen = false

    private let context: DesktopContext
    private let user: UInt32
    /// Saves what a lock removes.
    @ObservationIgnored var beforeLock: [@MainActor () async -> Void] = []
    /// Removes what was read from the vault.
    @ObservationIgnored var onLock: [() -> Void] = []
    /// Increases with each lock.
    @ObservationIgnored private var locks = 0

    /// - Parameter user: the one whose window this is.
    public init(_ context: DesktopContext, user: UInt32) {
        self.context = context
        self.user = user
    }

    /// Reads whether it is open: it locks itself, with the screen or on sleep for example.
    public func refresh() async {
        do {
            show(try await context.control.call(\.vault))
        } catch let error as DaemonUnreachable where error.isStopped {
            show(false)
        } catch {
            // Whether it is locked is unknown. To show that it is would wipe the note that is edited.
        }
    }

    /// Reads each second whether it is open, until it is locked: a recording of the screen locks it to remove what the
    /// window shows.
    public func watch() async {
        while isOpen, (try? await context.time.sleep(Self.watchPeriod)) != nil { await refresh() }
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
            show(status)
        }
    }

    public func lock() async {
        await context.attempt {
            show(try await context.control.call(\.closeVault))
        }
    }

    /// Saves what is not saved yet, before everything is locked. A slow daemon delays that by `savingLimit` at most.
    func saveBeforeLock() async {
        guard isOpen else { return }
        await context.time.wait(atMost: Self.savingLimit) { [self] in for save in beforeLock { await save() } }
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

    /// While it is open for another user, this window can't read it.
    private func show(_ status: VaultStatus) { show(status.isOpen && status.user == user) }

    private func show(_ isOpen: Bool) {
        guard isOpen != self.isOpen else { return }
        self.isOpen = isOpen
        guard !isOpen else { return }
        locks += 1
        for wipe in onLock { wipe() }
    }
}
