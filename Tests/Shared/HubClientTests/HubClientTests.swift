import Foundation
import HubAPI
import TestSupport
import Testing

@testable import HubClient

@Suite struct HubAddressTests {
    @Test(arguments: [
        "https://hub.example", "https://hub.example:8443", "http://127.0.0.1:8440", "http://localhost:1",
        "http://[::1]:80",
        "https://192.168.1.4/",
    ])
    func validHubAddressesAreAccepted(text: String) throws {
        let address = try HubAddress(text)
        #expect(address.description == (text.hasSuffix("/") ? String(text.dropLast()) : text))
    }

    @Test(arguments: [
        "hub.example", "ftp://hub.example", "https://", "https://hub.example/path", "https://user@hub.example",
        "https://hub.example?x", "https://hub.example#x", "http://hub.example", "http://192.168.1.4",
        "http://127.0.0.1.evil.example", "http://127.1", "https://hub.example:0", "https://hub.example:70000", "",
    ])
    func invalidAndInsecureAddressesAreRefused(text: String) {
        #expect(throws: HubAddressError.self) { try HubAddress(text) }
    }

    @Test func plainHTTPToAnotherHostRequiresPermission() throws {
        #expect(try HubAddress("http://hub.lan", allowsPlain: true).description == "http://hub.lan")
    }
}

@Suite struct HubStreamParserTests {
    private static let record = HubRecord(
        collection: "events", id: HubID("00000000000000000000000000000001")!,
        vault: HubID("00000000000000000000000000000002")!, revision: 1, epoch: 1,
        author: HubID("00000000000000000000000000000003")!, sealed: Data([1, 2, 3]), signature: Data(count: 64))

    private static var text: String {
        get throws {
            let json = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
            return ": hello\n\nid: 7\nevent: record\ndata: \(json)\n\n:\n\nevent: new-in-a-later-version\ndata: x\n\n"
                + "id: 9\r\nevent: large\r\ndata:\r\n\r\nevent: roster\ndata: 3\n\n"
                + "event: join\ndata: 00000000000000000000000000000001\n\nid: 12\nevent: live\ndata:\n\n"
        }
    }

    @Test func eventsDoNotDependOnThePieces() throws {
        let bytes = Array(try Self.text.utf8)
        var expected = Self.record
        expected.sequence = 7
        for size in [1, 2, 3, 7, 64, bytes.count] {
            var parser = HubStreamParser()
            var items: [HubStreamItem] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                items += try parser.read(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(
                items == [
                    .record(expected), .large(sequence: 9), .roster(number: 3), .join(invitation: expected.id),
                    .live(sequence: 12),
                ])
        }
    }

    @Test(arguments: [
        "event: record\ndata: {}\n\n", "event: record\ndata: x\n\n", "event: live\ndata:\n\n",
        "id: x\nevent: large\n\n",
        "event: join\ndata: 12\n\n", "event: roster\ndata: -1\n\n", "id: 0\nevent: large\n\n",
        "id: -1\nevent: large\n\n", "id: 18446744073709551616\nevent: live\n\n", "id: 1e308\nevent: live\n\n",
    ])
    func anInvalidStreamIsRefused(text: String) {
        var parser = HubStreamParser()
        #expect(throws: HubUnreachable.self) { try parser.read(Array(text.utf8)) }
    }

    @Test func anEndlessLineIsRefused() {
        var parser = HubStreamParser()
        #expect(throws: HubUnreachable.self) {
            for _ in 0..<40 { _ = try parser.read([UInt8](repeating: 65, count: 65_536)) }
        }
    }
}

@Suite struct HubClientTests {
    private func client(_ server: ScriptedServer, silence: Duration = .seconds(45)) throws -> HubClient {
        var settings = HubClientSettings(
            address: try HubAddress("http://127.0.0.1:\(server.port)"), token: Data(repeating: 255, count: 32))
        settings.silence = silence
        return try HubClient(settings)
    }

