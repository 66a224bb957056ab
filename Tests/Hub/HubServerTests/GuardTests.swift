import Foundation
import Glibc
import HubAPI
import HubStore
import HubStoreSQLite
import TestSupport
import Testing

@testable import HubServer

/// Clients that are slow, silent, send too much, or don't speak HTTP.
struct GuardTests {
    @Test func malformedHTTPIsABadRequest() async throws {
        try await HubUnderTest.run { hub in
            for (bytes, status) in [
                ("GET /v1/hub HTTP/1.1\r\n\r\n", "400"), ("GET /v1/hub HTTP/1.1\r\nHost:\r\n\r\n", "400"),
                ("GET /v1/hub HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
                ("GET /v1/hub HTTP/1.1\r\nHost: a\r\nX: 1\r\nhost: a\r\n\r\n", "400"),
                ("hello\r\n\r\n", "400"), ("GET / HTTP/9.9\r\n\r\n", "400"),
                ("GET /v1/hub HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n", "431"),
                ("GET /v1/hub HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", "400"),
                ("PUT /v1/push HTTP/1.1\r\nHost: h\r\nContent-Length: 70000\r\n\r\n", "413"),
                ("PUT /v1/push HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", "4"),
            ] {
                let port = hub.port
                let answer = try await onThread {
                    let client = try RawClient(port: port)
                    client.send(bytes)
                    return client.readAll()
                }
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(bytes.prefix(60)) → \(answer.prefix(80))")
            }
            #expect(try await hub.request(.health).status == 200)
        }
    }

    /// A body would be read as the beginning of the next response.
    @Test func anAnswerToHEADHasNoBody() async throws {
        try await HubUnderTest.run { hub in
            let port = hub.port
            for path in ["/", "/v1/hub", "/none"] {
                let answer = try await onThread {
                    let client = try RawClient(port: port)
                    client.send(
                        "HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
                            + "GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                    return client.readAll()
                }
                let parts = answer.components(separatedBy: "\r\n\r\n")
                #expect(parts.count == 3 && parts[2] == "ok\n", "\(answer)")
                #expect(parts[1].hasPrefix("HTTP/1.1 200"), "\(answer)")
                let length = try #require(parts[0].lowercased().firstMatch(of: /content-length: (\d+)/)?.1)
                #expect(Int(length) ?? 0 > 20, "the length is that of the answer to GET: \(answer)")
            }
        }
    }

    /// The token is refused before the body arrives; the body is neither read to its end nor refused again.
    @Test func aRefusedRequestIsAnsweredOnce() async throws {
        try await HubUnderTest.run { hub in
            let port = hub.port
            let answer = try await onThread {
                let client = try RawClient(port: port)
                client.send(
                    "PUT /v1/records/notes/\(HubID.random()) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n")
                let piece = Array("100000\r\n".utf8) + [UInt8](repeating: 7, count: 1 << 20) + Array("\r\n".utf8)
                for _ in 0..<26 where !client.send(piece) { break }
                return client.readAll()
            }
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "\(answer)")
            #expect(answer.hasPrefix("HTTP/1.1 401") && answer.lowercased().contains("connection: close"))
        }
    }

    /// 100 MB in one body, with and without Content-Length: refused at once, and never stored in memory.
    @Test func aTooLargeBodyIsRefusedEarly() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let token = HubUnderTest.text(computer.token)
            let before = try #require(HubMetrics.residentBytes())
            let port = hub.port
            let head =
                "PATCH /v1/blobs/\(HubID.random())?offset=0 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
            let (early, sent) = try await onThread {
                let client = try RawClient(port: port)
                client.send(head + "Content-Length: 104857600\r\n\r\n")
                let answer = client.read(timeout: 60) { !$0.isEmpty }
                let piece = [UInt8](repeating: 7, count: 1 << 20)
                var sent = 0
                while sent < 100, client.send(piece) { sent += 1 }
                return (String(decoding: answer, as: UTF8.self), sent)
            }
            #expect(early.hasPrefix("HTTP/1.1 413"))
            #expect(sent < 100)
            let chunked = try await onThread {
                let client = try RawClient(port: port)
                client.send(head + "Transfer-Encoding: chunked\r\n\r\n")
                let piece = Array("100000\r\n".utf8) + [UInt8](repeating: 7, count: 1 << 20) + Array("\r\n".utf8)
                var sent = 0
                while sent < 100, client.send(piece) { sent += 1 }
                return sent
            }
            #expect(chunked < 100)
            let after = try #require(HubMetrics.residentBytes())
            #expect(after - before < 64 << 20, "grew by \((after - before) >> 20) MiB")
        }
    }

    /// Several large bodies share the hub's memory budget.
    @Test func largeBodiesTogetherStayWithinTheBudget() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.memoryBytes = 32 << 20 }.run {
            hub in
            let computer = try await hub.found()
            let token = HubUnderTest.text(computer.token)
            let port = hub.port
            let head =
                "PATCH /v1/blobs/\(HubID.random())?offset=0 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                + "Content-Length: \(BlobState.maximumPiece)\r\n\r\n"
            // Two of them use 24 MiB once all but a byte has arrived; the third has to wait.
            func begin() throws -> RawClient {
                let client = try RawClient(port: port)
                client.send(head)
                client.send([UInt8](repeating: 7, count: BlobState.maximumPiece - 1))
                return client
            }
            var waiting = [try begin(), try begin()]
            await eventually("the third body is refused") {
                // One that arrived after a third body of an earlier round was refused instead.
                for index in waiting.indices where waiting[index].isAnswered { waiting[index] = try begin() }
                let answer = try await onThread { () -> String? in
                    let client = try RawClient(port: port)
                    client.send(head)
                    client.send([UInt8](repeating: 7, count: 3 << 20))
                    let early = client.read(timeout: 0.3) { !$0.isEmpty }
                    // It waits for the rest until the bodies of the other two have arrived.
                    guard !early.isEmpty || client.isAnswered else { return nil }
                    let late = client.read(timeout: 60) { !early.isEmpty || !$0.isEmpty }
                    return String(decoding: early + late, as: UTF8.self)
                }
                guard let answer else { return false }
                #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
                return true
            }
            _ = waiting.map { $0.descriptor }
        }
    }

    @Test func aSlowRequestIsDisconnected() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.requestTimeout = .milliseconds(300)
            configuration.limits.idleTimeout = .milliseconds(700)
            configuration.limits.slowestClient = 1 << 20
        }.run { hub in
            let port = hub.port
            let answers = try await onThread {
                // Half a header, then nothing; and a body of single bytes.
                let half = try RawClient(port: port)
                half.send("GET /v1/hub HTTP/1.1\r\nHos")
                let dripping = try RawClient(port: port)
                dripping.send("PUT /v1/push HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n")
                var isCut = false
                for _ in 0..<1_200 where !isCut {
                    isCut = !dripping.send("x")
                    usleep(50_000)
                }
                return (half.isClosed(within: 60), isCut)
            }
            #expect(answers.0 && answers.1)
            // With these limits a request that is slow on a busy machine is disconnected as well.
            await eventually("the hub still answers") { try await hub.request(.health).status == 200 }
        }
    }

    /// Its body could hold memory for as long as all of it may take.
    @Test func aBodyThatStopsArrivingIsRefused() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.requestTimeout = .seconds(3)
        }.run { hub in
            // Not over HTTP: on a busy machine, that request may be slow too.
            let computer = TestDevice(household: .random(), role: .computer)
            let founding = NewHouseholdRequest(
                household: computer.household, device: computer.id, entry: computer.entry,
                tokenHash: computer.tokenHash)
            _ = try await hub.store.foundHousehold(founding, FoundingTerms())
            let (port, token) = (hub.port, HubUnderTest.text(computer.token))
            let size = HubRoute.writeRecord.maximumBodyBytes
            #expect(size / HubLimits().slowestClient > 600)
            let answer = try await onThread {
                let client = try RawClient(port: port)
                client.send(
                    "PUT /v1/records/notes/\(HubID.random()) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                        + "If-None-Match: *\r\nContent-Length: \(size)\r\n\r\n")
                client.send([UInt8](repeating: UInt8(ascii: " "), count: 1 << 20))
                for _ in 0..<1_200 {
                    usleep(50_000)
                    guard !client.isAnswered, client.send(" ") else { break }
                }
                return client.readAll()
            }
            #expect(answer.contains("took too long to arrive"))
        }
    }

    @Test func aSilentConnectionIsClosed() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.idleTimeout = .milliseconds(300) }
            .run { hub in
                let port = hub.port
                let isClosed = try await onThread { try RawClient(port: port).isClosed(within: 60) }
                #expect(isClosed)
            }
    }

    @Test func aHalfClosedConnectionIsAnswered() async throws {
        try await HubUnderTest.run { hub in
            let port = hub.port
            let answer = try await onThread {
                let half = try RawClient(port: port)
                half.send("GET /v1/hub HTTP/1.1\r\nHost: h\r\n\r\n")
                shutdown(half.descriptor, Int32(SHUT_WR))
                return half.readAll()
            }
            #expect(answer.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func connectionsOfOneAddressAreLimited() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.connectionsPerAddress = 8 }.run {
            hub in
            let port = hub.port
            let refused = try await onThread {
                let clients = try (0..<8).map { _ in try RawClient(port: port) }
                for client in clients {
                    client.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
                    _ = client.read(timeout: 60) { !$0.isEmpty }
                }
                let refused = try RawClient(port: port).readAll()
                withExtendedLifetime(clients) {}
                return refused
            }
            #expect(refused.hasPrefix("HTTP/1.1 429"))
            await eventually("another client is served once they have disconnected") {
                try await onThread {
                    let later = try RawClient(port: port)
                    later.send("GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                    return later.readAll()
                }.hasPrefix("HTTP/1.1 200")
            }
        }
    }

    @Test func expectContinueIsAnswered() async throws {
        try await HubUnderTest.run { hub in
            let port = hub.port
            let answer = try await onThread {
                let client = try RawClient(port: port)
                client.send(
                    "PUT /v1/push HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
                )
                let first = client.read(timeout: 60) { $0.count >= 21 }
                client.send("{}")
                return String(decoding: first, as: UTF8.self) + client.readAll()
            }
            #expect(answer.hasPrefix("HTTP/1.1 100"))
            #expect(answer.contains("HTTP/1.1 401"))
        }
    }
}
