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
}
