import CLinux
import ControlAPI
import Foundation
import Glibc
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Thousands of connections, slow and silent ones.
struct ConnectionTests {
    private static let status = "GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n"

    private static func isServed(_ path: String) async throws -> Bool {
        try await blocking {
            let connection = try RawConnection(path)
            connection.send(Self.status)
            return connection.read(until: "\"status\"").hasPrefix("HTTP/1.1 200")
        }
    }

    private static func expectServed(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let isServed = try await isServed(path)
        #expect(isServed, sourceLocation: sourceLocation)
    }

    @Test func theServiceReceivesThePeersCredentialsFromTheKernel() async throws {
        try await withServer { path, service in
            try await Self.expectServed(path)
            #expect(await service.requests.first?.peer == ControlPeer(user: getuid(), process: getpid()))
        }
    }

    @Test(.requires(.root, .program("curl"))) func anotherUsersConnectionHasThatUsersCredentials() async throws {
        try await withServer { path, service in
            chmod((path as NSString).deletingLastPathComponent, 0o755)
            let curl = try ChildProcess(
                "curl", ["-sS", "--unix-socket", path, "http://applocker/v1/status"], user: 65_534)
            #expect(try await curl.wait() == .code(0))
            #expect(await service.requests.last?.peer == ControlPeer(user: 65_534, process: curl.pid))
            #expect(curl.output.contains("status"))
        }
    }

    @Test func aPartialRequestIsClosedAfterTheIdleTimeoutWithoutDelayingOthers() async throws {
        var limits = ControlServer.Limits()
        // Long enough for complete requests to be served in time on a busy machine.
        limits.idleTimeout = .seconds(8)
        try await withServer(limits) { path, service in
            var connections: [RawConnection] = []
            for half in [
                "GET /v1/sta", "POST /v1/lock HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{\"apps\":", "",
            ] {
                let connection = try RawConnection(path)
                connection.send(half)
                connections.append(connection)
                try await Self.expectServed(path)
            }
            let start = ContinuousClock.now
            for connection in connections {
                #expect(try await blocking { connection.readToEnd() } != nil, "the server closes it")
            }
            #expect(ContinuousClock.now - start < .seconds(28), "before the usual 30 seconds")
            #expect(await service.requests.count == 3, "no partial request was executed")
        }
    }

    @Test func aPartialRequestOfADisconnectedClientIsDiscarded() async throws {
        try await withServer { path, service in
            let connection = try RawConnection(path)
            connection.send("POST /v1/lock HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{\"apps\":")
            connection.finishSending()
            _ = try await blocking { connection.readToEnd() }
            try await Self.expectServed(path)
            #expect(await service.requests.map(\.route) == [.status])
        }
    }

    @Test func aThousandConnectionsAtOnceAreAllServed() async throws {
        try await withServer { path, service in
            let connections = try await blocking { try (0..<1_000).map { _ in try RawConnection(path) } }
            // A later client is served while all of them are open.
            try await Self.expectServed(path)
            let answers = try await blocking {
                for connection in connections { connection.send(Self.status) }
                return connections.map { $0.read(until: "\"status\"") }
            }
            #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200") })
            #expect(await service.requests.count == 1_001)
        }
    }

    @Test func aConnectionOverAUsersLimitIsRefusedUntilOthersClose() async throws {
        var limits = ControlServer.Limits()
        limits.connectionsPerUser = 10
        try await withServer(limits) { path, _ in
            var connections: [RawConnection] = []
            for _ in 0..<10 {
                let connection = try RawConnection(path)
                connection.send(Self.status)
                #expect(try await blocking { connection.read(until: "\"status\"") }.hasPrefix("HTTP/1.1 200"))
                connections.append(connection)
            }
            let oneMore = try RawConnection(path)
            oneMore.send(Self.status)
            let answer = RawAnswer(try await blocking { oneMore.readToEnd() } ?? "")
            #expect(answer?.status == 503)
            #expect(ControlErrorBody(answer)?.error.code == .busy)
            connections.removeAll()
            await eventually { try await Self.isServed(path) }
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await withServer { path, service in
            let routes: [ControlRoute] = [.status, .listApps, .settings, .listCategories, .status]
            let text = routes.map { "\($0.method) \($0.path()) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
            let answer = try await blocking {
                let connection = try RawConnection(path)
                connection.send(text)
                return connection.read(until: "\"notes\"", times: routes.count)
            }
            #expect(answer.components(separatedBy: "HTTP/1.1 200").count == routes.count + 1)
            #expect(await service.requests.map(\.route) == routes)
        }
    }

    @Test func anInvalidPipelinedRequestIsRefusedAfterTheEarlierAnswers() async throws {
        try await withServer { path, _ in
            let answer = try await blocking {
                let connection = try RawConnection(path)
                connection.send(Self.status + Self.status + "no request\r\n\r\n")
                return connection.readToEnd()
            }
            let answers = try #require(answer).components(separatedBy: "HTTP/1.1 ").dropFirst()
            #expect(answers.map { $0.prefix(3) } == ["200", "200", "400"])
            #expect(answers.last?.contains("bad_request") == true)
        }
    }

    @Test func theSocketOfARunningServerIsNotReplaced() async throws {
        try await withServer { path, service in
            #expect(throws: ControlServerError.inUse(path)) {
                _ = try ControlServer(socketPath: path, service: service).makeService()
            }
            try await Self.expectServed(path)
        }
    }

    @Test func aFileThatIsNotASocketIsNotReplaced() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("precious", to: "control.sock")
        #expect(throws: ControlServerError.notASocket(path)) {
            _ = try ControlServer(socketPath: path, service: RecordingService()).makeService()
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test func allUsersMayConnectOnceTheServerAnswers() async throws {
        try await withServer { path, _ in
            await eventually {
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o666
            }
        }
    }
}
