import Foundation
import HTTPTypes
import HubAPI
import HubStore
import HubStoreSQLite
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import HubServer

/// Large requests use memory as they arrive, and one household or address never uses all of it.
struct MemoryBudgetTests {
    /// Created on one thread and then only stored, so that nothing is accessed concurrently.
    private struct Held: @unchecked Sendable { let clients: [RawClient] }

    /// Requests the path and reads nothing. The connection holds little of the answer.
    private func slowClient(of path: String, at hub: HubUnderTest, token: Data) throws -> SlowClient {
        let client = try RawClient(port: hub.port, receiveBuffer: 4_096, segmentSize: 536)
        let authorization = "Authorization: Bearer \(HubUnderTest.text(token))"
        client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\(authorization)\r\n\r\n")
        return SlowClient(client)
    }

    /// What an answer reserved is released after its client has it, and before the connection's next request.
    private func nextRequest(_ hub: HubUnderTest) async throws {
        #expect(try await hub.request(.health).status == 200)
    }

    /// One that a test releases while others wait.
    private final class SlowClient: Sendable {
        private let client: Mutex<RawClient?>

        init(_ client: sending RawClient) { self.client = Mutex(client) }

        var isAnswered: Bool { client.withLock { $0?.isAnswered ?? false } }

        func close() { client.withLock { $0 = nil } }
    }

