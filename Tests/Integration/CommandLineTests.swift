import ControlAPI
import Foundation
import SealedFormats
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

    @Test("The passcode of an earlier AppLocker stays valid, and its first use creates the vault")
    func setUpWithAnEarlierVerifier() async throws {
        let applocker = try await CommandLineFixture(isSetUp: false)
        let salt = Data(repeating: 7, count: 16)
        let digest = KeyDerivation.sha256(SecretBytes(utf8: "the old one"), salt: Array(salt)).withUnsafeBytes {
            Data($0)
        }
        let file = applocker.directory.path("verifier.json")
        let fields = ["kind": "sha256", "salt": salt.base64EncodedString(), "digest": digest.base64EncodedString()]
        try JSONEncoder().encode(fields).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)

        let setup = try await applocker.run("setup", "--earlier-verifier", file)
        #expect(setup.status == 0 && setup.output.contains("The earlier passcode is set."), "\(setup.errors)")
        #expect(try await applocker.run("setup", "--earlier-verifier", file).status == 1, "set up already")
        #expect(try await applocker.run("vault", "unlock", passcodes: ["another one"]).status == 1)
        let unlock = try await applocker.run("vault", "unlock", passcodes: ["the old one"])
        #expect(unlock.status == 0, "\(unlock.errors)")
        #expect(try await applocker.run("vault", "status", "--json").json()["isOpen"] as? Bool == true)
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

    @Test("A running app is listed as such, and its instances are kept or closed as it is locked")
    func runningApps() async throws {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        let (kept, closed) = (
            try applocker.copy(of: "/usr/bin/sleep", as: "kept"), try applocker.copy(of: "/usr/bin/sleep", as: "closed")
        )
        let (first, second) = (try ChildProcess(kept, ["600"]), try ChildProcess(closed, ["600"]))
        await eventually("both run their programs") {
            try [(first, kept), (second, closed)].allSatisfy { process, path in
                try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.pid)/exe") == path
            }
        }
        #expect(try await applocker.run("add", kept, passcodes: right).status == 0)
        let ids = { @Sendable () async throws -> [String] in
            let list = try await applocker.run("apps", "--running", "--json").json()
            return try #require(list["apps"] as? [[String: Any]]).compactMap { $0["name"] as? String }
        }
        #expect(try await ids().contains("kept"))
        #expect(try await applocker.run("apps", "--running").output.contains("L  kept"))
        #expect(first.isRunning)
        #expect(try await applocker.run("add", closed, "--running", "close", passcodes: right).status == 0)
        #expect(try await second.wait() == .signal(SIGTERM))
        #expect(first.isRunning, "it is another app")
        let after = try await ids()
        #expect(after.contains("kept") && !after.contains("closed"))
        #expect(try await applocker.run("add", closed, "--running", "stop", passcodes: right).status == 2)
        #expect(try await applocker.run("apps", "--running", "--listed").status == 2)
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
        func today() async throws -> Double {
            try #require(try await applocker.run("stats", "--period", "today", "--json").json()["since"] as? Double)
        }
        let before = try await today()
        let week = try #require(try await applocker.run("stats", "--json").json()["since"] as? Double)
        // A new day may begin in between.
        let days = [before, try await today()]
        #expect(
            days.contains { abs($0 - week - 6 * 86_400) <= 3_600 },
            "\(days), \(week): the clock may change within the week")
        let all = try await applocker.run("stats", "--period", "all", "--json").json()
        #expect(all["since"] == nil && all["apps"] != nil)

        let doctor = try await applocker.run("doctor", "--json")
        let findings = try doctor.json()["appLocker"] as? [[String: Any]]
        let prompter = findings?.first { $0["id"] as? String == "prompter" }
        #expect(prompter?["state"] as? String == "weak")
        #expect(doctor.status == 1)
        try await applocker.end()
    }

    @Test("A change is confirmed by what it changed, and a mistake refused before anything is asked or done")
    func confirmations() async throws {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        let programs = try ["Diary", "Ledger"].map { try applocker.copy(of: "/usr/bin/readlink", as: $0) }
        for program in programs { #expect(try await applocker.run("add", program, passcodes: right).status == 0) }

        let once = try await applocker.run("unlock", "Diary", "--once", passcodes: right)
        #expect(once.output.contains("Diary") && once.output.hasSuffix(": unlocked for its next launch\n"))
        let own = try await applocker.run("passcode", "set", "--app", "Diary", passcodes: right + ["diary only"])
        #expect(own.output.hasSuffix(": its own passcode is set; the owner's unlocks it too\n"), "\(own.output)")
        let schedule = try await applocker.run("schedule", "set", "Diary", "block daily 00:00-24:00", passcodes: right)
        #expect(schedule.output.contains("block ") && schedule.output.hasSuffix("; now locked\n"), "\(schedule.output)")

        for mistake in [
            ["schedule", "set", "Diary", ""], ["category", "set", "", "Diary"], ["category", "remove", ""],
            ["status", "--socket", ""], ["monitoring", "off", "--for", "30s"], ["help", "frobnicate"],
            ["help", "schedule", "frobnicate"],
        ] {
            let refused = try await applocker.run(mistake, input: "", passcodes: [])
            #expect(refused.status == 2 && refused.output.isEmpty, "\(mistake)")
            for word in ["WARNING", "PUT", "HTTPClientError"] { #expect(!refused.errors.contains(word), "\(mistake)") }
        }
        #expect(try await applocker.run("help", "schedule", "set").output.contains("USAGE: applocker schedule set"))
        #expect(try await applocker.run("apps", "--listed").output.contains("daily 00:00-24:00"), "it was not cleared")

        let unknown = try await applocker.run("remove", "Diary", "Nonsense", passcodes: right)
        #expect(unknown.status == 4 && unknown.errors.contains("Nonsense"))
        let both = try await applocker.run("remove", "Diary", "Ledger", "diary", passcodes: right)
        #expect(both.status == 0 && both.output.contains("Diary") && both.output.contains("Ledger"), "\(both.errors)")
        #expect(try await applocker.run("apps", "--listed").output.contains("No app is on the list."))

        #expect(try await applocker.run("add", programs[0], passcodes: right).status == 0)
        #expect(try await applocker.run("status").output.contains("launches of your locked apps are denied"))
        #expect(try await applocker.run("monitoring", "off", passcodes: right).status == 0)
        #expect(try await !applocker.run("status").output.contains("launches of"), "nothing is denied while it is off")
        try await applocker.end()
    }

    @Test("`doctor --fix` accepts a few names, and root alone")
    func fixes() async throws {
        let directory = try TemporaryDirectory()
        let programs = try BuiltProducts.directoryForEverybody(["applocker"], copies: directory)
        let program = programs.appendingPathComponent("applocker").path
        for name in ["ptrace", "", "../tracing", "tracing core-files", "kernel.yama.ptrace_scope=0"] {
            let refused = try await ChildProcess.run(program, ["doctor", "--fix", name])
            #expect(refused.exit == .code(2))
            #expect(
                refused.errorOutput
                    == "applocker: \"\(name)\" has no fix. --fix takes tracing, core-files, user-namespaces.\n")
        }
        let user: uid_t? = geteuid() == 0 ? 65_534 : nil
        let refused = try ChildProcess(program, ["doctor", "--fix", "tracing"], user: user)
        #expect(try await refused.wait() == .code(1))
        #expect(
            refused.errorOutput
                == "applocker: Only root can change settings of the kernel. Run `sudo applocker doctor --fix tracing`.\n"
        )
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
