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
        port = try Self.freePort()
        let process = try Self.start(state, port: port)
        _ = try await Self.port(of: process)
        self.process = Mutex(process)
    }

    /// A port that the kernel assigns to no connection (ip(7), ip_local_port_range): it stays free while the hub is
    /// stopped.
    private static func freePort() throws -> Int {
        let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = try #require(range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) })
        try #require(first > 20_000, "the kernel assigns ports from \(first) on")
        for _ in 0..<100 {
            let port = Int.random(in: 16_384..<first)
            // Until this process ends, also while this hub is stopped, no other test chooses the port.
            let lock = open("/tmp/applocker-test-port-\(port)", O_CREAT | O_RDWR | O_CLOEXEC, 0o666)
            guard lock >= 0 else { continue }
            if flock(lock, LOCK_EX | LOCK_NB) == 0, try isFree(port) { return port }
            close(lock)
        }
        throw POSIXError(.EADDRINUSE)
    }

    private static func isFree(_ port: Int) throws -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
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
