import Testing

@testable import Localization

@Suite struct LocalizedMessageTests {
    @Test func aLiteralIsItsOwnID() {
        let message: LocalizedMessage = "All apps are locked."
        #expect(message.id == "All apps are locked.")
        #expect(message.text(in: "Alle Apps sind gesperrt.") == "Alle Apps sind gesperrt.")
    }

    @Test func aTranslationMayUseTheValuesInAnotherOrder() {
        let (app, minutes) = ("Firefox", 5)
        let message: LocalizedMessage = "\(app) is open for \(minutes) minutes."
        #expect(message.id == "{0} is open for {1} minutes.")
        #expect(message.text(in: "Für {1} Minuten ist {0} offen.") == "Für 5 Minuten ist Firefox offen.")
    }

    @Test func bracesInAValueAreNoPlaceholders() {
        let (first, second) = ("{1}", "two")
        let message: LocalizedMessage = "\(first) and \(second)"
        #expect(message.text(in: message.id) == "{1} and two")
    }

    @Test(arguments: ["{", "}", "{}", "{x} {0", "{2}", "{-1}", "{ 0}"])
    func otherBracesOfATranslationStay(_ braces: String) {
        let value = "value"
        let message: LocalizedMessage = "\(value)"
        #expect(message.text(in: "\(braces) {0}") == (braces == "{x} {0" ? "{x} {0 value" : "\(braces) value"))
    }

    @Test(arguments: [(0, "0 apps"), (1, "1 app"), (2, "2 apps"), (-1, "-1 apps")])
    func withoutACatalogueANumberHasItsEnglishForm(_ number: Int, _ text: String) {
        #expect(localized(number, one: "\(number) app", other: "\(number) apps") == text)
    }

    @Test func oneFormMayLeaveTheNumberOut() {
        #expect(localized(1, one: "One app", other: "\(1) apps") == "One app")
        #expect(localized(2, one: "One app", other: "\(2) apps") == "2 apps")
    }
}
