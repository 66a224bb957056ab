import ControlAPI
import DaemonCore
import Foundation
import GRDB
import Policy
import SealedFormats
import TestSupport
import Testing

@testable import SealedStore

/// The log keeps its newest events, and still proves that none of them was changed.
@Suite struct LogRetentionTests {
    private static let limit = 160
    private let directory: TemporaryDirectory
    private var path: String { directory.path("state.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func open() throws -> StateDatabase {
        try StateDatabase(path: path, signingKey: StateDatabase.testKey, maximumEvents: Self.limit)
    }

    private func append(_ numbers: ClosedRange<Int>, to database: StateDatabase) async throws {
        for number in numbers {
            try await database.append([
                ActivityEvent(time: Double(number), kind: .launchDenied, user: 1_000, sentence: "Event \(number).")
            ])
        }
    }

    private func change(_ sql: String, _ arguments: StatementArguments = []) async throws {
        try await DatabaseQueue(path: path).write { database in
            let statements = try database.allStatements(sql: sql, arguments: arguments)
            while let statement = try statements.next() { try statement.execute() }
        }
    }

    private func count() async throws -> Int {
        try await DatabaseQueue(path: path).read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM activity") ?? 0
        }
    }

    @Test func aFloodOfEventsUsesBoundedDiskSpace() async throws {
        let database = try open()
        try await append(1...500, to: database)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        try await append(501...2_000, to: database)
        #expect(try await count() <= Self.limit + Self.limit / 16)
        let verified = try await database.verifyLog(known: nil)
        #expect(verified.isWhole && verified.links == 2_000)
        #expect(verified.sentence.contains("to 2000") && verified.sentence.contains("older ones were removed"))
        #expect(try await database.events(after: 0, limit: 1, app: nil).map(\.sentence) == ["Event 2000."])
        // As after a restart.
        let next = try open()
        try await append(2_001...2_500, to: next)
        #expect(try await next.verifyLog(known: nil).links == 2_500)
        let later = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        #expect(later <= size + 65_536, "\(later) bytes after \(size)")
    }

    @Test func anExternalHeadIsComparedWhileItsEventIsStored() async throws {
        let database = try open()
        try await append(1...400, to: database)
        let old = try #require(AuditChain.Head(try await database.verifyLog(known: nil).head))
        try await append(401...500, to: database)
        let kept = try await database.verifyLog(known: old)
        #expect(kept.isWhole && kept.links == 500)
        try await append(501...900, to: database)
        let gone = try await database.verifyLog(known: old)
        #expect(!gone.isWhole && gone.firstBroken == nil && gone.sentence.contains("was removed with the oldest"))
    }

    /// An attacker with all rights to the file, and without the device's key.
    @Test func removingMoreThanTheDeviceDidIsDetected() async throws {
        try await append(1...500, to: open())
        let first = try await DatabaseQueue(path: path).read {
            try #require(try Int64.fetchOne($0, sql: "SELECT MIN(number) FROM activity"))
        }
        try await change("DELETE FROM activity WHERE number < ?", [first + 5])
        let cut = try await open().verifyLog(known: nil)
        #expect(!cut.isWhole && cut.firstBroken == UInt64(first))

        // With a matching beginning, signed by another key.
        let hash = try await DatabaseQueue(path: path).read {
            let sql = "SELECT hash FROM activity WHERE number = ?"
            return try #require(try Data.fetchOne($0, sql: sql, arguments: [first + 9]))
        }
        try await change("DELETE FROM activity WHERE number <= ?", [first + 9])
        let forged = AuditChain.Beginning(
            AuditChain.Head(number: UInt64(first + 9), hash: [UInt8](hash)), signedBy: DeviceSigningKey())
        try await change(
            "UPDATE document SET body = ? WHERE name = 'audit-beginning'", [Data(forged.description.utf8)])
        let foreign = try await open().verifyLog(known: nil)
        #expect(!foreign.isWhole && foreign.firstBroken == 1)
        // Without a beginning.
        try await change("DELETE FROM document WHERE name = 'audit-beginning'")
        #expect(try await open().verifyLog(known: nil).firstBroken == 1)
    }

    @Test func aChangedEventIsDetectedUntilItIsRemoved() async throws {
        try await append(1...500, to: open())
        try await change("UPDATE activity SET sentence = 'x' WHERE number = 450")
        let database = try open()
        try await append(501...520, to: database)
        #expect(try await database.verifyLog(known: nil).firstBroken == 450)
    }
}
