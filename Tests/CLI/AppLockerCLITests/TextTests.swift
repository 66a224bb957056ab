import ControlAPI
import Testing

@testable import AppLockerCLI

@Suite("Text of reports")
struct TextTests {
    private let plain = Paint(isColoured: false)

    private func status(
        protection: StatusReport.Protection = .held, degraded: [String] = [],
        monitoring: MonitoringState = MonitoringState(isOn: true),
        lockout: LockoutState = LockoutState(failures: 0, remainingSeconds: 0)
    ) -> StatusReport {
        StatusReport(
            version: "9.9", isSetUp: true, protection: protection, degraded: degraded, monitoring: monitoring,
            lockedApps: 2, unlockedApps: 1, waitingLaunches: 1, waitingEndsInSeconds: 95, prompterConnected: true,
            lockout: lockout,
            inactivity: InactivityReport(limitSeconds: 600, source: .mutter, isArmed: false),
            processes: [ProcessReport(name: "applockerd", pid: 7)])
    }

    private func app(_ id: String, _ name: String, _ state: AppReport.State = .locked, left: Int? = nil) -> AppReport {
        AppReport(
            id: id, name: name, icon: nil, state: state, unlockedForSeconds: left, schedule: nil, categories: [],
            hasOwnPasscode: false, onGrantEnd: "keep", executables: ["/opt/\(id)"], privateDirectories: [],
            sharedWith: [])
    }

