import ArgumentParser
import Foundation

/// Resolves how an app is named on the command line.
enum AppNames {
    /// An argument with a slash is a path and is made absolute, because AppLocker doesn't know this process' directory.
    /// Symbolic links are kept; AppLocker follows them itself. Everything else is an id or a name.
    static func resolved(
        _ name: String, directory: String = FileManager.default.currentDirectoryPath
    ) -> String {
        guard name.contains("/"), !name.hasPrefix("/") else { return name }
        let directory = directory.hasSuffix("/") ? directory : directory + "/"
        return directory + (name.hasPrefix("./") ? String(name.dropFirst(2)) : name)
    }

    static let help: ArgumentHelp = "An app id, a name, or an executable's path."
}

struct AppSelection: ParsableArguments {
    @Argument(help: AppNames.help)
    var apps: [String] = []

    @Flag(help: "Every app on the list.")
    var all = false

    func validate() throws {
        guard all == !apps.isEmpty else { return }
        throw ValidationError(
            all ? "Name apps or use --all, not both." : "Name at least one app, or use --all for the whole list.")
    }

    var resolved: [String] { apps.map { AppNames.resolved($0) } }
}
