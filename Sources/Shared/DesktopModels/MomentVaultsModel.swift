import ControlAPI
import Localization
public import Observation

/// The vaults whose moments the window shows: this computer's own one, and those that it shares with others. All that
/// Everline shows and does concerns the chosen one.
@MainActor @Observable
public final class MomentVaultsModel {
    /// The chosen shared vault's id; nil: this computer's own.
    public private(set) var chosen: String?
    /// The own vault, whose value is nil, and the shared ones by their ids.
    public var choices: [FilterChoice<String>] {
        [FilterChoice(title: localized("Mine"), value: nil)]
            + shared.map { FilterChoice(title: title($0), value: $0.id) }
    }
    /// Why the chosen one is not synchronised; empty if it is.
    public var problem: String { chosenReport?.problem.map { localized(written: $0) } ?? "" }
    /// Another member removed this computer from the chosen one.
    public var isReadOnly: Bool { chosenReport?.state == .removed }

    private let context: DesktopContext
    private let vault: VaultModel
    /// Of which this computer is, or was, a member.
    private var shared: [SharedVaultReport] = []
    private var chosenReport: SharedVaultReport? { shared.first { $0.id == chosen } }
    /// Removes what was read from the vault that was chosen before.
    @ObservationIgnored var onChoice: [() -> Void] = []

    public init(_ context: DesktopContext, _ vault: VaultModel) {
        self.context = context
        self.vault = vault
        vault.onLock.append { [unowned self] in (shared, chosen) = ([], nil) }
    }

    /// Two can have one name, and the name of one may not be known yet.
    private func title(_ report: SharedVaultReport) -> String {
        let id = String(report.id.prefix(8))
        guard !report.name.isEmpty else { return localized("Vault \(id)") }
        let isUnique = shared.count(where: { $0.name == report.name }) == 1
        return isUnique ? report.name : "\(report.name) (\(id))"
    }

    /// Requests about moments and photos of the chosen one.
    var control: any DesktopControl { context.control.inVault(chosen) }

    /// Reads which there are.
    ///
    /// - Returns: whether this computer left the chosen one; its own is chosen then.
    func load() async -> Bool {
        let list = await vault.read { try await context.control.call(\.listVaults) }
        guard let list else { return false }
        let usable = list.vaults.filter { $0.state != .waiting }
        if usable != shared { shared = usable }
        return chosenReport == nil && choose(nil)
    }

    /// - Returns: whether another one was chosen before.
    func choose(_ id: String?) -> Bool {
        guard id != chosen else { return false }
        chosen = id
        for clear in onChoice { clear() }
        return true
    }

    /// Reads from the chosen one, as `VaultModel.read`. What arrives after another choice is dropped.
    func read<Result: Sendable>(_ work: @MainActor (any DesktopControl) async throws -> Result) async -> Result? {
        let (source, before) = (control, chosen)
        return await vault.read {
            let result = try await work(source)
            guard chosen == before else { throw CancellationError() }
            return result
        }
    }

    /// The id under which new photos of the chosen one are sealed.
    func sealingID() async -> String? {
        guard chosen == nil else { return chosenReport?.vault }
        let status = await vault.read { try await context.control.call(\.vault) }
        return status?.vault
    }
}
