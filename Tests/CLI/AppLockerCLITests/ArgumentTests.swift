import ControlAPI
import LocalControl
import Policy
import Testing

@testable import AppLockerCLI

@Suite("Arguments of the command line")
struct ArgumentTests {
    @Test(
        "A duration is parsed",
        arguments: [("30s", 30), ("5m", 300), ("1h", 3600), ("1h30m", 5400), ("90m", 5400), ("2H", 7200)])
    func durations(text: String, seconds: Int) {
        #expect(DurationArgument(argument: text)?.seconds == seconds)
    }

    @Test(
        "Anything but a duration in whole seconds is refused",
        arguments: ["", "5", "m", "-5m", "5 m", "500ms", "0s", "1.5h", "99999999999999999999s", "5m5h", "5min"])
    func badDurations(text: String) {
        #expect(DurationArgument(argument: text) == nil)
    }

    @Test(
        "A time in the past is a duration, a day, or a day and a time",
        arguments: [
            ("3h", 1_700_000_000 - 10_800), ("90m ago", 1_700_000_000 - 5_400), ("2d", 1_700_000_000 - 172_800),
            ("2 d", nil), ("0s", nil), ("2023-11-31", nil), ("2023-11-14 24:00", nil), ("2023-11-14 1:00", nil),
            ("2023-11-14 01:00:00:00", nil), ("2023-11-16", nil), ("yesterday", nil), ("", nil), ("70000d", nil),
        ] as [(String, Double?)])
    func pastTimes(text: String, time: Double?) {
        #expect(PastTimeArgument(text, now: 1_700_000_000)?.time == time)
    }

    @Test("A day and a time are in local time")
    func localTimes() throws {
        let day = try #require(PastTimeArgument("2023-11-14", now: 1_700_000_000)).time
        #expect(TimeText.local(day) == "2023-11-14 00:00:00")
        for text in ["2023-11-14 14:30", "2023-11-14T14:30", "2023-11-14 14:30:00"] {
            let time = try #require(PastTimeArgument(text, now: day + 86_400)).time
            #expect(TimeText.local(time) == "2023-11-14 14:30:00")
        }
    }

    @Test("A grant is a duration within its limits, one launch, or until locked")
    func grants() {
        #expect(GrantArgument(argument: "5m")?.request == GrantRequest(.duration, seconds: 300))
        #expect(GrantArgument(argument: "this-launch")?.request == GrantRequest(.thisLaunch))
        #expect(GrantArgument(argument: "until-locked")?.request == GrantRequest(.untilLocked))
        #expect(GrantArgument(argument: "29s") == nil)
        #expect(GrantArgument(argument: "61m") == nil)
        #expect(GrantArgument(argument: "forever") == nil)
    }

    @Test("A path is made absolute, an id or a name is kept")
    func appNames() {
        #expect(AppNames.resolved("firefox-esr", directory: "/home/eve") == "firefox-esr")
        #expect(AppNames.resolved("LibreOffice Calc", directory: "/home/eve") == "LibreOffice Calc")
        #expect(AppNames.resolved("./game", directory: "/home/eve") == "/home/eve/game")
        #expect(AppNames.resolved("bin/game", directory: "/") == "/bin/game")
        #expect(AppNames.resolved("../game", directory: "/home/eve") == "/home/eve/../game")
        #expect(AppNames.resolved("/opt/game", directory: "/home/eve") == "/opt/game")
    }

    @Test("A template's name is replaced by its schedule, anything else is sent unchanged")
    func templates() throws {
        #expect(ScheduleArgument.text("night") == "block daily 22:00-07:00")
        #expect(ScheduleArgument.text("weekend") == "allow sat,sun 00:00-24:00")
        #expect(ScheduleArgument.text("block mon 10:00-11:00") == "block mon 10:00-11:00")
        #expect(ScheduleArgument.text("nonsense") == "nonsense")
    }

    @Test("The control socket is searched for in the documented order")
    func controlSocket() {
        let system = ControlSocketPath.system
        func path(_ option: String? = nil, _ environment: [String: String] = [:], there: [String] = []) -> String {
            ControlSocketPath.find(option: option, environment: environment) { there.contains($0) }
        }
        let own = "/home/eve/.local/state/applocker/control.sock"
        #expect(path("/a", ["APPLOCKER_SOCKET": "/b"], there: [system]) == "/a")
        #expect(path(nil, ["APPLOCKER_SOCKET": "/b", "HOME": "/home/eve"], there: [system, own]) == "/b")
        #expect(path(nil, ["APPLOCKER_SOCKET": "", "HOME": "/home/eve"], there: [system, own]) == system)
        #expect(path(nil, ["HOME": "/home/eve"], there: [own]) == own)
        #expect(path(nil, ["HOME": "home/eve"], there: ["home/eve/.local/state/applocker/control.sock"]) == system)
        #expect(
            path(nil, ["HOME": "/home/eve", "XDG_STATE_HOME": "/s"], there: [own, "/s/applocker/control.sock"])
                == "/s/applocker/control.sock")
        #expect(path() == system)
    }
}
