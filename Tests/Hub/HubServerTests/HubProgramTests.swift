import AsyncHTTPClient
import Foundation
import Glibc
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
            ["--quota", "lots"],
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
