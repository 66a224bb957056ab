import HubAPI
import HubStore
import SystemTestSupport
import TestSupport
import Testing

@testable import HubStorePostgres

/// Settings of the server, the database or the hub's connections that sessions would otherwise obey.
@Suite(.requires(.postgresql)) struct PostgresSessionTests {
    private func open(_ database: String) async throws -> PostgresHubStore {
        try await PostgresHubStore(try PostgresConnectionSettings(database))
    }

    @Test(arguments: ["off", "local"])
    func everyConnectionIsDurableRegardlessOfTheServersDefault(_ setting: String) async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let name = try #require(database.split(separator: "=").last)
        try await server.psql(database, "ALTER DATABASE \(name) SET synchronous_commit = \(setting)")
        let store = try await open(database)
        let level = try await store.pool.read { try $0.query("SHOW synchronous_commit").first?.text(0) }
        #expect(level == "on")
        try await store.close()
        server.discard(database)
    }

    @Test func aConnectionStaysDurableWhenTheServersDefaultBecomesWeak() async throws {
        let server = try await PostgresServer()
        let database = try await server.makeDatabase()
        let store = try await open(database)
        func level() async throws -> String? {
            try await store.pool.read { try $0.query("SHOW synchronous_commit").first?.text(0) }
        }
        #expect(try await level() == "on")
        try await server.psql(database, "ALTER SYSTEM SET synchronous_commit = off")
        try await server.psql(database, "SELECT pg_reload_conf()")
        // The server signals the connections that exist before it accepts one with the new default.
        await eventually { try await server.psql(database, "SHOW synchronous_commit").output == "off\n" }
        #expect(try await level() == "on")
        try await store.close()
        try await server.stop()
    }

    @Test func hubsWithAnotherTimeZoneAndDateStyleSeeTheSameGenerations() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let one = try await open(database)
        let two = try await open(database + " options='-c timezone=Asia/Tokyo -c datestyle=SQL'")
        let household = try await SampleHousehold.founded(in: one)
        let generations = try await one.household(household.id).generations
        #expect(generations.count == 1)
        #expect(try await two.household(household.id).generations == generations)
        #expect(try await one.household(household.id).generations == generations)
        try await one.close()
        try await two.close()
        server.discard(database)
    }

    /// Under a stricter level a transaction doesn't see what was committed while it waited for a lock.
    @Test func transactionsAreReadCommittedRegardlessOfTheDefault() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let store = try await open(database + " options='-c default_transaction_isolation=serializable'")
        let show = "SHOW transaction_isolation"
        let outside = try await store.pool.read { try $0.query(show).first?.text(0) }
        #expect(outside == "serializable")
        let inside = try await store.pool.transaction { try $0.query(show).first?.text(0) }
        #expect(inside == "read committed")
        try await store.close()
        server.discard(database)
    }
}
