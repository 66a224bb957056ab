import Foundation
import Testing

@testable import ControlAPI

@Suite struct LocalDayTests {
    /// Compared with Foundation's calendar, an independent implementation.
    @Test func daysAreThoseOfTheCalendar() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for day in stride(from: -135_000, to: 2_932_000, by: 97) {
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day) * 86_400))
            let ours = LocalDay(date: Double(day) * 86_400 + 86_399.5, offset: 0)
            #expect([ours.year, ours.month, ours.day] == [parts.year, parts.month, parts.day])
            #expect(ours.daysSince1970 == day)
            #expect(LocalDay(ours.text) == ours)
        }
    }

    @Test func theOffsetDeterminesTheLocalDay() {
        #expect(LocalDay(date: 1_715_983_200, offset: 120).text == "2024-05-18")
        #expect(LocalDay(date: 1_715_983_200, offset: -600).text == "2024-05-17")
        #expect(LocalDay(date: -62_135_510_400, offset: -1_080).text == "0001-01-01")
    }

    @Test(arguments: [
        "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "24-05-17", "2024-5-17", "2024-05-17 ",
        "",
        "0000-01-01", "+024-05-17", "2024/05/17",
    ]) func invalidDaysAreRefused(_ text: String) { #expect(LocalDay(text) == nil) }

    @Test func leapDaysAreValid() { #expect(LocalDay("2000-02-29") != nil && LocalDay("2024-02-29") != nil) }
}
