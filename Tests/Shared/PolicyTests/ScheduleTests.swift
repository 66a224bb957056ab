import Foundation
import Policy
import TestSupport
import Testing

@Suite struct ScheduleTests {
    @Test func aWindowOverMidnightBelongsToTheDayItStartsOn() throws {
        let schedule = try Schedule(mode: .blockInside, text: "fri 22:00-07:00")
        #expect(!schedule.locks(at: civil(.friday, 6, 59, 59)))
        #expect(!schedule.locks(at: civil(.friday, 21, 59, 59)))
        #expect(schedule.locks(at: civil(.friday, 22, 0)))
        #expect(schedule.locks(at: civil(.friday, 23, 59, 59)))
        #expect(schedule.locks(at: civil(.saturday, 0, 0)))
        #expect(schedule.locks(at: civil(.saturday, 6, 59, 59)))
        #expect(!schedule.locks(at: civil(.saturday, 7, 0)))
        #expect(!schedule.locks(at: civil(.saturday, 22, 0)))
    }

    @Test func sundaysWindowOverMidnightContinuesIntoMonday() throws {
        let schedule = try Schedule(mode: .blockInside, text: "sun 23:00-01:00")
        #expect(schedule.locks(at: civil(.monday, 0, 59, 59)))
        #expect(!schedule.locks(at: civil(.monday, 1, 0)))
        #expect(!schedule.locks(at: civil(.monday, 23, 0)))
        #expect(schedule.nextChange(after: civil(.sunday, 23, 30)) == .seconds(90 * 60))
    }

    @Test func equalStartAndEndIsTwentyFourHours() throws {
        let wholeDay = try Schedule(mode: .blockInside, text: "wed 00:00-24:00")
        #expect(!wholeDay.locks(at: civil(.tuesday, 23, 59, 59)))
        #expect(wholeDay.locks(at: civil(.wednesday, 0, 0)))
        #expect(wholeDay.locks(at: civil(.wednesday, 23, 59, 59)))
        #expect(!wholeDay.locks(at: civil(.thursday, 0, 0)))
        let fromEight = try Schedule(mode: .blockInside, text: "wed 08:00-08:00")
        #expect(!fromEight.locks(at: civil(.wednesday, 7, 59, 59)))
        #expect(fromEight.locks(at: civil(.thursday, 7, 59, 59)))
        #expect(!fromEight.locks(at: civil(.thursday, 8, 0)))
    }

    @Test func allowOnlyInsideIsTheOppositeOfBlockInside() throws {
        let block = try Schedule(mode: .blockInside, text: "mon-fri 09:00-17:00")
        let allow = try Schedule(mode: .allowOnlyInside, text: "mon-fri 09:00-17:00")
        for time in [civil(.monday, 8, 59), civil(.monday, 9, 0), civil(.friday, 16, 59), civil(.saturday, 10, 0)] {
            #expect(block.locks(at: time) != allow.locks(at: time))
        }
        #expect(!allow.locks(at: civil(.monday, 9, 0)))
    }

    @Test(arguments: Schedule.Mode.allCases)
    func aScheduleThatIsOffOrEmptyUnlocksNothing(_ mode: Schedule.Mode) throws {
        let off = try Schedule(isEnabled: false, mode: mode, text: "daily 00:00-24:00")
        let empty = Schedule(mode: mode, windows: [])
        for schedule in [off, empty] {
            #expect(schedule.locks(at: noonOnMonday))
            #expect(schedule.nextChange(after: noonOnMonday) == nil)
            #expect(schedule.description == "always locked")
        }
    }

    @Test func adjacentWindowsCauseNoTransition() throws {
        let schedule = try Schedule(mode: .blockInside, text: "mon 08:00-12:00, 12:00-13:00, 12:30-18:00")
        #expect(schedule.nextChange(after: civil(.monday, 8, 0)) == .seconds(10 * 3600))
        let always = try Schedule(mode: .blockInside, text: "daily 00:00-24:00")
        #expect(always.nextChange(after: noonOnMonday) == nil)
    }

    @Test func theNextChangeCanBeAWeekAway() throws {
        let schedule = try Schedule(mode: .blockInside, text: "mon 12:00-12:01")
        #expect(schedule.nextChange(after: civil(.monday, 12, 0)) == .seconds(60))
        #expect(schedule.nextChange(after: civil(.monday, 12, 1)) == .seconds(7 * 86_400 - 60))
        #expect(schedule.nextChange(after: civil(.monday, 11, 59, 59)) == .seconds(1))
    }

