import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// The activity log, whose rows exist only near the visible ones.
@Suite(.windowSession) struct ActivityWindowTests {
    @Test func eventsAreReadSearchedAndReachedByKeyboard() async throws {
        let session = try await WindowSession()
        let client = session.client
        for _ in 0..<60 {
            try await client.call(\.openVault, body: PasscodeRequest(passcode: WindowSession.passcode))
            try await client.call(\.closeVault)
        }
        try await session.startWindow()
        try await session.press(keys: "alt+3")
        try await session.awaiting("the newest event has a name") {
            try await session.parts().contains { $0.role == "list item" && $0.name.hasPrefix("The vault was locked") }
        }
        let oldest = "AppLocker was set up with a passcode."
        #expect(try await !session.isShown(oldest))
        try await session.press(keys: "ctrl+f", "Tab", "Tab", "End")
        try await session.awaitWords(oldest)
        try await session.photograph("activity-end")
        try await session.press(keys: "ctrl+f")
        try await session.type("set up with")
        try await session.awaiting("only it is left") {
            let names = try await session.parts().map(\.name)
            return names.contains { $0.hasPrefix(oldest) } && !names.contains { $0.hasPrefix("The vault was") }
        }
        try await session.photograph("activity-search")
    }

    private let calculator = "org.gnome.Calculator"

    /// The page's lists of choices, as the number of Tabs from the search to each while the filters are shown.
    private enum Choices: Int {
        case kind = 2
        case app = 3
        case person = 4
        case day = 5
        case chart = 6
    }

    private func choose(_ position: Int, of choices: Choices, in session: WindowSession) async throws {
        let tabs = [String](repeating: "Tab", count: choices.rawValue)
        let downs = [String](repeating: "Down", count: position)
        for key in ["ctrl+f"] + tabs + ["space", "Home"] + downs + ["Return"] { try await session.press(keys: key) }
    }

    @Test(.requires(.program("gnome-calculator"))) func eventsAreFilteredSavedAsATableAndProved() async throws {
        let session = try await WindowSession()
        let client = session.client
        _ = try await client.call(\.addApp, token: try await session.token(), body: AddAppRequest(app: calculator))
        try await client.call(\.openVault, body: PasscodeRequest(passcode: WindowSession.passcode))
        try await client.call(\.closeVault)
        let grant = GrantRequest(.duration, seconds: 300)
        await #expect(throws: ControlError.self) {
            _ = try await client.call(\.unlock, body: UnlockRequest(all: true, grant: grant, passcode: "wrong"))
        }
        let events = try await session.events(
            including: ["set_up", "app_added", "vault_locked", "passcode_wrong"])
        let all = Set(events.map(\.sentence))

        try await session.startWindow()
        // Rows exist only near the visible ones.
        let window = try #require(try await session.xWindows().first)
        try await session.x("xdotool", "windowmove", "--sync", window, "0", "0")
        try await session.x("xdotool", "windowsize", "--sync", window, "900", "800")
        try await session.press(keys: "alt+3")
        func shown() async throws -> Set<String> {
            let names = try await session.parts().filter { $0.role == "list item" }.map(\.name)
            return all.filter { sentence in names.contains { $0.hasPrefix(sentence) } }
        }
        try await session.awaiting("all are shown") { try await shown() == all }
        try await session.press("Filters")
        try await session.awaiting("the filters are shown") { try await session.isShown("All people") }
        let passcodes = ["set_up", "passcode_wrong"]
        let user = UInt32(geteuid())
        let filters: [(choices: Choices, position: Int, expected: [EventReport])] = [
            (.kind, 2, events.filter { passcodes.contains($0.kind) }),
            (.app, 1, events.filter { $0.app == calculator }),
            (.person, 1, events.filter { $0.user == user }),
        ]
        for (choices, position, expected) in filters {
            try await choose(position, of: choices, in: session)
            let sentences = Set(expected.map(\.sentence))
            #expect(!sentences.isEmpty && sentences.count < all.count, "\(choices)")
            try await session.awaiting("only the events of a \(choices)") { try await shown() == sentences }
            try await session.photograph("activity-\(choices)")
            try await choose(0, of: choices, in: session)
            // The filters leave no room for all of them.
            try await session.awaiting("others are shown again") { try await !shown().isSubset(of: sentences) }
        }
        // All are of one day, because the clock of the daemon is the computer's.
        #expect(try await !session.isShown("Today"))
        try await choose(1, of: .day, in: session)
        try await session.awaiting("today is chosen") { try await session.isShown("Today") }
        #expect(try await !shown().isEmpty)

