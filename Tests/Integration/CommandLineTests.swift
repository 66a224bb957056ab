import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@Suite("The command line against a real daemon")
struct CommandLineTests {
    @Test("Setting up: invalid passcodes are refused, and it is done once")
    func setUp() async throws {
        let applocker = try await CommandLineFixture(isSetUp: false)
        let early = try await applocker.run("add", "/usr/bin/readlink", passcodes: ["x"])
        #expect(early.status == 1)
        #expect(early.errors.contains("applocker setup"))
        let short = try await applocker.run("setup", passcodes: ["abc"])
        #expect(short.status == 1)
        #expect(try await applocker.run("setup", passcodes: [""]).status == 2)
        #expect(try await applocker.run("setup", passcodes: [String(repeating: "a", count: 1025)]).status == 2)
        let weak = try await applocker.run("setup", passcodes: ["1234"])
        #expect(weak.status == 0)
        #expect(weak.output.contains("weak"))
        let again = try await applocker.run("setup", "--json", passcodes: ["another one"])
        #expect(again.status == 1)
        #expect(try (again.json()["error"] as? [String: Any])?["code"] as? String == "already_set_up")
        try await applocker.end()
    }

    @Test("On a terminal the new passcode is entered twice, not echoed, until both are equal")
    func setUpOnTerminal() async throws {
        let applocker = try await CommandLineFixture(isSetUp: false)
        let terminal = try TestTerminal()
        let setup = try terminal.start(
            BuiltProducts.path("applocker"), ["setup"], environment: applocker.environment)
        for (count, second) in [(1, "another"), (2, CommandLineFixture.passcode)] {
            await terminal.shows("New passcode: ", times: count)
            await eventually { !terminal.echoes }
            terminal.type(CommandLineFixture.passcode + "\n")
            await terminal.shows("New passcode (repeat): ", times: count)
            await eventually { !terminal.echoes }
            terminal.type(second + "\n")
            if count == 1 { await terminal.shows("The two entries differ.") }
        }
        #expect(try await setup.wait() == .code(0))
        #expect(await terminal.shows("The passcode is set."))
        #expect(!terminal.text.contains(CommandLineFixture.passcode))
        let again = [CommandLineFixture.passcode]
        #expect(try await applocker.run("monitoring", "off", "--for", "10m", passcodes: again).status == 0)
        try await applocker.end()
    }

    @Test("The list: add, show, schedule, category, remove")
    func list() async throws {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        let diary = try applocker.copy(of: "/usr/bin/readlink", as: "Diary")
        #expect(try await applocker.run("lock", diary).status == 2, "there is no terminal for a prompt")
        #expect(try await applocker.run("lock", diary, passcodes: right).status == 0)
        #expect(try await applocker.run("lock", diary).status == 0, "on the list it needs no passcode")
        #expect(try await applocker.run("lock", "--all").status == 0)
        #expect(try await applocker.run("add", "no such app", passcodes: right).status == 4)
        #expect(try await applocker.run("add", "/bin/sh", passcodes: right).status == 1, "essential")

        let set = try await applocker.run("schedule", "set", "Diary", "block mon-fri 22:00-07:00", passcodes: right)
        #expect(set.status == 0, "\(set.errors)")
        #expect(try await applocker.run("schedule", "set", "Diary", "sometimes", passcodes: right).status == 2)
        #expect(try await applocker.run("schedule", "show", "Diary").output.contains("block mon-fri 22:00-07:00"))
        #expect(try await applocker.run("schedule", "clear", "Diary", passcodes: right).status == 0)
        #expect(try await applocker.run("schedule", "show", "Diary").output.contains("always locked"))

        #expect(try await applocker.run("category", "set", "notes", "Diary", passcodes: right).status == 0)
        let night = try await applocker.run("schedule", "set", "--category", "notes", "night", passcodes: right)
        #expect(night.status == 0, "\(night.errors)")
        let categories = try await applocker.run("category", "list", "--json").json()["categories"] as? [[String: Any]]
        #expect(categories?.first?["schedule"] as? String == "block daily 22:00-07:00")
        #expect(try await applocker.run("category", "remove", "notes", passcodes: right).status == 0)
        #expect(try await applocker.run("category", "remove", "notes", passcodes: right).status == 4)

        #expect(try await applocker.run("app", "set", "Diary", "--on-grant-end", "close", passcodes: right).status == 0)
        #expect(try await applocker.run("app", "Diary", "--json").json()["onGrantEnd"] as? String == "close")
        #expect(try await applocker.run("apps").output.contains("L  Diary"))

        #expect(try await applocker.run("remove", "Diary", passcodes: right).status == 0)
        #expect(try await applocker.run("remove", "Diary", passcodes: right).status == 4)
        #expect(try await applocker.run("apps", "--listed").output.contains("No app is on the list"))
        try await applocker.end()
    }

