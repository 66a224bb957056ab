import ArgumentParser

/// Which vault a command about moments concerns.
struct MomentsVaultOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A shared vault: its name, its id, or the beginning of it. Without it, this computer's own vault.",
            valueName: "name"))
    var vault: String?

    func validate() throws {
        guard vault?.isEmpty != true else { throw ValidationError("--vault takes the name or the id of a vault.") }
    }

    /// The option for another command about the same vault, with a space before it; empty for this computer's own vault.
    var repeated: String { vault.map(Self.argument) ?? "" }

    static func argument(_ vault: String) -> String { " --vault '\(vault.replacing("'", with: #"'\''"#))'" }
}

/// A command about the moments of one vault.
protocol MomentsVaultCommand: ConnectedCommand {
    var chosen: MomentsVaultOptions { get }
}

extension MomentsVaultCommand {
    var sharedVault: String? { chosen.vault }
}