        try await choose(4, of: .kind, in: session)
        let changes = events.filter { $0.kind == "app_added" }
        try await session.awaiting("only changes are shown") { try await shown() == Set(changes.map(\.sentence)) }
        let table = session.directory.path("changes.csv")
        try await session.press("Save…")
        try await session.chooseInFileChooser(table, accepting: "alt+s")
        try await session.awaitWords("Saved.")
        let lines = try String(contentsOfFile: table, encoding: .utf8).components(separatedBy: "\r\n")
        #expect(lines == ["number,time,kind,app,user,sentence"] + changes.map(row) + [""])

        try await session.press("Check")
        try await session.awaitWords("Verify the activity log")
        try await session.enterPasscode()
        try await session.awaiting("the proof is shown") {
            try await session.parts().contains { $0.name.wholeMatch(of: /All [0-9]+ events are unchanged\./) != nil }
        }
        try await session.photograph("activity-proof")
    }

    /// Of the table.
    private func row(_ event: EventReport) -> String {
        let time = Date(timeIntervalSince1970: event.time.rounded(.down)).formatted(.iso8601)
        let sentence = event.sentence.contains(",") ? "\"\(event.sentence)\"" : event.sentence
        let user = event.user.map { "\($0)" } ?? ""
        return "\(event.number),\(time),\(event.kind),\(event.app ?? ""),\(user),\(sentence)"
    }

    @Test(.requires(.root, .program("gnome-calculator"))) func theChartCountsLaunchesByDayWeekAndMonth() async throws {
        let session = try await WindowSession()
        let client = session.client
        _ = try await client.call(\.addApp, token: try await session.token(), body: AddAppRequest(app: calculator))
        // In one directory, so that sh starts it once. It is denied, as there is no prompter.
        let shell = try ChildProcess(
            "/bin/sh", ["-c", "PATH=/usr/bin; gnome-calculator; echo ended with $?"], environment: session.environment)
        try await session.awaiting("the launch is denied") { shell.output == "ended with 126\n" }
        var counted: DayStatistics?
        await eventually("the launch is counted") {
            let days = try await client.call(\.statistics, query: StatisticsQuery(days: 15)).byDay
            counted = days.first { $0.denied > 0 }
            return counted != nil
        }
        let day = try #require(counted)
        let counts = (day.asked == 1 ? "1 launch" : "\(day.asked) launches") + ", \(day.denied) denied"
        let month = DateFormatter()
        month.locale = Locale(identifier: "en_US_POSIX")
        month.timeZone = TimeZone(identifier: "UTC")
        month.dateFormat = "MMMM yyyy"

        try await session.startWindow()
        try await session.press(keys: "alt+3")
        try await session.awaitWords("last denied")
        try await session.press("Filters")
        try await session.awaiting("the filters are shown") { try await session.isShown("All people") }
        for (position, name) in [(4, "Today"), (5, "This week"), (6, month.string(from: Date()))] {
            #expect(try await !session.isShown(name))
            try await choose(position, of: .chart, in: session)
            try await session.awaiting("the bar of \(name) is shown") {
                let shown = Set(try await session.parts().map(\.name))
                return shown.isSuperset(of: [name, counts])
            }
            try await session.photograph("activity-chart-\(position)")
        }
    }
}

extension WindowSession {
    /// All events of the log, as soon as it has some of each of these kinds.
    fileprivate func events(including kinds: Set<String>) async throws -> [EventReport] {
        var events: [EventReport] = []
        try await awaiting("the log has \(kinds)") {
            events = try await client.call(\.log, query: LogQuery()).events
            return kinds.isSubset(of: events.map(\.kind))
        }
        return events
    }
}
