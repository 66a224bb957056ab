import Foundation
import HubAPI
import Testing

@testable import HubServer

/// Large requests use memory as they arrive, and one household never uses all of it.
struct MemoryBudgetTests {
    /// Created on one thread and then only stored, so that nothing is accessed concurrently.
    private struct Held: @unchecked Sendable { let clients: [RawClient] }

    @Test func aShareGrowsShrinksAndStaysWithinItsHouseholdsBudget() throws {
        let budget = MemoryBudget(bytes: 100, largestShare: 60)
        let (one, other) = (HubID.random(), HubID.random())
        var shares = [budget.share(of: one), budget.share(of: one)]
        try shares[0].grow(to: 40)
        try shares[0].grow(to: 30)
        try shares[1].grow(to: 20)
        #expect(throws: HubError.self) { try shares[1].grow(to: 21) }
        let others = budget.share(of: other)
        try others.grow(to: 40)
        #expect(throws: HubError.self) { try others.grow(to: 41) }
        shares.removeFirst()
        try others.grow(to: 60)
        try shares[0].grow(to: 40)
        #expect(throws: HubError.self) { try budget.share(of: nil).grow(to: 1) }
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
