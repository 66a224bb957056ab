import SystemTestSupport
import TestSupport
import Testing

/// A real hub on a free port. It ends when the value is released.
struct WindowHub {
    /// "127.0.0.1:40123"
    let address: String
    private let process: ChildProcess

    /// - Parameters:
    ///   - state: the hub's directory.
    ///   - options: further ones of applocker-hub.
    init(state: String, _ options: [String] = []) async throws {
        let process = try ChildProcess(
            BuiltProducts.path("applocker-hub"), ["--state", state, "--listen", "127.0.0.1:0"] + options)
        self.process = process
        await eventually("the hub listens: \(process.errorOutput)") { process.output.contains("listening on") }
        let line = process.output.split(separator: "\n").first { $0.hasPrefix("listening on ") }
        address = String(try #require(line).dropFirst("listening on ".count))
    }
}
