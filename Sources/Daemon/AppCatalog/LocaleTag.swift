/// A locale name `lang_COUNTRY.ENCODING@MODIFIER`, and which localised keys of a desktop entry suit it, best first
/// (Desktop Entry Specification, "Localized values for keys").
struct LocaleTag: Sendable, Equatable {
    /// The suffixes that match, without brackets: `de_DE@euro`, `de_DE`, `de@euro`, `de`. The encoding plays no part.
    let candidates: [String]

    init(_ name: String) {
        guard !["", "C", "POSIX"].contains(name), !name.hasPrefix("C.") else {
            candidates = []
            return
        }
        let modifier = name.split(separator: "@", maxSplits: 1).dropFirst().first.map(String.init)
        let plain = name.prefix { $0 != "." && $0 != "@" }
        let language = String(plain.prefix { $0 != "_" })
        let country = plain.split(separator: "_", maxSplits: 1).dropFirst().first.map(String.init)
        var found: [String] = []
        if let country, let modifier { found.append("\(language)_\(country)@\(modifier)") }
        if let country { found.append("\(language)_\(country)") }
        if let modifier { found.append("\(language)@\(modifier)") }
        found.append(language)
        candidates = found
    }

    /// Lower is better; nil when a value for `suffix` is not for this locale.
    func rank(_ suffix: String) -> Int? {
        // An encoding in the key is allowed by old versions of the specification and is ignored.
        var plain = suffix
        if let dot = plain.firstIndex(of: ".") {
            let end = plain[dot...].firstIndex(of: "@") ?? plain.endIndex
            plain.removeSubrange(dot..<end)
        }
        return candidates.firstIndex(of: plain)
    }
}
