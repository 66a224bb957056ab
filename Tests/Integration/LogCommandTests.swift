import Foundation
import SystemTestSupport
import TestSupport
import Testing

@Suite("The command line: the log's chain", .requires(.program("python3")))
struct LogCommandTests {
    /// Runs SQL on the database, as an attacker would who wants to hide an event.
    private func change(_ applocker: CommandLineFixture, _ sql: String) async throws {
        let program = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.executescript(sys.argv[2])
            database.commit()
            database.close()
            """
        let done = try await ChildProcess.run(
            "python3", ["-c", program, applocker.directory.path("state/applocker.sqlite"), sql])
        try #require(done.exit == .code(0), "\(done.errorOutput)")
    }

    /// The database's files while AppLocker is not running, by name.
    private func database(_ applocker: CommandLineFixture) throws -> [String: Data] {
        var files: [String: Data] = [:]
        let state = applocker.directory.path("state")
        for name in try FileManager.default.contentsOfDirectory(atPath: state) where name.hasPrefix("applocker.sqlite")
        {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(state)/\(name)"))
        }
        try #require(files["applocker.sqlite"] != nil)
        return files
    }

    private func put(back files: [String: Data], _ applocker: CommandLineFixture) throws {
        let state = applocker.directory.path("state")
        for name in try database(applocker).keys { unlink("\(state)/\(name)") }
        for (name, bytes) in files { try bytes.write(to: URL(fileURLWithPath: "\(state)/\(name)")) }
    }

    private func verify(_ applocker: CommandLineFixture, _ more: [String] = []) async throws
        -> (status: Int32, report: [String: Any])
    {
        let outcome = try await applocker.run(["log", "verify", "--json"] + more, input: "")
        return (outcome.status, try outcome.json())
    }

    @Test("Verifying names the first event that was changed, removed or truncated while AppLocker was not running")
    func tampering() async throws {
        let applocker = try await CommandLineFixture()
        for _ in 1...2 {
            let wrong = try await applocker.run("vault", "unlock", passcodes: ["not it"])
            #expect(wrong.status == 1)
        }
        #expect(try await applocker.run("lock", "--all").status == 0)
        let whole = try await applocker.run("log", "verify")
        #expect(whole.status == 0, "\(whole.errors)")
        let head = try #require(
            whole.output.split(separator: "\n").first { $0.hasPrefix("Head: ") }?.dropFirst(6)
        ).description
        let (status, report) = try await verify(applocker, ["--head", head])
        #expect(status == 0 && report["isWhole"] as? Bool == true && report["firstBroken"] == nil)
        let count = try #require(Int(head.split(separator: ":")[0]))
        #expect(count >= 4 && report["links"] as? Int ?? 0 >= count)
        let unread = try await applocker.run("log", "verify", "--head", "5", "--json")
        #expect(unread.status == 2 && unread.code == "bad_request" && unread.isOneSentence)
        let another = "\(count):" + String(repeating: "0", count: 64)
        #expect(try await verify(applocker, ["--head", another]).report["firstBroken"] as? Int == count)

        let log = try await applocker.run("log", "--json").json()
        let events = try #require(log["events"] as? [[String: Any]])
        let wrong = try #require(events.first { $0["kind"] as? String == "passcode_wrong" })
        let number = try #require(wrong["number"] as? Int)
        try await applocker.end()
        let kept = try database(applocker)

        let changes: [(sql: String, first: Int, message: String)] = [
            ("UPDATE activity SET sentence = 'Nothing happened.' WHERE number = \(number)", number, "was changed"),
            ("DELETE FROM activity WHERE number = \(number)", number, "Event \(number) is missing"),
            (
                """
                UPDATE activity SET number = 9999 WHERE number = \(number);
                UPDATE activity SET number = \(number) WHERE number = \(number + 1);
                UPDATE activity SET number = \(number + 1) WHERE number = 9999
                """, number, "was changed"
            ),
        ]
        for (sql, first, message) in changes {
            try put(back: kept, applocker)
            try await change(applocker, sql)
            let again = try await applocker.startAgain()
            let result = try await applocker.run("log", "verify")
            #expect(result.status == 1 && result.output.contains(message), "\(result.output)")
            #expect(result.output.contains("\(first)"))
            let (status, report) = try await verify(applocker)
            #expect(status == 1 && report["isWhole"] as? Bool == false && report["firstBroken"] as? Int == first)
            // AppLocker continues to protect, and the log is still shown and written.
            #expect(try await applocker.run("lock", "--all").status == 0)
            #expect(try await applocker.run("log").output.contains("locked"))
            try await applocker.end(again)
        }

        // Truncated so that the file is consistent: the head that was kept detects it.
        try put(back: kept, applocker)
        try await change(
            applocker,
            """
            DELETE FROM activity WHERE number > \(number);
            UPDATE document SET body = CAST(
                \(number) || ':' || (SELECT lower(hex(hash)) FROM activity WHERE number = \(number)) AS BLOB)
                WHERE name = 'audit-head'
            """)
        let again = try await applocker.startAgain()
        #expect(try await verify(applocker).report["isWhole"] as? Bool == true)
        let (found, cut) = try await verify(applocker, ["--head", head])
        #expect(found == 1 && (number + 1...count).contains(cut["firstBroken"] as? Int ?? 0), "\(cut)")
        try await applocker.end(again)
    }
}
