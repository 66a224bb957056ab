import AsyncHTTPClient
import Foundation
import Glibc
import HubAPI
import NIOCore
import NIOHTTP1
import SystemTestSupport
import TestSupport
import Testing

@testable import HubServer

/// The program `applocker-hub`: the state it creates, the arguments it refuses, and how it ends.
struct HubProgramTests {
    private func start(_ state: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            BuiltProducts.path("applocker-hub"), ["--state", state, "--listen", "127.0.0.1:0"] + arguments)
    }

    private func port(_ child: ChildProcess) async -> Int? {
        await eventually("it listens") { child.output.contains(/listening on 127\.0\.0\.1:[0-9]+\n/) }
        return child.output.split(separator: "\n").first { $0.hasPrefix("listening on") }
            .flatMap { $0.split(separator: ":").last }.flatMap { Int($0) }
    }

    @Test func theStateIsPrivateAndTheHubEndsInOrder() async throws {
        let directory = try TemporaryDirectory()
        let state = directory.path("hub")
        let child = try start(state)
        let port = try #require(await port(child))
        func mode(_ name: String) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: state + name)
            return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
        }
        #expect(try mode("") == 0o700 && mode("/registration-token") == 0o600 && mode("/hub.sqlite") == 0o600)
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let answer = try await client.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(port)/health"), timeout: .seconds(60))
        #expect(answer.status.code == 200)
        _ = try await answer.body.collect(upTo: 1_024)

        // A second hub on the same directory is refused.
        let second = try start(state)
        #expect(try await second.wait() == .code(1))
        #expect(second.errorOutput.split(separator: "\n").count == 1, "\(second.errorOutput)")

        kill(child.pid, SIGTERM)
        #expect(try await child.wait() == .code(0))
        try await client.shutdown()
        // Afterwards the next one starts.
        let third = try start(state)
        _ = try #require(await self.port(third))
        kill(third.pid, SIGINT)
        #expect(try await third.wait() == .code(0))
    }

    @Test func theInstalledCompanionIsServedUnlessDisabled() async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        for (options, words) in [([], "<div id=\"app\">"), (["--web", "none"], "No companion app is installed")] {
            let directory = try TemporaryDirectory()
            let child = try ChildProcess(
                BuiltProducts.path("applocker-hub"),
                ["--state", directory.path("hub"), "--listen", "127.0.0.1:0"] + options)
            let port = try #require(await port(child))
            let answer = try await client.execute(
                HTTPClientRequest(url: "http://127.0.0.1:\(port)/"), timeout: .seconds(60))
            let body = try await answer.body.collect(upTo: 65_536)
            #expect(answer.status.code == 200 && String(buffer: body).contains(words), "\(options)")
            kill(child.pid, SIGTERM)
            #expect(try await child.wait() == .code(0))
        }
        try await client.shutdown()
    }

    @Test func aDirectoryThatOthersCanAccessIsRefused() async throws {
        let directory = try TemporaryDirectory()
        let state = directory.path("hub")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        chmod(state, 0o755)
        let child = try start(state)
        #expect(try await child.wait() == .code(1))
        #expect(child.errorOutput.contains("chmod 700 \(state)"))
        chmod(state, 0o700)
        try directory.write("a token of sufficient length\n", to: "hub/registration-token", permissions: 0o644)
        let open = try start(state)
        #expect(try await open.wait() == .code(1))
        #expect(open.errorOutput.contains("registration-token"))
    }

    @Test func invalidArgumentsAreNamed() async throws {
        let directory = try TemporaryDirectory()
        for arguments in [
            ["--listen", "nowhere"], ["--certificate", "a.pem"], ["--trusted-proxy", "10.0.0.0/99"],
            ["--event-days", "0"], ["--household-rate", "nan"], ["--device-rate", "1e308"], ["--connections", "0"],
            ["--quota", "lots"], ["--households", "0"], ["--registration", "anybody"],
            ["--recording-limit", "5G"],
        ] {
            let run = try await ChildProcess.run(
                BuiltProducts.path("applocker-hub"), ["--state", directory.path("hub")] + arguments)
            #expect(run.exit == .code(64), "\(arguments)")
            #expect(run.errorOutput.contains(arguments[0]) || run.errorOutput.contains("--key"), "\(run.errorOutput)")
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path("hub")))
    }

    @Test func aUnixSocketIsAccessibleToItsGroupAndReplacedAfterACrash() async throws {
        let directory = try TemporaryDirectory()
        for _ in 0..<2 {
            let child = try ChildProcess(
                BuiltProducts.path("applocker-hub"),
                ["--state", directory.path("hub"), "--listen", "unix:\(directory.path("hub.sock"))"])
            await eventually("the hub listens") { child.output.contains("listening on unix:") }
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path("hub.sock"))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o660)
            kill(child.pid, SIGKILL)
            _ = try await child.wait()
        }
    }

    @Test func anInvitationOfTheProgramFoundsAHouseholdOnce() async throws {
        let directory = try TemporaryDirectory()
        let state = directory.path("hub")
        func invite(
            _ arguments: String...
        ) async throws -> (exit: ChildProcess.Exit, output: String, errorOutput: String) {
            try await ChildProcess.run(
                BuiltProducts.path("applocker-hub"), ["invite", "--state", state] + arguments)
        }
        let absent = try await invite("--address", "https://hub.example")
        #expect(absent.exit == .code(1) && absent.errorOutput.contains(state), "\(absent.errorOutput)")
        let child = try start(state, "--trusted-proxy", "127.0.0.1")
        let port = try #require(await port(child))
        let unknown = try await invite("--json")
        #expect(unknown.exit == .code(1) && unknown.errorOutput.contains("--address"), "\(unknown.errorOutput)")
        let shown = try await invite("--address", "HTTPS://Hub.Example/")
        #expect(shown.exit == .code(0), "\(shown.errorOutput)")
        #expect(shown.output.contains("█") && shown.output.contains("https://hub.example/#start="))

        struct Printed: Decodable {
            let link: String
            let address: String
            let expires: Double
        }
        // The address is remembered.
        let json = try await invite("--json", "--hours", "2")
        let printed = try JSONDecoder().decode(Printed.self, from: Data(json.output.utf8))
        #expect(printed.address == "https://hub.example")
        #expect(abs(printed.expires - Date().timeIntervalSince1970 - 7_200) < 120)
        let text = try #require(printed.link.split(separator: "#start=").last)
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        var statuses: [UInt] = []
        for _ in 0..<2 {
            let phone = TestDevice(household: .random(), role: .administrator)
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/v1/households")
            request.method = .POST
            request.headers.add(name: "X-Forwarded-For", value: "8.8.8.8")
            request.body = .bytes(
                try JSONEncoder().encode(
                    NewHouseholdRequest(
                        household: phone.household, device: phone.id, entry: phone.entry, tokenHash: phone.tokenHash,
                        role: .administrator, start: String(text))))
            let answer = try await client.execute(request, timeout: .seconds(60))
            _ = try await answer.body.collect(upTo: 4_096)
            statuses.append(answer.status.code)
        }
        #expect(statuses == [200, 410])
        try await client.shutdown()
        kill(child.pid, SIGTERM)
        #expect(try await child.wait() == .code(0))
    }

    @Test func addressesThatNoPhoneCanOpenAreRefused() async throws {
        let directory = try TemporaryDirectory()
        for address in [
            "hub.example", "http://hub.example", "https://", "https://hub.example/path", "https://a:b@hub.example",
            "https://hub.example/?a", "https://hub.example/#pair=", "ftp://hub.example", "https://hub.exam ple", "",
        ] {
            let run = try await ChildProcess.run(
                BuiltProducts.path("applocker-hub"),
                ["invite", "--state", directory.path("hub"), "--address", address])
            #expect(run.exit == .code(64) && run.errorOutput.contains("--address"), "\(address): \(run.errorOutput)")
        }
        for hours in ["0", "721", "x"] {
            let run = try await ChildProcess.run(
                BuiltProducts.path("applocker-hub"),
                ["invite", "--state", directory.path("hub"), "--address", "https://hub.example", "--hours", hours])
            #expect(run.exit == .code(64))
        }
    }

    @Test(.requires(.postgresql)) func aHubOnPostgreSQLStoresNothingLocally() async throws {
        let directory = try TemporaryDirectory()
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        defer { server.discard(database) }
        try directory.write(database + "\n", to: "connection", permissions: 0o644)
        let open = try start(directory.path("open"), "--postgres", directory.path("connection"))
        #expect(try await open.wait() == .code(1))
        #expect(open.errorOutput.contains("chmod 0600"), "\(open.errorOutput)")

        chmod(directory.path("connection"), 0o600)
        // Two hubs that start together create the tables once.
        let hubs = try ["one", "two"].map { try start(directory.path($0), "--postgres", directory.path("connection")) }
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        for hub in hubs {
            let port = try #require(await port(hub), "\(hub.errorOutput)")
            let answer = try await client.execute(
                HTTPClientRequest(url: "http://127.0.0.1:\(port)/health"), timeout: .seconds(60))
            #expect(answer.status.code == 200)
            _ = try await answer.body.collect(upTo: 1_024)
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path("one/hub.sqlite")))
        #expect(!FileManager.default.fileExists(atPath: directory.path("one/blobs")))
        #expect(try await server.psql(database, "SELECT count(*) FROM household").output == "0\n")
        for hub in hubs {
            kill(hub.pid, SIGTERM)
            #expect(try await hub.wait() == .code(0))
        }
        try await client.shutdown()
    }
}