    @Test("Statistics are a row of counts an app, and one sentence without any")
    func statistics() {
        let apps = [
            AppStatistics(
                app: "m", name: "Mail", asked: 12, allowed: 9, denied: 3, wrongPasscodes: 1, unlocks: 4, lastDenied: 0),
            AppStatistics(app: "f", name: "Firefox", asked: 1, allowed: 1, denied: 0, wrongPasscodes: 0, unlocks: 1),
        ]
        let denied = TimeText.local(0)
        #expect(
            StatisticsReport(since: 0, apps: apps, byDay: []).lines(plain) == [
                "APP      ASKED  ALLOWED  UNLOCKS  DENIED  LAST DENIED          WRONG PASSCODES",
                "Mail     12     9        4        3       \(denied)  1",
                "Firefox  1      1        1        0       -                    0",
            ])
        #expect(
            StatisticsReport(since: 0, apps: [], byDay: []).lines(plain) == ["Nothing was recorded since \(denied)."])
        #expect(StatisticsReport(since: nil, apps: [], byDay: []).lines(plain) == ["Nothing is recorded yet."])
    }

    @Test("A sound state is one green line and counts")
    func soundStatus() {
        #expect(
            status().lines(plain) == [
                "AppLocker 9.9: protected, launches are held by the kernel", "",
                "Apps           2 locked, 1 unlocked now",
                "Waiting        1 launch; without an answer it is denied in 1 min 35 s", "Your prompter  connected",
                "Lockout        none",
                "Processes      applockerd 7",
            ])
    }

    @Test("Every weakness is a line that begins with DEGRADED")
    func degradedStatus() {
        #expect(status(degraded: ["One.", "Two."]).lines(plain).filter { $0.hasPrefix("DEGRADED: ") }.count == 2)
        #expect(status(protection: .weak).lines(plain).contains { $0.hasPrefix("DEGRADED: Weak mode") })
        #expect(
            status(protection: .gateAway).lines(plain).contains { $0.hasPrefix("DEGRADED: The gate is not running") })
        let off = status(monitoring: MonitoringState(isOn: false, endsInSeconds: 90)).lines(plain)
        #expect(off[0].contains("monitoring is OFF"))
        #expect(off.contains { $0.hasPrefix("DEGRADED: Monitoring is off") })
        #expect(off.contains("Monitoring turns on again in 1 min 30 s."))
        #expect(!status(protection: .weak).lines(plain).contains { $0.contains("protected,") })
    }

    @Test("A lockout shows its duration")
    func lockout() {
        let lines = status(lockout: LockoutState(failures: 5, remainingSeconds: 61)).lines(plain)
        #expect(lines.contains("Lockout        locked out for 1 min 1 s (5 wrong in a row)"))
    }

    @Test("Colour is used only where it is enabled")
    func colour() {
        #expect(!status(degraded: ["One."]).lines(plain).joined().contains("\u{1B}"))
        #expect(status(degraded: ["One."]).lines(Paint(isColoured: true)).joined().contains("\u{1B}[1;31mDEGRADED"))
        #expect(!Output(descriptor: 1, environment: ["NO_COLOR": "1"]).isColoured)
        #expect(!Output(descriptor: 1, environment: ["TERM": "dumb"]).isColoured)
    }

    @Test("Columns are aligned, and an empty list names the command that fills it")
    func appTable() {
        let lines = AppTable.lines([app("a", "Alpha"), app("bb", "B", .unlocked, left: 250)], plain)
        #expect(
            lines == [
                "STATE                      NAME   APP ID  SCHEDULE",
                "locked                     Alpha  a       always",
                "unlocked, 4 min 10 s left  B      bb      always",
            ])
        #expect(AppTable.lines([], plain) == ["No app is on the list. Lock one with `applocker lock APP`."])
    }

    @Test("Installed apps that are on the list are marked, and unreadable entries are named")
    func installedTable() {
        let list = InstalledList(
            apps: [
                InstalledReport(id: "a", name: "Alpha", icon: nil, kind: "desktop", isListed: true, state: .locked),
                InstalledReport(id: "b", name: "Beta", icon: nil, kind: "snap", isListed: true, state: .unlocked),
                InstalledReport(id: "c", name: "Gamma", icon: nil, kind: "flatpak", isListed: false, state: nil),
            ], problems: ["x.desktop has no Exec."])
        let lines = AppTable.lines(list, plain)
        #expect(lines[1].hasPrefix("L  Alpha"))
        #expect(lines[2].hasPrefix("o  Beta"))
        #expect(lines[3].hasPrefix("   Gamma"))
        #expect(lines.last == "Skipped: x.desktop has no Exec.")
        #expect(AppTable.lines(InstalledList(apps: []), plain, none: "None.") == ["None."])
    }

    @Test("A name can neither move the cursor nor forge a line")
    func hostileNames() {
        let lines = AppTable.lines([app("a", "Evil\u{1B}[2J\nlocked  Other\u{202E}x")], plain)
        #expect(lines.count == 2)
        #expect(!lines[1].contains("\u{1B}") && !lines[1].contains("\n") && !lines[1].contains("\u{202E}"))
        let heading = PromptText.heading(PromptReport.example(parent: "ba\rsh\u{7}"), othersWaiting: 0)
        #expect(heading[1] == "ba\u{FFFD}sh\u{FFFD} wants to start Firefox (/usr/bin/firefox-esr).")
    }

    @Test("Joined emoji stay whole, and nothing else keeps an invisible joiner")
    func joinedEmoji() {
        for whole in ["👨‍👩‍👧", "🏳️‍🌈 at sea", "Zürich 👍🏽"] { #expect(whole.terminalSafe == whole) }
        #expect("a\u{200D}b 1\u{200D} 👨\u{200D}".terminalSafe == "a\u{FFFD}b 1\u{FFFD} 👨\u{FFFD}")
    }

    @Test("Durations have at most two units")
    func durations() {
        let spoken = [0, 45, 60, 250, 3600, 3661, 90_000, -3].map { TimeText.spoken(seconds: $0) }
        #expect(spoken == ["0 s", "45 s", "1 min", "4 min 10 s", "1 h", "1 h 1 min", "1 d 1 h", "0 s"])
    }

    @Test("An app on the list is found by id, by executable, else by name")
    func listedApps() throws {
        let list = ListedApps([app("a", "Same"), app("b", "same"), app("c", "a")])
        #expect(try list.one("a").id == "a" && list.one("a.desktop").id == "a")
        #expect(try list.one("/opt/b").id == "b")
        #expect(throws: ControlError.self) { try list.one("SAME") }
        #expect(throws: ControlError.self) { try list.one("d") }
        var shared = app("e", "Viewer")
        shared.sharedWith = ["Editor"]
        #expect(try ListedApps([shared]).one("editor", orSharing: true).id == "e")
        #expect(throws: ControlError.self) { try ListedApps([shared]).one("editor") }
    }

    @Test("The doctor finds every weakness that the status shows")
    func doctor() {
        #expect(!DoctorReport(host: [], appLocker: DoctorFinding.of(status())).isDegraded)
        for weak in [status(protection: .weak), status(protection: .gateAway), status(monitoring: .init(isOn: false))] {
            #expect(DoctorReport(host: [], appLocker: DoctorFinding.of(weak)).isDegraded)
        }
        var unwatched = status()
        unwatched.inactivity.source = .none
        #expect(DoctorReport(host: [], appLocker: DoctorFinding.of(unwatched)).isDegraded)
        var missing = status()
        missing.prompterConnected = false
        let lines = DoctorReport(host: [], appLocker: DoctorFinding.of(missing)).lines(plain)
        #expect(lines.filter { $0.hasPrefix("WEAK") }.count == 1)
        missing.phoneIsAsked = true
        #expect(!DoctorReport(host: [], appLocker: DoctorFinding.of(missing)).isDegraded)
    }

    @Test("JSON has sorted keys and plain slashes")
    func json() throws {
        let text = try Output.jsonText(MonitoringState(isOn: false, endsInSeconds: 5))
        #expect(text == "{\n  \"endsInSeconds\" : 5,\n  \"isOn\" : false\n}")
        #expect(try Output.jsonText(["a/b"]) == "[\n  \"a/b\"\n]")
    }
}

extension PromptReport {
    static func example(id: String = "1", parent: String = "bash", expires: Int = 30) -> PromptReport {
        PromptReport(
            prompt: id, app: "firefox-esr", name: "Firefox", icon: nil, path: "/usr/bin/firefox-esr", process: 42,
            parentName: parent, user: 1000, userName: "eve", expiresInSeconds: expires, defaultGrantSeconds: 300,
            hasOwnPasscode: false, startsAgain: false, lockout: LockoutState(failures: 0, remainingSeconds: 0))
    }
}
