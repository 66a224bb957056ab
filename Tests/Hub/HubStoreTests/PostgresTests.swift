import Foundation
import HubAPI
import HubStore
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import HubStorePostgres

/// Behaviour of PostgreSQL alone: several hubs, an unreachable server, external settings.
@Suite(.requires(.postgresql)) struct PostgresTests {
    private func open(_ database: String) async throws -> PostgresHubStore {
        try await PostgresHubStore(try PostgresConnectionSettings(database))
    }

    @Test(.timeLimit(.minutes(10))) func twoHubsOfOneDatabaseSeeEachOthersChangesInOrder() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let (one, two) = (try await open(database), try await open(database))
        let household = try await SampleHousehold.founded(in: one)
        let changes = try await two.changes()
        // Both hubs write to one household concurrently.
        let writing = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        for _ in 0..<10 {
                            let store = number.isMultiple(of: 2) ? one : two
                            _ = try await store.write([household.record()], household: household.id, at: now)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        var last: UInt64 = 0
        for await change in changes {
            guard case .records(household.id, let through) = change, through > last else {
                Issue.record("\(change) after \(last)")
                break
            }
            let page = try await two.records(
                of: household.id, after: last, limit: 1_000, maximumBytes: 1 << 20)
            #expect(page.records.compactMap(\.sequence).prefix(Int(through - last)) == Array(last + 1...through)[...])
            last = through
            if last == 320 { break }
        }
        try await writing.value
        #expect(try await two.household(household.id).sequence == 320)
        // A token that one hub revokes is refused by the other at once.
        let companion = try await household.admitted(to: one)
        #expect(try await two.device(tokenHash: companion.token)?.state == .active)
        try await one.removeDevice(companion.device, of: household.id)
        #expect(try await two.device(tokenHash: companion.token) == nil)
        try await one.close()
        try await two.close()
        server.discard(database)
    }

    /// Each transaction locks several households: in different orders they would deadlock.
    @Test func concurrentWritesToManyHouseholdsDoNotDeadlock() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let stores = [try await open(database), try await open(database), try await open(database)]
        var households: [SampleHousehold] = []
        for _ in 0..<12 { households.append(try await SampleHousehold.founded(in: stores[0])) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for household in households {
                for store in stores {
                    group.addTask {
                        for _ in 0..<15 {
                            let outcomes = try await store.write(
                                [household.record()], household: household.id, at: now)
                            #expect(outcomes[0].sequence != nil)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for household in households { #expect(try await stores[1].household(household.id).sequence == 45) }
        let deadlocks = try await server.psql(database, "SELECT sum(deadlocks) FROM pg_stat_database")
        #expect(deadlocks.output == "0\n")
        for store in stores { try await store.close() }
        server.discard(database)
    }

    @Test func hubsThatStartTogetherCreateTheTablesOnce() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let stores = try await withThrowingTaskGroup(of: PostgresHubStore.self) { group in
            for _ in 0..<5 { group.addTask { try await open(database) } }
            return try await group.reduce(into: [PostgresHubStore]()) { $0.append($1) }
        }
        #expect(try await server.psql(database, "SELECT version FROM hub_version").output == "10\n")
        for store in stores { try await store.close() }
        // Tables of a later version are refused with a reason and not changed.
        try await server.psql(database, "UPDATE hub_version SET version = 99")
        let error = await #expect(throws: PostgresHubStoreError.self) { _ = try await open(database) }
        #expect(error?.code == .fromTheFuture && error?.description.contains("newer") == true)
        #expect(try await server.psql(database, "SELECT version FROM hub_version").output == "99\n")
        server.discard(database)
    }

    @Test func aDatabaseOfAnEarlierVersionCountsItsRecords() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let store = try await open(database)
        let upload = try await UploadOfTheVersionBefore.begun(in: store)
        try await server.psql(
            database,
            """
            ALTER TABLE blob DROP COLUMN begun_by;
            CREATE INDEX record_tombstone ON record (household, written) WHERE sealed IS NULL;
            UPDATE household SET bytes = 100 + 5;
            DROP TABLE used_start, reminder;
            ALTER TABLE invitation DROP COLUMN has_founded;
            ALTER TABLE household DROP COLUMN is_main;
            ALTER TABLE invitation DROP COLUMN details;
            ALTER TABLE push DROP COLUMN title, DROP COLUMN body, DROP COLUMN navigate;
            CREATE INDEX invitation_household ON invitation (household);
            DROP INDEX invitation_expires, record_written;
            UPDATE hub_version SET version = 2;
            """)
        let reopened = try await open(database)
        try await upload.continues(in: reopened)
        server.discard(database)
    }

    /// Both hubs collect the same garbage, and one of them removes it late.
    @Test func aBlobThatIsBegunAgainIsNotRemovedByTheOtherHub() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let (one, two) = (try await open(database), try await open(database))
        let (blobs, late) = (PostgresBlobStore(one), PostgresBlobStore(two))
        let household = try await SampleHousehold.founded(in: one)
        let request = NewBlobRequest(id: .random(), size: 3, hash: .random(32))
        let blob = StoredBlobID(household: household.id, blob: request.id)
        func upload() async throws {
            _ = try await one.beginBlob(request, by: household.computer, household: household.id, at: now)
            try await blobs.write([1, 2, 3], at: 0, of: blob)
            try await one.advanceBlob(request.id, of: household.id, from: 0, to: 3, isComplete: true, at: now)
        }
        try await upload()
        for store in [one, two] { #expect(try await store.collectGarbage(at: now + 86_401) == [blob]) }
        try await blobs.remove([blob])
        try await one.forgetGarbage([blob])
        await expectRefusal(.notFound) { _ = try await blobs.read(blob, offset: 0, length: 3) }
        try await upload()
        try await late.remove([blob])
        try await two.forgetGarbage([blob])
        #expect(try await blobs.read(blob, offset: 0, length: 3) == [1, 2, 3])
        try await one.close()
        try await two.close()
        server.discard(database)
    }

    @Test func aDestroyedPINShareIsOverwrittenInItsRow() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let store = try await open(database)
        let household = try await SampleHousehold.founded(in: store)
        try await store.setPINShare(.sample, device: household.computer, household: household.id)
        for number in 0..<10 {
            _ = try await store.attemptPIN(
                wrongVerifier, device: household.computer, household: household.id, at: now + Int64(number * 60))
        }
        let entries = try await server.psql(database, "SELECT encode(entries, 'hex') FROM pin_share")
        for entry in PINShareRequest.sample.entries {
            #expect(!entries.output.contains(hexadecimal(entry.verifier)))
            #expect(!entries.output.contains(hexadecimal(entry.share)))
        }
        #expect(entries.output.contains(String(repeating: "00", count: 64)))
        func hexadecimal(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }
        try await store.close()
        server.discard(database)
    }

    @Test func aPasswordIsReadOnlyFromAPrivateFile() async throws {
        let directory = try TemporaryDirectory()
        for text in ["host=/tmp password=secret1", "postgresql://hub:secret1@localhost/hub"] {
            let error = #expect(throws: PostgresHubStoreError.self) { try PostgresConnectionSettings(text) }
            #expect(error?.code == .badSettings && error?.description.contains("secret1") == false)
        }
        let error = #expect(throws: PostgresHubStoreError.self) { try PostgresConnectionSettings("no=such=thing") }
        #expect(error?.code == .badSettings)
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let path = try directory.write(database + " password=unused\n", to: "hub.conninfo", permissions: 0o640)
        let open = await #expect(throws: PostgresHubStoreError.self) { _ = try await PostgresHubStore(.file(path)) }
        #expect(open?.code == .badSettings && open?.description.contains("0600") == true)
        chmod(path, 0o600)
        try await PostgresHubStore(.file(path)).close()
        let absent = await #expect(throws: PostgresHubStoreError.self) {
            _ = try await PostgresHubStore(.file(directory.path("absent")))
        }
        #expect(absent?.code == .badSettings && absent?.description.contains("absent") == true)
        let away = await #expect(throws: PostgresHubStoreError.self) {
            _ = try await PostgresHubStore(try PostgresConnectionSettings("host=\(directory.path)"))
        }
        #expect(away?.code == .unreachable)
        server.discard(database)
    }

    @Test func aServerWithoutDurableCommitsIsRefused() async throws {
        let server = try await PostgresServer()
        let database = try await server.makeDatabase()
        try await server.psql(database, "ALTER SYSTEM SET fsync = off")
        try await server.psql(database, "SELECT pg_reload_conf()")
        await eventually { try await server.psql(database, "SHOW fsync").output == "off\n" }
        let error = await #expect(throws: PostgresHubStoreError.self) { _ = try await open(database) }
        #expect(error?.code == .notDurable)
        try await server.stop()
    }
}

