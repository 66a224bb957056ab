import ControlAPI
import DaemonCore
import Foundation
import GRDB
import Policy
import TestSupport
import Testing

@testable import SealedStore

/// The one file of the state.
@Suite struct StateFileTests {
    let directory: TemporaryDirectory
    var path: String { directory.path("applocker.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    @Test func acknowledgedWritesAreSyncedToDisk() throws {
        let database = try StateDatabase(path: path)
        #expect(try database.synchronousLevel() == 2, "FULL")
        let journal = try DatabaseQueue(path: path).read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(journal == "wal")
    }

    @Test func noOtherUserMayReadTheFile() throws {
        _ = try StateDatabase(path: path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func documentsAreReplacedAndSurviveReopening() async throws {
        do {
            let database = try StateDatabase(path: path)
            try await database.save([1, 2, 3], as: "apps")
            try await database.save([0xff], as: "apps")
        }
        let reopened = try StateDatabase(path: path)
        #expect(try await reopened.document("apps") == [0xff])
        #expect(try await reopened.document("nothing") == nil)
    }

    @Test func aFileOfALaterVersionIsRefusedAndUnchanged() async throws {
        try await StateDatabase(path: path).save([7], as: "apps")
        try await DatabaseQueue(path: path).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99: from the future')")
        }
        let path = path
        #expect(throws: StateDatabaseError.fromTheFuture(path: path)) { try StateDatabase(path: path) }
        let kept = try await DatabaseQueue(path: path).read {
            try Data.fetchOne($0, sql: "SELECT body FROM document WHERE name = 'apps'")
        }
        #expect(kept == Data([7]))
    }

    @Test func aDamagedFileIsRefusedWithItsNameAndUnchanged() throws {
        let bytes = Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: URL(fileURLWithPath: path))
        let path = path
        let error = #expect(throws: StateDatabaseError.self) { try StateDatabase(path: path) }
        #expect(error?.description.contains(path) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test func theLogReturnsTheNewestLinesOldestFirstAndCountsByApp() async throws {
        let database = try StateDatabase(path: path)
        let app = try #require(AppID(rawValue: "org.example.Diary"))
        let kinds: [ActivityEvent.Kind] = [.launchAsked, .passcodeWrong, .launchDenied, .launchAsked, .launchAllowed]
        try await database.append(
            kinds.enumerated().map { ActivityEvent(time: Double($0), kind: $1, app: app, sentence: "\($0)") })
        try await database.append([ActivityEvent(time: 9, kind: .gateAway, sentence: "away")])

        let newest = try await database.events(after: 0, limit: 2, app: nil)
        #expect(newest.map(\.kind) == ["launch_allowed", "gate_away"])
        let ofApp = try await database.events(after: newest[0].number - 1, limit: 10, app: app.rawValue)
        #expect(ofApp.map(\.sentence) == ["4"])
        let counts = try #require(try await database.statistics(since: 1).first)
        #expect(counts.asked == 1, "the first prompt was before the period")
        #expect(counts.allowed == 1 && counts.denied == 1 && counts.wrongPasscodes == 1)
    }
}
