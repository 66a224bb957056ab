/// Sentences that another program wrote in English: the daemon, whose log is signed as it was written and read by
/// people of several languages.
///
/// A catalogue lists the messages that these sentences can be. One that fits none of them stays in English.
struct WrittenSentences: Sendable {
    private struct Pattern: Sendable {
        let message: String
        /// What stands before, between and behind the values.
        let pieces: [String]
        /// In bytes, of all pieces.
        let fixed: Int

        init(_ message: String) {
            self.message = message
            pieces = WrittenSentences.pieces(message)
            fixed = pieces.reduce(0) { $0 + $1.utf8.count }
        }
    }

    /// Those with the most fixed words first: they fit the fewest sentences.
    private let patterns: [Pattern]
    /// How many sentences a message has at most.
    private let mostSentences: Int
    /// In bytes. A hub or a device may send any text; the daemon's own sentences are shorter.
    private static let longest = 2_000

    /// - Parameter messages: with `{0}`, `{1}`… for the values, in this order.
    init(_ messages: [String]) {
        mostSentences = messages.map { $0.split(separator: ". ").count }.max() ?? 0
        patterns = messages.map(Pattern.init).sorted { $0.fixed > $1.fixed }
    }

    /// - Parameter list: of messages, one a line; nil: the catalogue has none.
    init(list: String?) { self.init(list?.split(separator: "\n").map(String.init) ?? []) }

    private static func pieces(_ message: String) -> [String] {
        var (pieces, rest) = ([String](), message[...])
        while let value = rest.firstRange(of: "{\(pieces.count)}") {
            pieces.append(String(rest[..<value.lowerBound]))
            rest = rest[value.upperBound...]
        }
        return pieces + [String(rest)]
    }

    /// - Returns: the message that fits the text, and its values; nil if none fits.
    func message(_ text: String) -> (id: String, values: [String])? {
        message(text) { value in message(value) { _ in false } != nil }
    }

    /// - Parameter isMessage: whether several sentences are one value: the reason that a hub gave. Otherwise they
    ///   would be taken for a long name.
    private func message(_ text: String, isMessage: (String) -> Bool) -> (id: String, values: [String])? {
        for pattern in patterns {
            guard let values = Self.values(pattern.pieces, in: text[...]),
                values.allSatisfy({ !$0.isEmpty && (!$0.contains(". ") || isMessage($0)) })
            else { continue }
            return (pattern.message, values)
        }
        return nil
    }

    private static func values(_ pieces: [String], in text: Substring) -> [String]? {
        guard text.hasPrefix(pieces[0]) else { return nil }
        guard pieces.count > 1 else { return text.count == pieces[0].count ? [] : nil }
        guard let last = pieces.last, text.hasSuffix(last) else { return nil }
        var rest = text.dropFirst(pieces[0].count)
        guard rest.count > last.count else { return nil }
        rest = rest.dropLast(last.count)
        var values: [String] = []
        for piece in pieces.dropFirst().dropLast() {
            guard let range = rest.firstRange(of: piece), range.lowerBound > rest.startIndex else { return nil }
            values.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return values + [String(rest)]
    }

    /// The text with each of its sentences translated, as far as they are known.
    func localized(_ text: String, by catalogue: any Catalogue) -> String {
        guard !patterns.isEmpty, text.utf8.count <= Self.longest else { return text }
        let pieces = text.split(separator: ". ", omittingEmptySubsequences: false)
        // The last one has its own end.
        let sentences = pieces.dropLast().map { "\($0)." } + pieces.suffix(1).map(String.init)
        var (localized, rest) = ([String](), sentences[...])
        while let next = rest.first {
            let (text, count) = localizedStart(of: rest, by: catalogue) ?? (next, 1)
            localized.append(text)
            rest = rest.dropFirst(count)
        }
        return localized.joined(separator: " ")
    }

    /// The translation of the longest message with which the sentences begin, and how many sentences it has.
    private func localizedStart(
        of sentences: ArraySlice<String>, by catalogue: any Catalogue
    ) -> (text: String, count: Int)? {
        for count in (1...min(sentences.count, mostSentences)).reversed() {
            let text = sentences.prefix(count).joined(separator: " ")
            if let localized = localizedWhole(text, by: catalogue) { return (localized, count) }
        }
        return nil
    }

    private func localizedWhole(_ text: String, by catalogue: any Catalogue) -> String? {
        guard let (id, values) = message(text), let translated = catalogue.translation(id, context: nil) else {
            return nil
        }
        // A value may be a sentence itself, a part of one, or the system's: a reason in parentheses.
        let localized = values.map { localizedWhole($0, by: catalogue) ?? catalogue.systemMessage($0) ?? $0 }
        return LocalizedMessage(id: id, values: localized).text(in: translated)
    }
}

/// A sentence that another program wrote in English, in the person's language; as it is where no catalogue has it.
public func localized(written text: String) -> String {
    guard let catalogue = InstalledCatalogue.current else { return text }
    return InstalledCatalogue.sentences.localized(text, by: catalogue)
}