    @Test func aScheduleUsesTheShownTimeAfterAClockJump() throws {
        let schedule = try Schedule(mode: .blockInside, text: "sun 02:30-03:30")
        // Spring: 01:59:59 is followed by 03:00:00, in the middle of the window.
        #expect(!schedule.locks(at: civil(.sunday, 1, 59, 59)))
        #expect(schedule.locks(at: civil(.sunday, 3, 0)))
        // Autumn: 02:59:59 is followed by 02:00:00, and the window occurs twice.
        #expect(schedule.locks(at: civil(.sunday, 2, 59, 59)))
        #expect(!schedule.locks(at: civil(.sunday, 2, 0)))
        #expect(schedule.nextChange(after: civil(.sunday, 2, 0)) == .seconds(1800))
    }

    @Test func randomSchedulesAgreeWithAMinuteByMinuteOracle() {
        var random = RepeatableRandom(seed: 20_240_229)
        for round in 0..<100 {
            let schedule = Schedule.random(using: &random, stepMinutes: round % 3 == 0 ? 30 : 1)
            let locked = weekByMinute(schedule)
            let changes = minutesToChange(locked)
            for _ in 0..<60 {
                let second = Int.random(in: 0..<604_800, using: &random)
                #expect(
                    schedule.locks(at: civil(secondOfWeek: second)) == locked[second / 60], "\(schedule) at \(second)")
                let expected = changes[second / 60].map { Duration.seconds((second / 60 + $0) * 60 - second) }
                #expect(schedule.nextChange(after: civil(secondOfWeek: second)) == expected, "\(schedule) at \(second)")
            }
        }
    }

    @Test func everyMinuteOfARandomWeekAgreesWithTheOracle() {
        var random = RepeatableRandom(seed: 7)
        for _ in 0..<12 {
            let schedule = Schedule.random(using: &random)
            let locked = weekByMinute(schedule)
            let wrong = (0..<10_080).filter { schedule.locks(at: civil(secondOfWeek: $0 * 60)) != locked[$0] }
            #expect(wrong.isEmpty, "\(schedule)")
        }
    }

    /// From each minute of the week to the first one that differs; nil in a week without a change.
    private func minutesToChange(_ locked: [Bool]) -> [Int?] {
        var result = [Int?](repeating: nil, count: 10_080)
        // Twice around the week, backwards: the second time, what follows its end is known.
        for minute in stride(from: 2 * 10_080 - 1, through: 0, by: -1) {
            let (now, next) = (minute % 10_080, (minute + 1) % 10_080)
            result[now] = locked[next] != locked[now] ? 1 : result[next].map { $0 + 1 }
        }
        return result
    }

    /// Whether the app is locked in each minute of the week from Monday on, by walking through every window.
    private func weekByMinute(_ schedule: Schedule) -> [Bool] {
        if !schedule.isEnabled || schedule.windows.isEmpty { return Array(repeating: true, count: 10_080) }
        var inside = Array(repeating: false, count: 10_080)
        for window in schedule.windows {
            for day in window.weekdays {
                var minute = (day.rawValue - 1) * 1440 + window.start
                repeat {
                    inside[minute % 10_080] = true
                    minute += 1
                } while minute % 1440 != window.end
            }
        }
        return schedule.mode == .blockInside ? inside : inside.map { !$0 }
    }

    @Test func decodingRefusesInvalidWindows() throws {
        let schedule = try Schedule(mode: .allowOnlyInside, text: "mon-fri 22:00-07:00, sat 10:00-12:00")
        let json = try JSONEncoder().encode(schedule)
        #expect(try JSONDecoder().decode(Schedule.self, from: json) == schedule)
        for window in [
            #"{"weekdays":[],"start":0,"end":60}"#, #"{"weekdays":[8],"start":0,"end":60}"#,
            #"{"weekdays":[1],"start":1440,"end":60}"#, #"{"weekdays":[1],"start":-1,"end":60}"#,
            #"{"weekdays":[1],"start":0,"end":1441}"#,
        ] {
            #expect(throws: (any Error).self) {
                try JSONDecoder().decode(Schedule.Window.self, from: Data(window.utf8))
            }
        }
    }
}
