import ControlAPI
import DaemonCore
import Foundation
import GRDB
import Policy
import SealedFormats
import TestSupport
import Testing

@testable import SealedStore

/// An attacker with all rights to the file changes the log.
@Suite struct AuditTamperingTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("state.sqlite") }
    /// The head of the whole log, stored outside the file.
    private let head: AuditChain.Head

    /// A log of 12 events.
    init() async throws {
        directory = try TemporaryDirectory()
        let database = try StateDatabase(path: directory.path("state.sqlite"))
        try await database.append(
            (1...12).map {
                ActivityEvent(
                    time: Double($0), kind: .launchDenied, app: AppID(rawValue: "diary"), user: 1_000, process: 40,
                    path: "/opt/diary", reason: "wrong", sentence: "Event \($0).")
            })
        let verified = try await database.verifyLog(known: nil)
        try #require(verified.isWhole && verified.links == 12 && verified.firstBroken == nil)
        head = try #require(AuditChain.Head(verified.head))
    }

    @Test func aLogLongerThanOneBatchIsVerifiedToItsEnd() async throws {
        let database = try StateDatabase(path: path)
        try await database.append(
            (13...1_500).map {
                ActivityEvent(
                    time: Double($0), kind: .launchDenied, app: nil, user: 1_000, process: 40, path: nil, reason: nil,
                    sentence: "Event \($0).")
            })
        #expect(LogCheck.pieceLength < 1_000)
        let whole = try await database.verifyLog(known: head)
        #expect(whole.isWhole && whole.links == 1_500)
        let broken = try await verified(after: "UPDATE activity SET sentence = 'x' WHERE number = 1400")
        #expect(!broken.isWhole && broken.firstBroken == 1_400)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await database.verifyLog(known: nil)
        }
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    }

    /// Runs SQL on the file, then verifies as after a restart.
    private func verified(
        after sql: String, _ arguments: StatementArguments = [], known: AuditChain.Head? = nil
    ) async throws -> LogVerification {
        try await change(sql, arguments)
        return try await StateDatabase(path: path).verifyLog(known: known)
    }

    private func change(_ sql: String, _ arguments: StatementArguments = []) async throws {
        try await DatabaseQueue(path: path).write { database in
            let statements = try database.allStatements(sql: sql, arguments: arguments)
            while let statement = try statements.next() { try statement.execute() }
        }
    }

    @Test func anUnchangedLogIsVerified() async throws {
        let verified = try await verified(after: "SELECT 1", known: head)
        #expect(verified.isWhole && verified.links == 12 && verified.firstBroken == nil)
        #expect(verified.head == head.description)
    }

    @Test(arguments: [
        "time = 4.5", "kind = 'launch_allowed'", "app = 'mail'", "app = NULL", "user = 1001", "user = NULL",
        "process = 41", "path = '/opt/mail'", "reason = NULL", "reason = ''", "sentence = 'Event 5!'",
        "hash = zeroblob(32)", "hash = NULL", "signature = NULL", "signature = zeroblob(64)", "signature = x'00'",
        // A value of another type is detected and does not break the verification.
        "time = 'never'", "kind = x'ff'", "user = -1", "user = 5000000000", "process = 'x'", "sentence = x'c3'",
        "hash = 5", "signature = 'text'",
    ])
    func anEditedEventIsDetected(edit: String) async throws {
        let verified = try await verified(after: "UPDATE activity SET \(edit) WHERE number = 5")
        #expect(!verified.isWhole && verified.firstBroken == 5 && verified.links == 4)
        #expect(verified.sentence.contains("Event 5"))
        // The other events are still read, and new ones written.
        let database = try StateDatabase(path: path)
        #expect(try await database.events(after: 0, limit: 100, app: nil).count == 12)
        try await database.append([ActivityEvent(time: 13, kind: .locked, sentence: "later")])
        #expect(try await database.verifyLog(known: nil).firstBroken == 5)
        _ = try await database.statistics(since: 0)
    }

    @Test func aDeletedEventIsDetected() async throws {
        let verified = try await verified(after: "DELETE FROM activity WHERE number = 5")
        #expect(!verified.isWhole && verified.firstBroken == 5)
        #expect(verified.sentence.contains("Event 5 is missing"))
    }

    @Test func aDeletedEventIsDetectedIfTheOthersAreRenumbered() async throws {
        let verified = try await verified(
            after: """
                DELETE FROM activity WHERE number = 5;
                UPDATE activity SET number = number - 1 WHERE number > 5;
                """)
        #expect(!verified.isWhole && verified.firstBroken == 5)
    }

    @Test(arguments: [(1, 1), (1, 12), (5, 7)])
    func severalDeletedEventsAreDetected(from: Int, to: Int) async throws {
        let verified = try await verified(
            after: "DELETE FROM activity WHERE number BETWEEN ? AND ?", [from, to])
        #expect(!verified.isWhole && verified.firstBroken == UInt64(from))
    }

    @Test func exchangedEventsAreDetected() async throws {
        let verified = try await verified(
            after: """
                UPDATE activity SET number = 100 WHERE number = 4;
                UPDATE activity SET number = 4 WHERE number = 9;
                UPDATE activity SET number = 9 WHERE number = 100;
                """)
        #expect(!verified.isWhole && verified.firstBroken == 4)
    }

    @Test func anInsertedEventIsDetected() async throws {
        let verified = try await verified(
            after: """
                UPDATE activity SET number = -number - 1 WHERE number > 6;
                UPDATE activity SET number = -number WHERE number < 0;
                INSERT INTO activity SELECT 7, time, kind, app, user, process, path, reason, sentence, hash, signature
                    FROM activity WHERE number = 6;
                """)
        #expect(!verified.isWhole && verified.firstBroken == 7)
    }

    // MARK: The end

    @Test func aTruncatedLogIsDetectedByTheStoredHead() async throws {
        let verified = try await verified(after: "DELETE FROM activity WHERE number > 8")
        #expect(!verified.isWhole && verified.firstBroken == 9)
        #expect(verified.sentence.contains("12") && verified.sentence.contains("8"))
    }

    @Test func aTruncatedLogIsDetectedWithoutTheStoredHead() async throws {
        let verified = try await verified(
            after: "DELETE FROM activity WHERE number > 8; DELETE FROM document WHERE name = 'audit-head'")
        #expect(!verified.isWhole && verified.firstBroken == 9)
    }

    /// An attacker with the file and the signing key can make a new head, but not change the head outside the file.
    @Test func aTruncatedLogIsDetectedByAnExternalHead() async throws {
        try await change("DELETE FROM activity WHERE number > 8")
        let hash = try await DatabaseQueue(path: path).read {
            try #require(try Data.fetchOne($0, sql: "SELECT hash FROM activity WHERE number = 8"))
        }
        let shorter = AuditChain.Head(number: 8, hash: [UInt8](hash))
        let verified = try await verified(
            after: "UPDATE document SET body = ? WHERE name = 'audit-head'", [Data(shorter.description.utf8)],
            known: head)
        #expect(!verified.isWhole && verified.firstBroken == 9)
        #expect(verified.sentence.contains("event 12"))

        // Also if the log continued afterwards, beyond the number of that head.
        let database = try StateDatabase(path: path)
        try await database.append((9...14).map { ActivityEvent(time: Double($0), kind: .locked, sentence: "new") })
        let rewritten = try await database.verifyLog(known: head)
        #expect(!rewritten.isWhole && rewritten.firstBroken == 12)
        #expect(try await database.verifyLog(known: shorter).isWhole)
    }

    @Test func theLogContinuesWithoutTheStoredHead() async throws {
        try await change("DELETE FROM document WHERE name = 'audit-head'")
        let database = try StateDatabase(path: path)
        try await database.append([ActivityEvent(time: 13, kind: .locked, sentence: "later")])
        #expect(try await database.events(after: 12, limit: 10, app: nil).map(\.sentence) == ["later"])
        #expect(try await database.verifyLog(known: head).links == 13)
    }

    // MARK: Signatures

    @Test func aChangedSignatureIsDetected() async throws {
        let signature = try await DatabaseQueue(path: path).read {
            try #require(try Data.fetchOne($0, sql: "SELECT signature FROM activity WHERE number = 6"))
        }
        var flipped = signature
        flipped[40] ^= 1
        let verified = try await verified(after: "UPDATE activity SET signature = ? WHERE number = 6", [flipped])
        #expect(!verified.isWhole && verified.firstBroken == 6)
        #expect(
            try await self.verified(after: "UPDATE activity SET signature = ? WHERE number = 6", [signature]).isWhole)
    }

    /// A chain with valid hashes, made without this device's key.
    @Test func aLogSignedByAnotherKeyIsDetected() async throws {
        let stranger = DeviceSigningKey()
        try await DatabaseQueue(path: path).write { database in
            try database.execute(
                sql: "DELETE FROM activity WHERE number > 8; DELETE FROM document WHERE name = 'audit-head'")
            let hash = try Data.fetchOne(database, sql: "SELECT hash FROM activity WHERE number = 8") ?? Data()
            var chain = AuditChain(of: stranger.publicKey, from: .init(number: 8, hash: [UInt8](hash)))
            let link = chain.append(
                AuditChain.Event(
                    time: 9, kind: "locked", app: nil, user: nil, process: nil, path: nil, reason: nil,
                    sentence: "forged"), signedBy: stranger)
            try database.execute(
                sql: """
                    INSERT INTO activity (number, time, kind, sentence, hash, signature)
                    VALUES (9, 9, 'locked', 'forged', ?, ?)
                    """, arguments: [Data(link.hash), Data(link.signature)])
            try database.execute(
                sql: "INSERT INTO document (name, body) VALUES ('audit-head', ?)",
                arguments: [Data(chain.head.description.utf8)])
        }
        let verified = try await StateDatabase(path: path).verifyLog(known: nil)
        #expect(!verified.isWhole && verified.firstBroken == 9)
        // The whole log under another key.
        let other = try await StateDatabase(path: path, signingKey: stranger).verifyLog(known: nil)
        #expect(!other.isWhole && other.firstBroken == 1)
    }
}
