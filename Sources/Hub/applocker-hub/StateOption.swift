import ArgumentParser

/// `--state`, of the hub and of its subcommands.
struct StateOption: ParsableArguments {
    /// Where the package's service has it.
    static let installed = "/var/lib/applocker-hub"

    @Option(
        help: ArgumentHelp(
            "The hub's directory: hub.sqlite, blobs/, registration-token. Only its user may enter it (mode 0700).",
            valueName: "dir"), completion: .directory)
    var state: String?
}
