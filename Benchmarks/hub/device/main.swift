// A device that is paired and watches what the hub streams, for the benchmark of the time from a launch to a phone:
// `hub-device join DIR` reads a pairing link from standard input, `hub-device watch DIR` prints a line for each item.
import Foundation
import HeadlessCompanion
import HubAPI
import HubClient
import SealedFormats

let connect: Companion.Connect = { settings, token in
    try HubClient(
        HubClientSettings(
            address: HubAddress(settings.url), token: token.map { $0.withUnsafeBytes { Data($0) } }))
}

do {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let command = arguments.first, let directory = arguments.last else {
        FileHandle.standardError.write(Data("Usage: hub-device join|watch DIR\n".utf8))
        exit(2)
    }
    if command == "join" {
        _ = try await Companion.join(readLine() ?? "", name: "benchmark", directory: directory, connect: connect)
    } else {
        let companion = try Companion(directory: directory, connect: connect)
        try await companion.sync()
        try await companion.watch { _, item in
            if case .event = item { FileHandle.standardOutput.write(Data("event\n".utf8)) }
            return true
        }
    }
} catch {
    FileHandle.standardError.write(Data("hub-device: \(error)\n".utf8))
    exit(1)
}
