import Policy
import TestSupport
import Testing

@Suite struct ScheduleTextTests {
    @Test(arguments: [
        ("mon-fri 22:00-07:00, sat,sun 10:00-12:00", "mon-fri 22:00-07:00, sat,sun 10:00-12:00"),
        ("daily 08:00-09:00", "daily 08:00-09:00"),
        ("08:00-09:00", "daily 08:00-09:00"),
        ("weekdays 9:00-17:00", "mon-fri 09:00-17:00"),
        ("weekends 0:00-24:00", "sat,sun 00:00-24:00"),
        ("MONDAY-Friday 9:00-12:00,13:00-17:00", "mon-fri 09:00-12:00, mon-fri 13:00-17:00"),
        ("fri-mon 22:00-00:00", "mon,fri-sun 22:00-00:00"),
        ("mon,wed , fri 10:00-11:00", "mon,wed,fri 10:00-11:00"),
        ("mon wed 10:00-11:00", "mon,wed 10:00-11:00"),
        ("  tue   08:00-08:00  ", "tue 08:00-08:00"),
    ])
    func schedulesAreParsedAndPrintedInOneForm(_ written: String, _ printed: String) throws {
        let schedule = try Schedule(mode: .blockInside, text: written)
        #expect(schedule.text == printed)
        #expect(try Schedule.windows(text: printed) == Schedule.windows(text: schedule.text))
    }

    @Test func dayGroupsExpandToTheirDays() throws {
        #expect(
            try Schedule.windows(text: "weekdays 1:00-2:00")[0].weekdays == [
                .monday, .tuesday, .wednesday, .thursday, .friday,
            ])
        #expect(try Schedule.windows(text: "weekends 1:00-2:00")[0].weekdays == [.saturday, .sunday])
        #expect(try Schedule.windows(text: "fri-mon 1:00-2:00")[0].weekdays == [.friday, .saturday, .sunday, .monday])
        #expect(try Schedule.windows(text: "mon-mon 1:00-2:00")[0].weekdays == [.monday])
    }

    @Test(arguments: [
        ("", "empty part"), ("mon 08:00-09:00,", "empty part"), ("mon", "no time"),
        ("sat 10:00-11:00, sun", "no time"),
        ("08:00", "time range"), ("mon 08:00-09:00-10:00", "time range"), ("mon 08:00-", "time of day"),
        ("mon 24:00-09:00", "time of day"), ("mon 08:60-09:00", "time of day"), ("mon 8-9:00", "time of day"),
        ("mon 08:00-24:01", "time of day"), ("mon 008:00-09:00", "time of day"), ("mon +8:00-09:00", "time of day"),
        ("mon 08:0-09:00", "time of day"), ("moonday 08:00-09:00", "not a day"),
        ("mon-tue-wed 08:00-09:00", "not a day"),
        ("mon- 08:00-09:00", "not a day"), ("08:00-09:00 mon", "not a day"),
        ("mon 08:00-09:00 10:00-11:00", "not a day"),
        ("mon 08:00 - 09:00", "not a day"), ("\u{1B}[2Jmon 08:00-09:00", "\\u{1B}"),
    ])
    func everyMistakeIsNamedInOneSentence(_ text: String, _ part: String) {
        #expect { try Schedule.windows(text: text) } throws: { error in
            guard let error = error as? PolicyError else { return false }
            return error.code == .invalidSchedule && error.sentence.contains(part) && error.sentence.hasSuffix(".")
                && error.sentence.utf8.allSatisfy { $0 >= 32 }
        }
    }

    @Test func printedSchedulesAreParsedTheSame() throws {
        var random = RepeatableRandom(seed: 99)
        for _ in 0..<500 {
            let schedule = Schedule.random(using: &random)
            guard !schedule.windows.isEmpty else { continue }
            #expect(try Schedule.windows(text: schedule.text) == schedule.windows, "\(schedule.text)")
        }
    }

    @Test func randomTextNeitherCrashesNorParsesAsASchedule() {
        var random = RepeatableRandom(seed: 4)
        let pieces = [
            "mon", "-", ",", " ", ":", "08", "00", "24", "9", "sun", "daily", "é", "\u{0}", "-5", "08:00-09:00",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }.joined()
            guard let windows = try? Schedule.windows(text: text) else { continue }
            #expect(!windows.isEmpty && text.contains(":"), "\(text)")
        }
    }

    @Test func everyTemplateHasItsNameAndWindows() throws {
        #expect(Set(Schedule.templates.map(\.name)).count == Schedule.templates.count)
        let schoolNight = try #require(Schedule.template(named: "school-night")).schedule
        #expect(schoolNight.locks(at: civil(.sunday, 20, 0)))
        #expect(schoolNight.locks(at: civil(.friday, 6, 59)))
        #expect(!schoolNight.locks(at: civil(.friday, 20, 0)))
        #expect(!schoolNight.locks(at: civil(.saturday, 23, 0)))
        let weekend = try #require(Schedule.template(named: "weekend")).schedule
        #expect(!weekend.locks(at: civil(.saturday, 0, 0)))
        #expect(!weekend.locks(at: civil(.sunday, 23, 59, 59)))
        #expect(weekend.locks(at: civil(.monday, 0, 0)))
        let workHours = try #require(Schedule.template(named: "work-hours")).schedule
        #expect(workHours.locks(at: civil(.friday, 16, 59, 59)))
        #expect(!workHours.locks(at: civil(.friday, 17, 0)))
        #expect(Schedule.template(named: "nonsense") == nil)
    }
}