    private func client(_ address: String, _ forwarded: String? = nil) throws -> Client {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "hub.example", path: "/")
        if let forwarded { request.headerFields[HTTPField.Name("X-Forwarded-For")!] = forwarded }
        return Client(
            peer: try SocketAddress(ipAddress: address, port: 1), request: request,
            trustedProxies: [AddressRange("192.0.2.9")!])
    }

    @Test func aShareGrowsShrinksAndStaysWithinItsHouseholdsBudget() throws {
        let budget = MemoryBudget(bytes: 100, householdBytes: 60, addressBytes: 100)
        let client = try client("192.0.2.1")
        let (one, other) = (HubID.random(), HubID.random())
        var shares = [budget.share(of: one, for: client), budget.share(of: one, for: client)]
        try shares[0].grow(to: 40)
        try shares[0].grow(to: 30)
        try shares[1].grow(to: 20)
        #expect(throws: HubError.self) { try shares[1].grow(to: 21) }
        let others = budget.share(of: other, for: client)
        try others.grow(to: 40)
        #expect(throws: HubError.self) { try others.grow(to: 41) }
        shares.removeFirst()
        try others.grow(to: 60)
        try shares[0].grow(to: 40)
        #expect(throws: HubError.self) { try budget.share(of: nil, for: client).grow(to: 1) }
    }

    @Test func aShareReleasesWhatItNoLongerNeeds() throws {
        let budget = MemoryBudget(bytes: 100, householdBytes: 100, addressBytes: 100)
        let client = try client("192.0.2.1")
        let (one, other) = (budget.share(of: .random(), for: client), budget.share(of: .random(), for: client))
        try one.grow(to: 90)
        one.shrink(to: 95)
        #expect(throws: HubError.self) { try other.grow(to: 20) }
        one.shrink(to: 30)
        try other.grow(to: 70)
        #expect(throws: HubError.self) { try one.grow(to: 31) }
    }

    /// However many households it has tokens of, and without any.
    @Test func anAddressHasAtMostItsPartOfTheBudget() throws {
        let budget = MemoryBudget(bytes: 100, householdBytes: 33, addressBytes: 25)
        let one = try client("192.0.2.1")
        var shares = [budget.share(of: .random(), for: one), budget.share(of: nil, for: one)]
        try shares[0].grow(to: 20)
        try shares[1].grow(to: 5)
        #expect(throws: HubError.self) { try shares[1].grow(to: 6) }
        #expect(throws: HubError.self) { try budget.share(of: .random(), for: one).grow(to: 1) }
        // Behind a trusted proxy, the address is that of the client.
        for address in ["203.0.113.1", "203.0.113.2"] {
            shares.append(budget.share(of: nil, for: try client("192.0.2.9", address)))
            try shares.last?.grow(to: 25)
        }
        // What is released can be used again, by any address.
        shares.removeFirst()
        try budget.share(of: nil, for: one).grow(to: 20)
        try budget.share(of: nil, for: try client("192.0.2.2")).grow(to: 25)
    }

    @Test func aLargeBodyOfAnAddressDelaysOnlyThatAddress() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.trustedProxies = [AddressRange("127.0.0.1")!]
        }.run { hub in
            let (computer, other) = (try await hub.found(), try await hub.found())
            let large = [computer.record(sealed: Data(count: 1 << 20)), other.record(sealed: Data(count: 1 << 20))]
            for record in large {
                _ = try await hub.store.write([record], household: record.vault, at: hub.time.seconds())
            }
            // A refused answer reserves nothing meanwhile; a body would, and the other one could be refused instead.
            func read(by device: TestDevice, from address: String) async throws -> Int {
                try await hub.request(
                    .record, ["notes", large[device.id == computer.id ? 0 : 1].id.description], token: device.token,
                    headers: [("X-Forwarded-For", address)]
                ).status
            }
            let (port, token) = (hub.port, HubUnderTest.text(computer.token))
            func begin() async throws -> Held {
                try await onThread {
                    let client = try RawClient(port: port)
                    client.send(
                        "PUT /v1/records/notes/\(HubID.random()) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                            + "X-Forwarded-For: 203.0.113.1\r\nIf-None-Match: *\r\n"
                            + "Content-Length: \(HubRoute.writeRecord.maximumBodyBytes)\r\n\r\n")
                    client.send([UInt8](repeating: UInt8(ascii: " "), count: 22_000_000))
                    return Held(clients: [client])
                }
            }
            var held = try await begin()
            // The rest of the household's part would be enough.
            await eventually("the body is read") {
                // It was refused if it arrived during an answer.
                if held.clients[0].isAnswered { held = try await begin() }
                return try await read(by: computer, from: "203.0.113.1") == 503
            }
            #expect(try await read(by: other, from: "203.0.113.1") == 503)
            let small = other.record(sealed: Data(count: 1_000))
            let written = try await hub.request(
                .writeRecord, [small.collection, small.id.description], token: other.token,
                headers: [("If-Match", "\"0\""), ("X-Forwarded-For", "203.0.113.1")], small)
            #expect(written.status == 200)
            #expect(try await read(by: computer, from: "203.0.113.2") == 200)
            withExtendedLifetime(held) {}
        }
    }

    /// The answers would fit into the memory; reading and encoding them needs more.
    @Test func recordsAreNotReadBeforeTheirMemoryIsReserved() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.memoryBytes = 4 << 20 }.run {
            hub in
            let computer = try await hub.found()
            let (large, small) = (
                computer.record(sealed: Data(count: 2 << 20)), computer.record(sealed: Data(count: 1 << 20))
            )
            _ = try await hub.store.write([large, small], household: computer.household, at: hub.time.seconds())
            let names = [large, small].map { [$0.collection, $0.id.description] }
            let page = try await hub.request(.records, query: "?limit=1", token: computer.token)
            #expect(page.error?.code == .unavailable && page.error?.retryAfterSeconds == 1)
            #expect(try await hub.request(.record, names[0], token: computer.token).error?.code == .unavailable)
            #expect(try await !hub.request(.metrics).body.contains("operation=\"page\""))
            // What an answer reserved is released with it.
            for _ in 0..<4 {
                #expect(try await hub.request(.records, query: "?after=1", token: computer.token).status == 200)
                #expect(try await hub.request(.record, names[1], token: computer.token).status == 200)
            }
        }
    }

    /// As with a stream: writing returns long before the client has the answer.
    @Test func anAnswerIsReservedUntilTheClientReadsIt() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.memoryBytes = 7 << 20
            configuration.limits.slowestClient = 0
        }.run { hub in
            let computer = try await hub.found()
            let records = (0..<32).map { _ in computer.record(sealed: Data(count: 60_000)) }
            _ = try await hub.store.write(records, household: computer.household, at: hub.time.seconds())
            func status() async throws -> Int { try await hub.request(.records, token: computer.token).status }
            #expect(try await status() == 200)
            try await self.nextRequest(hub)
            let slow = try slowClient(of: "/v1/records", at: hub, token: computer.token)
            await eventually("the answer is being sent") { slow.isAnswered }
            for _ in 0..<5 { #expect(try await status() == 503) }
            slow.close()
            await eventually("the closed connection's answer is released") { try await status() == 200 }
        }
    }

    @Test func readersOfBlobsReserveTheirPieces() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.memoryBytes = 4 << 20
            configuration.limits.slowestClient = 0
        }.run { hub in
            let computer = try await hub.found()
            let blob = StoredBlobID(household: computer.household, blob: .random())
            let size = 8 << 20
            _ = try await hub.store.beginBlob(
                NewBlobRequest(id: blob.blob, size: UInt64(size), hash: .random(32)), by: computer.id,
                household: computer.household, limit: 1 << 40, at: hub.time.seconds())
            try await DirectoryBlobStore(path: hub.directory.path("hub/blobs"))
                .write([UInt8](repeating: 7, count: size), at: 0, of: blob)
            try await hub.store.advanceBlob(
                blob.blob, of: computer.household, from: 0, to: UInt64(size), isComplete: true, at: hub.time.seconds())
            func status() async throws -> Int {
                try await hub.request(
                    .readBlob, [blob.blob.description], token: computer.token, headers: [("Range", "bytes=0-999999")]
                ).status
            }
            #expect(try await status() == 206)
            try await self.nextRequest(hub)
            let (port, token) = (hub.port, HubUnderTest.text(computer.token))
            let slow = Mutex<Held?>(
                try await onThread {
                    try Held(
                        clients: (0..<12).map { _ in
                            let client = try RawClient(port: port, receiveBuffer: 4_096)
                            client.send(
                                "GET /v1/blobs/\(blob.blob) HTTP/1.1\r\nHost: h\r\n"
                                    + "Authorization: Bearer \(token)\r\n\r\n")
                            return client
                        })
                })
            await eventually("all are answered") { slow.withLock { $0?.clients.allSatisfy(\.isAnswered) ?? false } }
            #expect(try await status() == 503)
            slow.withLock { $0 = nil }
            await eventually("what they reserved is released") { try await status() == 206 }
        }
    }

    @Test func aRosterIsNotReadBeforeItsMemoryIsReserved() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.memoryBytes = 1 << 20 }.run {
            hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            for number in 3...103 {
                let isLast = number == 103
                let request = RosterAppendRequest(
                    number: UInt64(number), entry: .random(4_096),
                    change: isLast ? .revoke(device: phone.id) : .restore(revoked: nil))
                try await hub.store.appendToRoster(request, of: computer.household)
            }
            for token in [computer.token, phone.token] {
                #expect(try await hub.request(.roster, token: token).error?.code == .unavailable)
                #expect(try await hub.request(.roster, query: "?after=90", token: token).status == 200)
            }
        }
    }

    @Test func aConflictReservesMemoryForTheStoredRecord() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.memoryBytes = 1 << 20 }.run {
            hub in
            let computer = try await hub.found()
            for (bytes, code) in [(100_000, HubError.Code.conflict), (1 << 20, .unavailable)] {
                let stored = computer.record(sealed: Data(count: bytes))
                _ = try await hub.store.write([stored], household: computer.household, at: hub.time.seconds())
                let other = computer.record(id: stored.id, sealed: Data(count: 10))
                #expect(try await hub.put(other, by: computer).error?.code == code)
            }
        }
    }

    /// The page that the client doesn't read remains reserved; the whole of it doesn't fit into the connection.
    @Test func aStreamsPageIsReservedUntilTheClientReadsIt() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.memoryBytes = 4 << 20
            // Nobody is too slow.
            configuration.limits.slowestClient = 0
        }.run { hub in
            let computer = try await hub.found()
            for _ in 0..<10 {
                let records = (0..<16).map { _ in computer.record(sealed: Data(count: 60_000)) }
                _ = try await hub.store.write(records, household: computer.household, at: hub.time.seconds())
            }
            func status() async throws -> Int {
                try await hub.request(.records, query: "?limit=16", token: computer.token).status
            }
            #expect(try await status() == 200)
            let slow = try slowClient(of: "/v1/stream", at: hub, token: computer.token)
            await eventually("the stream's first page is read") {
                try await hub.request(.metrics).body.contains("operation=\"replay\"")
            }
            await eventually("the stream's page is reserved") { try await status() == 503 }
            slow.close()
            await eventually("the closed stream's page is released") { try await status() == 200 }
        }
    }

    /// So many that their announced sizes exceed the whole budget.
    @Test func announcedBodiesThatAreNotSentBlockNobody() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let token = HubUnderTest.text(computer.token)
            let port = hub.port
            let size = HubRoute.writeRecord.maximumBodyBytes
            let clients = try await onThread {
                try Held(
                    clients: (0..<40).map { _ in
                        let client = try RawClient(port: port)
                        client.send(
                            "PUT /v1/records/notes/\(HubID.random()) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                                + "If-None-Match: *\r\nContent-Length: \(size)\r\n\r\n{")
                        return client
                    })
            }
            let record = computer.record(sealed: Data(count: 1 << 20))
            #expect(try await hub.put(record, by: computer).status == 200)
            withExtendedLifetime(clients) {}
        }
    }
}