    private func code(_ work: () async throws -> Void) async -> HubUnreachable.Code? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? HubUnreachable)?.code
        }
    }

    private func answer(_ status: String, _ body: String, _ headers: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    @Test func aRefusalContainsTheHubsError() async throws {
        let server = try ScriptedServer(
            answer("429 Too Many Requests", #"{"error":{"code":"too_many","message":"Wait.","retryAfterSeconds":9}}"#))
        do {
            _ = try await client(server).household()
            Issue.record("it was refused")
        } catch let error as HubError {
            #expect(error == HubError(.tooMany, "Wait.", retryAfterSeconds: 9))
        }
        #expect(server.requests.contains("GET /v1/household HTTP/1.1"))
        #expect(server.requests.contains("Bearer __________________________________________8"))
    }

    @Test func theTokenIsNotSentToPublicRoutes() async throws {
        let server = try ScriptedServer(answer("200 OK", "{}"))
        #expect(await code { _ = try await client(server).hub() } == .notUnderstood)
        #expect(server.requests.contains("GET /v1/hub") && !server.requests.contains("Bearer"))
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let elsewhere = try ScriptedServer(answer("200 OK", "{}"))
        let server = try ScriptedServer(
            answer("302 Found", "", "Location: http://127.0.0.1:\(elsewhere.port)/\r\n"))
        #expect(await code { _ = try await client(server).household() } == .notUnderstood)
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func anAnswerThatIsTooLongIsNotRead() async throws {
        let server = try ScriptedServer(answer("200 OK", String(repeating: "x", count: 2 << 20)))
        #expect(await code { _ = try await client(server).household() } == .tooLarge)
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", "nonsense\r\n\r\n", ""])
    func aTruncatedAnswerIsAnError(text: String) async throws {
        let server = try ScriptedServer(text)
        #expect(await code { _ = try await client(server).household() } == .offline)
    }

    @Test func aRefusedConnectionIsReportedAtOnce() async throws {
        let server = try ScriptedServer("")
        let port = server.port
        withExtendedLifetime(server) {}
        let client = try HubClient(
            HubClientSettings(address: try HubAddress("http://127.0.0.1:\(port == 1 ? 2 : 1)")))
        #expect(await code { _ = try await client.hub() } == .offline)
    }

    /// A hub that sends without end fills no memory: what nobody takes stays in the buffers of the two sockets.
    @Test func aStreamIsReadOnlyAsFastAsItIsTaken() async throws {
        let event = "event: large\nid: 7\ndata: \(String(repeating: "x", count: 1_000))\n\n"
        let count = (24 << 20) / event.utf8.count
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        let server = try ScriptedServer(head + String(repeating: event, count: count))
        var items = try await client(server).stream(after: 0).makeAsyncIterator()
        for _ in 0..<100 { _ = try await items.next() }
        // Real time is what is tested: a client that reads ahead would continue to read in it.
        var before = 0
        await eventually(every: .milliseconds(500), "the server can write no more") {
            let now = server.bytesSent
            defer { before = now }
            return now > 0 && now == before
        }
        #expect(before < 16 << 20 && !server.hasAnswered, "\(before >> 20) MiB were read")
        var taken = 100
        while try await items.next() != nil { taken += 1 }
        #expect(server.hasAnswered && taken == count + 1)
    }

    @Test func aSilentStreamIsClosed() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try ScriptedServer(head + "3\r\n:\n\n\r\n", closes: false)
        let started = ContinuousClock.now
        // Also if this process stands still until before the head.
        let code = await code {
            for try await _ in try await client(server, silence: .seconds(2)).stream(after: 41) {}
        }
        #expect(code == .timeout)
        #expect(ContinuousClock.now - started < .seconds(40), "before the usual 45 seconds")
        #expect(server.requests.lowercased().contains("last-event-id: 41"))
    }

    @Test func unusableCertificatesAndProxiesAreReported() throws {
        let address = try HubAddress("https://hub.example")
        #expect(throws: HubUnreachable.self) {
            try HubClient(HubClientSettings(address: address, certificates: "/nonexistent.pem"))
        }
        #expect(throws: HubUnreachable.self) { try HubClient(HubClientSettings(address: address, proxy: "proxy")) }
    }

    @Test func requestsUseTheConfiguredProxy() async throws {
        let proxy = try ScriptedServer(answer("502 Bad Gateway", ""))
        let settings = HubClientSettings(
            address: try HubAddress("https://hub.example"), proxy: "http://127.0.0.1:\(proxy.port)")
        #expect(await code { _ = try await HubClient(settings).hub() } == .offline)
        #expect(proxy.requests.hasPrefix("CONNECT hub.example:443 "))
    }
}
