import ControlAPI
import Foundation
import HeadlessCompanion
import HubClient
import LocalControl
import SealedFormats
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// A real `applocker-hub` on its own port, over SQLite.
final class RunningHub: Sendable {
    let state: String
    let port: Int
    private let process: Mutex<ChildProcess>

    var url: String { "http://127.0.0.1:\(port)" }
    /// Its standard output and error so far.
    var log: Data { process.withLock { $0.errorData + $0.outputData } }

    init(in directory: TemporaryDirectory) async throws {
        state = directory.path("hub")
        let process = try Self.start(state, port: 0)
        port = try await Self.port(of: process)
        self.process = Mutex(process)
    }

    private static func start(_ state: String, port: Int) throws -> ChildProcess {
        try ChildProcess(
            BuiltProducts.path("applocker-hub"),
            [
                "--state", state, "--listen", "127.0.0.1:\(port)", "--log", "debug", "--device-rate", "0",
                "--household-rate", "0", "--address-rate", "0",
            ])
    }

    private static func port(of process: ChildProcess) async throws -> Int {
        let words = "listening on 127.0.0.1:"
        let isUp = await eventually("the hub listens") {
            process.output.contains(/listening on 127\.0\.0\.1:[0-9]+\n/)
        }
        try #require(isUp, "\(process.errorOutput)")
        let line = process.output.split(separator: "\n").first { $0.hasPrefix(words) }
        return try #require(line.flatMap { Int($0.dropFirst(words.count)) })
    }

    /// kill -9.
    func kill() async throws {
        let process = process.withLock { $0 }
        process.kill(SIGKILL)
        _ = try await process.wait()
    }

    /// On the same port again.
    func startAgain() async throws {
        let process = try Self.start(state, port: port)
        _ = try await Self.port(of: process)
        self.process.withLock { $0 = process }
    }
}

extension Companion {
    static let overHTTP: Companion.Connect = { settings, token in
        try HubClient(
            HubClientSettings(
                address: HubAddress(settings.url), token: token.map { $0.withUnsafeBytes { Data($0) } }))
    }
}

extension ControlClient {
    /// Pairs a companion over the control socket, as `applocker pair --yes` does.
    func pair(
        _ name: String, passcode: String, directory: String, address: String? = nil
    ) async throws -> Companion {
        let session = try await call(\.openSession, body: PasscodeRequest(passcode: passcode))
        let pairing = try await call(\.makePairing, token: session.token, body: NewPairingRequest(address: address))
        let link = try #require(pairing.link)
        async let companion = Companion.join(link, name: name, directory: directory, connect: Companion.overHTTP)
        let joined = await eventually {
            let report = try await call(
                \.pairing, parameter: pairing.id, query: WaitQuery(wait: 5), token: session.token)
            return report.name == name
        }
        try #require(joined)
        try await call(
            \.confirmPairing, parameter: pairing.id, token: session.token, body: PasscodeRequest(passcode: passcode))
        return try await companion
    }

    func connect(_ url: String, passcode: String) async throws {
        let session = try await call(\.openSession, body: PasscodeRequest(passcode: passcode))
        try await call(\.connectHub, token: session.token, body: ConnectHubRequest(url: url))
        let isConnected = await eventually { try await call(\.hubStatus).connected }
        try #require(isConnected)
    }
}
