import ControlAPI
import DaemonCore
import Foundation
import GRDB
import Glibc
import Policy
import SealedFormats
import TestSupport
import Testing

@testable import SealedStore

extension StateDatabase {
    static let testKey = DeviceSigningKey()

    convenience init(path: String) throws { try self.init(path: path, signingKey: Self.testKey) }
}

@Suite struct StateDatabaseTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("state.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func mode(_ path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    // MARK: Durability

    @Test func everyWriteIsSyncedToTheLogBeforeItReturns() throws {
        let database = try StateDatabase(path: path)
        #expect(try database.synchronousLevel() == 2, "FULL")
        let journal = try DatabaseQueue(path: path).read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(journal == "wal")
        let again = try StateDatabase(path: path)
        #expect(try again.synchronousLevel() == 2, "also if the file exists")
    }

    @Test func aDocumentHasItsLastSavedBytes() async throws {
        let database = try StateDatabase(path: path)
        #expect(try await database.document("a") == nil)
        try await database.save([1, 2, 3], as: "a")
        try await database.save([], as: "b")
        try await database.save([0, 255], as: "a")
        let again = try StateDatabase(path: path)
        #expect(try await again.document("a") == [0, 255])
        #expect(try await again.document("b") == [])
    }

    @Test func concurrentWritesAreAllStored() async throws {
        let database = try StateDatabase(path: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { try await database.save([UInt8(number)], as: "document \(number)") }
                group.addTask {
                    try await database.append([
                        ActivityEvent(time: Double(number), kind: .locked, sentence: "\(number)")
                    ])
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<50 { #expect(try await database.document("document \(number)") == [UInt8(number)]) }
        #expect(try await database.events(after: 0, limit: 100, app: nil).count == 50)
    }

    // MARK: Files

    @Test func noOtherUserMayReadTheFiles() async throws {
        let previous = umask(0)
        defer { umask(previous) }
        let database = try StateDatabase(path: path)
        try await database.save([1], as: "a")
        for name in [path, path + "-wal", path + "-shm"] { #expect(mode(name) == 0o600, "\(name)") }
    }

    @Test func permissionsOfAReadableFileAreRestricted() throws {
        _ = try StateDatabase(path: path)
        chmod(path, 0o644)
        _ = try StateDatabase(path: path)
        #expect(mode(path) == 0o600)
    }

    @Test func aDatabaseOfALaterVersionIsRefusedWithAReason() throws {
        _ = try StateDatabase(path: path)
        try DatabaseQueue(path: path).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: from the future')")
        }
        #expect(throws: StateDatabaseError.fromTheFuture(path: path)) { _ = try StateDatabase(path: path) }
        #expect("\(StateDatabaseError.fromTheFuture(path: path))".contains("newer AppLocker"))
    }

    @Test func aFileThatIsNotADatabaseIsRefusedAndUnchanged() throws {
        let text = String(repeating: "this is not a database ", count: 1_000)
        try directory.write(text, to: "state.sqlite")
        let error = #expect(throws: StateDatabaseError.self) { _ = try StateDatabase(path: path) }
        #expect("\(error!)".contains("can't be opened") && "\(error!)".contains("backup"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func aDamagedDatabaseIsRefusedWithAReason() async throws {
        do {
            let database = try StateDatabase(path: path)
            try await database.save([UInt8](repeating: 7, count: 200_000), as: "a")
        }
        try await DatabaseQueue(path: path).writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        // Only the header and the schema stay valid.
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try file.seekToEnd()
        try file.seek(toOffset: 8_192)
        try file.write(contentsOf: Data(repeating: 0xa5, count: Int(size) - 8_192))
        try file.close()
        let error = await #expect(throws: StateDatabaseError.self) {
            let database = try StateDatabase(path: path)
            _ = try await database.document("a")
        }
        guard case .damaged = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aStateThatCannotBeCreatedIsRefusedWithAReason() {
        let path = "/proc/applocker/state.sqlite"
        let error = #expect(throws: StateDatabaseError.self) { _ = try StateDatabase(path: path) }
        #expect("\(error!)".contains(path))
    }

    // MARK: The log

    private static func event(
        _ kind: ActivityEvent.Kind, _ app: String? = nil, user: UInt32? = .max, time: Double = 0
    ) -> ActivityEvent {
        ActivityEvent(
            time: time, kind: kind, app: app.flatMap { AppID(rawValue: $0) }, user: user, process: .max, path: "/p",
            reason: "r", sentence: "S.")
    }

    @Test func anEventIsReadAsItWasWritten() async throws {
        let database = try StateDatabase(path: path)
        try await database.append([Self.event(.launchDenied, "firefox", time: 12.5)])
        #expect(
            try await database.events(after: 0, limit: 10, app: nil) == [
                EventReport(
                    number: 1, time: 12.5, kind: "launch_denied", app: "firefox", user: .max, process: .max,
                    path: "/p", reason: "r", sentence: "S.")
            ])
    }

    @Test func theNewestEventsAreReturnedOldestFirst() async throws {
        let database = try StateDatabase(path: path)
        try await database.append((0..<10).map { Self.event(.locked, $0.isMultiple(of: 2) ? "even" : "odd") })
        func numbers(after: Int64 = 0, limit: Int = 100, app: String? = nil) async throws -> [Int64] {
            try await database.events(after: after, limit: limit, app: app).map(\.number)
        }
        #expect(try await numbers() == Array(1...10))
        #expect(try await numbers(limit: 3) == [8, 9, 10])
        #expect(try await numbers(after: 7) == [8, 9, 10])
        #expect(try await numbers(after: 10) == [])
        #expect(try await numbers(app: "even") == [1, 3, 5, 7, 9])
        #expect(try await numbers(app: "' OR 1=1 --") == [])
    }

    @Test func statisticsCountByAppSinceATime() async throws {
        let database = try StateDatabase(path: path)
        try await database.append([
            Self.event(.launchAsked, "a", time: 5), Self.event(.launchAsked, "a", time: 15),
            Self.event(.launchAllowed, "a", time: 16), Self.event(.launchDenied, "b", time: 17),
            Self.event(.passcodeWrong, "b", time: 18), Self.event(.passcodeWrong, time: 19),
        ])
        #expect(
            try await database.statistics(since: 10) == [
                AppStatistics(app: "a", name: "a", asked: 1, allowed: 1, denied: 0, wrongPasscodes: 0, unlocks: 0),
                AppStatistics(
                    app: "b", name: "b", asked: 0, allowed: 0, denied: 1, wrongPasscodes: 1, unlocks: 0, lastDenied: 17),
            ])
    }

    @Test func statisticsHaveEachUnlockOnceAndTheLastDeniedLaunch() async throws {
        let database = try StateDatabase(path: path)
        func event(
            _ kind: ActivityEvent.Kind, _ reason: Reason?, _ app: String = "a", time: Double
        ) -> ActivityEvent {
            var event = Self.event(kind, app, time: time)
            event.reason = reason?.rawValue
            return event
        }
        try await database.append([
            // An answer for five minutes, one for a launch, a phone's, and a command.
            event(.unlocked, .unlockedByPasscode, time: 10), event(.launchAllowed, .unlockedByPasscode, time: 10),
            event(.launchAllowed, .passcodeEntered, time: 11), event(.launchAllowed, .approvedRemotely, time: 12),
            event(.unlocked, nil, time: 13),
            // A phone's answer for five minutes, whose launch ended meanwhile.
            event(.unlocked, .unlockedRemotely, time: 13),
            // As both were recorded before they had reasons of their own.
            event(.unlocked, .passcodeEntered, time: 13), event(.launchAllowed, .passcodeEntered, time: 13),
            // None of these unlocks it.
            event(.launchAllowed, .restarted, time: 14), event(.unlocked, .extended, time: 14),
            event(.launchAllowed, .granted, time: 14), event(.launchAllowed, nil, time: 14),
            event(.launchDenied, .noAnswer, time: 21), event(.launchDenied, .cancelled, time: 20),
            event(.launchDenied, .noAnswer, "b", time: 5), event(.launchAsked, .locked, "b", time: 30),
        ])
        let apps = try await database.statistics(since: 10)
        #expect(apps.map(\.unlocks) == [6, 0])
        #expect(apps.map(\.lastDenied) == [21, nil], "of b before the period")
        #expect(try await database.statisticsByDay(since: 10, user: nil).map(\.unlocks) == [6])
    }

    @Test func statisticsCountByLocalDay() async throws {
        let database = try StateDatabase(path: path)
        // A day apart: on different days wherever this runs.
        let (first, second) = (1_800_000_000.0, 1_800_086_400.0)
        try await database.append([
            Self.event(.launchAsked, "a", user: 1, time: first - 86_400),
            Self.event(.launchAsked, "a", user: 1, time: first), Self.event(.launchDenied, "a", user: 2, time: first),
            Self.event(.passcodeWrong, user: 1, time: second), Self.event(.locked, user: 1, time: second),
            Self.event(.launchAllowed, "b", user: 1, time: second), Self.event(.launchAsked, "a", time: 1e15),
        ])
        let days = [first, second].map { Self.localDay($0) }
        #expect(
            try await database.statisticsByDay(since: first, user: nil) == [
                DayStatistics(day: days[0], asked: 1, allowed: 0, denied: 1, wrongPasscodes: 0, unlocks: 0),
                DayStatistics(day: days[1], asked: 0, allowed: 1, denied: 0, wrongPasscodes: 1, unlocks: 0),
            ])
        #expect(
            try await database.statisticsByDay(since: first, user: 2) == [
                DayStatistics(day: days[0], asked: 0, allowed: 0, denied: 1, wrongPasscodes: 0, unlocks: 0)
            ])
    }

    private static func localDay(_ time: Double) -> String {
        var (seconds, parts) = (time_t(time), tm())
        localtime_r(&seconds, &parts)
        return Date(timeIntervalSince1970: time + Double(parts.tm_gmtoff)).ISO8601Format().prefix(10).description
    }
}
