import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import Testing

/// A malformed request gets one error response and doesn't affect other connections.
@Suite struct MalformedRequestTests {
    private static func send(_ text: String, to path: String) async throws -> RawAnswer? {
        let answer = try await blocking {
            let connection = try RawConnection(path)
            connection.send(text)
            connection.finishSending()
            return connection.readToEnd()
        }
        return answer.flatMap { RawAnswer($0) }
    }

    private static func get(_ target: String, method: String = "GET", body: String = "") -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    @Test func aHeaderOfTenMegabytesIsAnsweredOnce() async throws {
        try await withServer { path, service in
            let answer = try await blocking {
                let connection = try RawConnection(path)
                connection.send("GET /v1/status HTTP/1.1\r\nHost: a\r\nX-Long: ")
                let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
                for _ in 0..<160 where !connection.send(chunk) { break }
                return connection.readToEnd()
            }
            let text = try #require(answer)
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2, "exactly one answer")
            let parsed = RawAnswer(text)
            #expect(parsed?.status == 431)
            #expect(ControlErrorBody(parsed)?.error.code == .tooLarge)
            #expect(await service.requests.isEmpty)
            #expect(try await Self.send(Self.get("/v1/status"), to: path)?.status == 200)
        }
    }

    @Test func manyShortHeadersAreAnsweredOnce() async throws {
        try await withServer { path, _ in
            let header = (0..<2_000).map { "X-\($0): y\r\n" }.joined()
            let answer = try await Self.send("GET /v1/status HTTP/1.1\r\nHost: a\r\n\(header)\r\n", to: path)
            #expect(answer?.status == 431)
            #expect(ControlErrorBody(answer)?.error.code == .tooLarge)
        }
    }

    @Test func aBodyOfTenMegabytesIsTooLarge() async throws {
        try await withServer { path, service in
            let body = String(repeating: "x", count: 10 << 20)
            let answer = try await Self.send(Self.get("/v1/lock", method: "POST", body: body), to: path)
            #expect(answer?.status == 413)
            let error = try #require(ControlErrorBody(answer)?.error)
            #expect(error.code == .tooLarge)
            #expect(error.message.contains("65536"))
            #expect(await service.requests.isEmpty)
        }
    }

    @Test func aChunkedBodyOverTheLimitIsTooLarge() async throws {
        try await withServer { path, service in
            let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
            let answer = try await Self.send(
                "POST /v1/lock HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + String(repeating: chunk, count: 3) + "0\r\n\r\n", to: path)
            #expect(answer?.status == 413)
            #expect(ControlErrorBody(answer)?.error.code == .tooLarge)
            #expect(await service.requests.isEmpty)
        }
    }

    @Test func aBodyOfExactlyTheLimitIsAccepted() async throws {
        try await withServer { path, service in
            let body = String(repeating: "x", count: ControlRoute.smallBodyBytes)
            let answer = try await Self.send(Self.get("/v1/lock", method: "POST", body: body), to: path)
            #expect(answer?.status == 200)
            #expect(await service.requests.first?.body.count == ControlRoute.smallBodyBytes)
        }
    }

    @Test(arguments: [
        "\u{0}\u{1}\u{2}garbage\r\n\r\n", "HELO\r\n\r\n", "GET /v1/status HTTP/9.9\r\n\r\n", "BREW / HTTP/1.1\r\n\r\n",
    ])
    func bytesThatAreNotHTTPAreABadRequest(_ bytes: String) async throws {
        try await withServer { path, service in
            let answer = try await Self.send(bytes, to: path)
            #expect(answer?.status == 400)
            #expect(ControlErrorBody(answer)?.error.code == .badRequest)
            #expect(await service.requests.isEmpty)
        }
    }

    @Test(arguments: [
        ("GET", "/v1/nothing"), ("GET", "/"), ("DELETE", "/v1/status"), ("GET", "/v1/apps/a/b/c"),
        ("GET", "/v2/status"),
    ])
    func anUnknownRouteIsNotFound(_ method: String, _ target: String) async throws {
        try await withServer { path, service in
            let answer = try await Self.send(Self.get(target, method: method), to: path)
            #expect(answer?.status == 404)
            let error = try #require(ControlErrorBody(answer)?.error)
            #expect(error.code == .badRequest)
            #expect(error.message.contains("docs/control-socket.md"))
            #expect(await service.requests.isEmpty)
        }
    }

    @Test(arguments: ["/v1/apps/%zz", "/v1/apps/%", "/v1/apps/%e4", "/v1/apps/a%00%ff"])
    func anInvalidPercentEncodingIsABadRequest(_ target: String) async throws {
        try await withServer { path, service in
            let answer = try await Self.send(Self.get(target, method: "DELETE"), to: path)
            #expect(answer?.status == 400)
            #expect(ControlErrorBody(answer)?.error.code == .badRequest)
            #expect(await service.requests.isEmpty)
        }
    }

    @Test func aParameterIsDecodedOnceAndMayContainAnyCharacter() async throws {
        try await withServer { path, service in
            for name in ["../../etc/passwd", "50%25 off", "a b/c", "ümläut", "."] {
                let target = ControlRoute.removeApp.path(name)
                let answer = try await Self.send(Self.get(target, method: "DELETE"), to: path)
                #expect(answer?.status == 200)
                #expect(await service.requests.last?.parameter == name)
            }
        }
    }

    @Test func aQueryIsDecodedOnceAndItsLastValueIsUsed() async throws {
        try await withServer { path, service in
            _ = try await Self.send(Self.get("/v1/log?app=a%2Fb%2525&limit=1&limit=2"), to: path)
            #expect(await service.requests.last?.query == ["app": "a/b%25", "limit": "2"])
        }
    }

    @Test func everyRefusalOfTheServiceHasItsCodeAndStatus() async throws {
        for code in ControlError.Code.allCases {
            let service = RecordingService()
            await service.refuse(with: ControlError(code, "Why.", retryAfterSeconds: code == .lockedOut ? 60 : nil))
            try await withServer(service: service) { path, _ in
                let answer = try await Self.send(Self.get("/v1/status"), to: path)
                #expect(answer?.status == ControlError(code, "").status)
                #expect(ControlErrorBody(answer)?.error.code == code)
                #expect(answer?.header.contains("retry-after: 60") == (code == .lockedOut))
            }
        }
    }

    @Test func anUnexpectedFailureIsAnsweredAsFailed() async throws {
        let service = RecordingService()
        await service.refuse(with: CocoaError(.fileReadUnknown))
        try await withServer(service: service) { path, _ in
            let answer = try await Self.send(Self.get("/v1/status"), to: path)
            #expect(answer?.status == 500)
            #expect(ControlErrorBody(answer)?.error.code == .failed)
        }
    }
}
