import ArgumentParser
import Foundation

/// Options for reaching a hub, besides its address.
struct HubConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("PEM file with the certificates to trust instead of the system's.", valueName: "file"),
        completion: .file())
    var ca: String?
    @Option(help: ArgumentHelp("An HTTP proxy: http://HOST:PORT.", valueName: "url")) var proxy: String?
    @Flag(help: "Allow plain HTTP to another machine: anybody who intercepts it can act as this computer there.")
    var insecure = false

    /// The file's absolute path, because AppLocker reads it from another working directory.
    var certificates: String? { ca.map { URL(fileURLWithPath: $0).path } }
}
