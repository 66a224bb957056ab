import Testing

@testable import Localization

private struct German: Catalogue {
    let messages = [
        "{0} was locked.": "{0} wurde gesperrt.", "{0} was locked by {1}.": "{1} hat {0} gesperrt.",
        "Everything is locked.": "Alles ist gesperrt.", "Weak mode: {0}": "Schwacher Modus: {0}",
        "The gate is away.": "Die Schranke ist weg.", "Nothing was written ({0}).": "Nichts wurde geschrieben ({0}).",
        "it needs root": "dafür braucht es root",
        "The token of {0} is unknown. Pair it again.": "Das Token von {0} ist unbekannt. Koppeln Sie neu.",
    ]

    func translation(_ id: String, context: String?) -> String? {
        context == "list" ? messages.keys.joined(separator: "\n") : messages[id]
    }
    func translation(_ id: String, plural: String, number: UInt) -> String? { nil }
    func systemMessage(_ text: String) -> String? { text == "Permission denied" ? "Keine Berechtigung" : nil }
}

@Suite struct WrittenSentencesTests {
    private let sentences = WrittenSentences(
        list: German().translation("sentences of other programs", context: "list"))

    private func text(_ sentence: String) -> String { sentences.localized(sentence, by: German()) }

    @Test(arguments: [
        ("Everything is locked.", "Alles ist gesperrt."),
        ("Firefox was locked.", "Firefox wurde gesperrt."),
        // The message with more fixed words.
        ("Firefox was locked by Anna.", "Anna hat Firefox gesperrt."),
        // A value that is a sentence itself.
        ("Weak mode: The gate is away.", "Schwacher Modus: Die Schranke ist weg."),
        // A value that is a part of a sentence, or what the system says of an error.
        ("Nothing was written (it needs root).", "Nichts wurde geschrieben (dafür braucht es root)."),
        ("Nothing was written (Permission denied).", "Nichts wurde geschrieben (Keine Berechtigung)."),
        ("Nothing was written (bad luck).", "Nichts wurde geschrieben (bad luck)."),
        // A value of two sentences that are one message, such as a hub's refusal.
        (
            "Nothing was written (The token of Anna is unknown. Pair it again.).",
            "Nichts wurde geschrieben (Das Token von Anna ist unbekannt. Koppeln Sie neu.)."
        ),
        (
            "Nothing was written (bad luck. Pair it again.).", "Nothing was written (bad luck. Pair it again.)."
        ),
        ("Firefox was locked. Everything is locked.", "Firefox wurde gesperrt. Alles ist gesperrt."),
        ("Firefox was locked. Chess was locked by Ben.", "Firefox wurde gesperrt. Ben hat Chess gesperrt."),
        ("Nobody knows this. Everything is locked.", "Nobody knows this. Alles ist gesperrt."),
        ("Everything is locked. Nobody knows this.", "Alles ist gesperrt. Nobody knows this."),
    ])
    func aSentenceIsRecognisedByItsFixedWords(_ sentence: String, _ translation: String) {
        #expect(text(sentence) == translation)
    }

    @Test(arguments: [
        "", " was locked.", "Everything is locked", "everything is locked.", ".", ". ", "{0} was",
        "Everything is locked.x",
    ])
    func whatIsNoneOfThemStaysAsItIs(_ sentence: String) { #expect(text(sentence) == sentence) }

    @Test func aNameCanLookLikeAPlaceholder() {
        #expect(text("{1} was locked by {0}.") == "{0} hat {1} gesperrt.")
    }

    /// A hub may send megabytes as the reason of a refusal.
    @Test func aTextThatIsTooLongForASentenceIsNotLookedAt() {
        let long = String(repeating: "Everything is locked. ", count: 100)
        #expect(text(long) == long)
        let short = String(repeating: "Everything is locked. ", count: 3)
        #expect(text(short) == String(repeating: "Alles ist gesperrt. ", count: 3))
    }

    @Test func theListOfACatalogueIsRead() {
        #expect(sentences.message("Firefox was locked.")?.values == ["Firefox"])
    }
}