    @Test("Hundreds of programs are locked by one command: all of them, or none if one is missing")
    func many() async throws {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        let programs = try (0..<500).map { try applocker.copy(of: "/usr/bin/true", as: "program\($0)") }
        let missing = try await applocker.run(
            ["lock"] + programs + [applocker.directory.path("missing")], input: "", passcodes: right)
        #expect(missing.status == 4 && missing.errors.contains("missing"), "\(missing.errors)")
        #expect(try await applocker.run("log", "--limit", "1000").output.contains("was added to the list.") == false)
        let clock = ContinuousClock()
        var locked: CommandLineFixture.Outcome?
        let time = try await clock.measure {
            locked = try await applocker.run(["lock"] + programs, input: "", passcodes: right)
        }
        print("500 programs were locked in \(time).")
        #expect(locked?.status == 0, "\(locked?.errors ?? "")")
        let apps = try #require(try await applocker.run("apps", "--json").json()["apps"] as? [[String: Any]])
        #expect(apps.filter { $0["state"] as? String == "locked" }.count == 500)
        #expect(
            try await applocker.run("log", "--limit", "1000").output.components(separatedBy: "was added to the list.")
                .count == 501)
        try await applocker.end()
    }

    @Test("Passcodes: wrong, changed, an app's own")
    func passcodes() async throws {
        let applocker = try await CommandLineFixture()
        let right = CommandLineFixture.passcode
        let diary = try applocker.copy(of: "/usr/bin/readlink", as: "Diary")
        #expect(try await applocker.run("add", diary, passcodes: [right]).status == 0)
        let wrong = try await applocker.run("unlock", "Diary", "--json", passcodes: ["wrong one"])
        #expect(wrong.status == 1)
        #expect(try (wrong.json()["error"] as? [String: Any])?["code"] as? String == "wrong_passcode")

        let own = try await applocker.run("passcode", "set", "--app", "Diary", passcodes: [right, "diary only"])
        #expect(own.status == 0, "\(own.errors)")
        #expect(try await applocker.run("unlock", "Diary", "--for", "1m", passcodes: ["diary only"]).status == 0)
        #expect(try await applocker.run("apps", "--listed").output.contains("unlocked,"))
        #expect(try await applocker.run("remove", "Diary", passcodes: ["diary only"]).status == 1)
        #expect(try await applocker.run("passcode", "clear", "--app", "Diary", passcodes: [right]).status == 0)
        #expect(try await applocker.run("unlock", "Diary", passcodes: ["diary only"]).status == 1)

        let change = try await applocker.run("passcode", "change", passcodes: [right, "a newer horse"])
        #expect(change.status == 0, "\(change.errors)")
        #expect(try await applocker.run("unlock", "--all", "--until-locked", passcodes: [right]).status == 1)
        let until = try await applocker.run("unlock", "--all", "--until-locked", passcodes: ["a newer horse"])
        #expect(until.output.contains("unlocked until it is locked"))
        let log = try await applocker.run("log")
        #expect(log.output.contains("passcode_wrong") && !log.output.contains("wrong one"))
        try await applocker.end()
    }

    @Test("Monitoring, settings, statistics and the doctor")
    func monitoringSettingsAndStatistics() async throws {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        #expect(try await applocker.run("monitoring", "off", passcodes: ["not it"]).status == 1)
        let off = try await applocker.run("monitoring", "off", "--for", "10m", passcodes: right)
        #expect(off.status == 0 && off.errors.contains("WARNING") && off.output.contains("OFF"))
        #expect(try await applocker.run("status").output.contains("DEGRADED: Monitoring is off"))
        #expect(try await applocker.run("monitoring", "on", passcodes: right).status == 0)
        #expect(try await applocker.run("monitoring", "off", "--for", "10s", passcodes: right).status == 2)

        let set = try await applocker.run(
            "settings", "set", "--prompt-timeout", "45s", "--phone-timeout", "3m", "--no-hold-root", passcodes: right)
        #expect(set.status == 0, "\(set.errors)")
        let settings = try await applocker.run("settings", "--json").json()
        #expect(settings["promptTimeoutSeconds"] as? Int == 45)
        #expect(settings["phoneTimeoutSeconds"] as? Int == 180)
        #expect(settings["holdsRoot"] as? Bool == false)
        #expect(try await applocker.run("settings", "set", "--prompt-timeout", "1h", passcodes: right).status == 2)
        #expect(try await applocker.run("stats", "--json").json()["days"] as? Int == 7)

        let doctor = try await applocker.run("doctor", "--json")
        let findings = try doctor.json()["appLocker"] as? [[String: Any]]
        let prompter = findings?.first { $0["id"] as? String == "prompter" }
        #expect(prompter?["state"] as? String == "weak")
        #expect(doctor.status == 1)
        try await applocker.end()
    }

    @Test("`log --follow` continues with new events, one JSON object a line")
    func follow() async throws {
        let applocker = try await CommandLineFixture()
        let log = try applocker.start(["log", "--follow", "--json"])
        /// Without the last one, of which only a part may have arrived.
        func lines() -> [Substring] { log.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }
        await eventually("earlier events are printed") { lines().contains { $0.contains("set_up") } }
        let diary = try applocker.copy(of: "/usr/bin/readlink", as: "Diary")
        #expect(try await applocker.run("add", diary, passcodes: [CommandLineFixture.passcode]).status == 0)
        await eventually("new events are printed") { lines().contains { $0.contains("\"kind\":\"app_added\"") } }
        for line in lines() {
            _ = try JSONDecoder().decode(EventReport.self, from: Data(line.utf8))
        }
        log.kill()
        try await applocker.end()
    }

    @Test("The demo ends, and every step succeeds")
    func demo() async throws {
        let demo = try await ChildProcess.run(
            BuiltProducts.path("applocker"), ["demo"], environment: ["PATH": "/usr/bin:/bin"], timeout: .seconds(60))
        #expect(demo.exit == .code(0), "\(demo.output)\(demo.errorOutput)")
        #expect(demo.output.components(separatedBy: "   ok  ").count > 10)
        #expect(!demo.output.contains("FAILED"))
    }

    @Test("Stopping asks for the passcode, and then ends gate, daemon and their parent")
    func stop() async throws {
        let applocker = try await CommandLineFixture()
        #expect(try await applocker.run("stop", "--yes", passcodes: ["not it"]).status == 1)
        #expect(try await applocker.run("stop", passcodes: [CommandLineFixture.passcode]).status == 2)
        #expect(try await applocker.run("status").status == 0)
        let stopped = try await applocker.run("stop", "--yes", passcodes: [CommandLineFixture.passcode])
        #expect(stopped.status == 0, "\(stopped.errors)")
        try await applocker.ended()
        #expect(try await applocker.run("status").status == 3)
    }
}
