import ArgumentParser
import Foundation

/// How a hub is reached where its address alone is not enough.
struct HubWayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("PEM file with the certificates to trust instead of the system's.", valueName: "file"),
        completion: .file())
    var ca: String?
    @Option(help: ArgumentHelp("An HTTP proxy: http://HOST:PORT.", valueName: "url")) var proxy: String?
    @Flag(help: "Plain HTTP to another machine: whoever listens in between can act as this computer there.")
    var insecure = false

    /// The file's absolute path: AppLocker reads it, from a folder of its own.
    var certificates: String? { ca.map { URL(fileURLWithPath: $0).path } }
}