/// Clients that write in a loop until they are stopped.
private final class Writers: Sendable {
    private let isOver = Mutex(false)
    private let refused = Mutex(0)

    var refusals: Int { refused.withLock { $0 } }

    func stop() { isOver.withLock { $0 = true } }

    /// - Returns: the acknowledged records.
    func run(_ stores: [PostgresHubStore], _ household: SampleHousehold) async -> [HubRecord] {
        await withTaskGroup(of: [HubRecord].self) { group in
            for number in 0..<16 {
                group.addTask { await self.write(to: stores[number % stores.count], household) }
            }
            return await group.reduce(into: [HubRecord]()) { $0 += $1 }
        }
    }

    private func write(to store: PostgresHubStore, _ household: SampleHousehold) async -> [HubRecord] {
        var acknowledged: [HubRecord] = []
        while !isOver.withLock({ $0 }) {
            var record = household.record()
            do {
                record.sequence = try await store.write([record], household: household.id, at: now)[0].sequence
                acknowledged.append(record)
            } catch {
                #expect((error as? HubError)?.code == .unavailable)
                refused.withLock { $0 += 1 }
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        return acknowledged
    }
}

/// The server is stopped, crashes and is killed during writes.
@Suite(.requires(.postgresql)) struct PostgresRestartTests {
    private var isLong: Bool { ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1" }

    /// Retries for as long as the store may need to find the server again.
    private func patiently<Value>(_ body: () async throws -> Value) async throws -> Value {
        for _ in 0..<2_400 {
            do { return try await body() } catch let error as HubError where error.code == .unavailable {
                try await Task.sleep(for: .milliseconds(25))
            }
        }
        return try await body()
    }

    @Test(.timeLimit(.minutes(10))) func nothingAcknowledgedIsLostAndTheStreamsRecover() async throws {
        let server = try await PostgresServer()
        let database = try await server.makeDatabase()
        let settings = try PostgresConnectionSettings(database)
        let stores = [try await PostgresHubStore(settings), try await PostgresHubStore(settings)]
        let household = try await SampleHousehold.founded(in: stores[0])
        let companion = try await household.admitted(to: stores[0]).device
        let followed = Mutex<UInt64>(0)
        let changes = try await stores[1].changes()
        let following = Task {
            var next: UInt64 = 0
            for await change in changes {
                switch change {
                case .records, .unknown:
                    // The database is unreachable again: the next `.unknown` arrives with the connection.
                    while let page = try? await stores[1].records(
                        of: household.id, after: next, limit: 500, maximumBytes: 1 << 20)
                    {
                        for record in page.records {
                            #expect(record.sequence == next + 1, "the stream skips nothing")
                            next = record.sequence ?? next
                        }
                        let seen = next
                        followed.withLock { $0 = seen }
                        if !page.more { break }
                    }
                default: break
                }
            }
        }
        for _ in 0..<(isLong ? 30 : 1) {
            for signal in isLong ? [SIGINT, SIGQUIT, SIGKILL] : [SIGINT, SIGQUIT] {
                try await writeThrough(signal, server, stores, household, companion)
            }
        }
        let newest = try await patiently { try await stores[0].household(household.id).sequence }
        #expect(newest > 0)
        await eventually { followed.withLock { $0 } == newest }
        for store in stores { try await store.close() }
        _ = await following.value
        try await server.stop()
    }

    private func writeThrough(
        _ signal: Int32, _ server: PostgresServer, _ stores: [PostgresHubStore], _ household: SampleHousehold,
        _ companion: HubID
    ) async throws {
        try await patiently {
            try await stores[0].setPINShare(.sample, device: companion, household: household.id)
        }
        let begun = try await patiently { try await stores[0].household(household.id).sequence }
        let writers = Writers()
        let writing = Task { await writers.run(stores, household) }
        await eventually("they write") {
            try await stores[0].household(household.id).sequence > begun
        }
        var counted = 0
        for number in 1...3 {
            counted = try await patiently {
                let attempt = try await stores[1].attemptPIN(
                    wrongVerifier, device: companion, household: household.id, at: now)
                guard case .wrong(let failures, _) = attempt else { return 0 }
                return failures
            }
            #expect(counted == number)
        }
        try await server.stop(signal)
        await expectRefusal(.unavailable) { _ = try await stores[0].household(household.id) }
        try await server.start()
        await eventually { try await stores[0].household(household.id).sequence > 0 }
        let before = try await patiently { try await stores[0].household(household.id).sequence }
        await eventually("writes succeed again") {
            try await stores[0].household(household.id).sequence > before
        }
        writers.stop()
        let acknowledged = await writing.value
        #expect(!acknowledged.isEmpty && writers.refusals > 0)
        let page = try await patiently {
            try await stores[1].records(
                of: household.id, after: 0, limit: 1_000_000, maximumBytes: 1 << 40)
        }
        let newest = try await stores[1].household(household.id).sequence
        #expect(page.records.compactMap(\.sequence) == Array(1...newest))
        let stored = Dictionary(uniqueKeysWithValues: page.records.map { ($0.id, $0) })
        for record in acknowledged { #expect(stored[record.id] == record) }
        #expect(try await stores[0].pinShare(device: companion, household: household.id)?.failures == counted)
    }
}
