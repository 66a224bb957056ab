extension DesktopEntry {
    /// The argument vector of ``exec``, started without files: the quoting rules undone, %f %F %u %U (and the deprecated
    /// %d %D %n %N %v %m) dropped, %i, %c, %k and %% filled in.
    ///
    /// As GLib does, single quotes and a backslash outside of quotes are understood too.
    ///
    /// - Parameter location: the entry's own path, for %k.
    /// - Throws: DesktopEntryError `.badCommand` for an open quote, an unknown field code or an empty command.
    public func arguments(location: String?) throws(DesktopEntryError) -> [String] {
        var arguments: [String] = []
        for word in try Self.words(of: exec ?? "") {
            if word == "%i" {
                if let icon, !icon.isEmpty { arguments += ["--icon", icon] }
                continue
            }
            let (expanded, lostAll) = try expand(word, location: location)
            if !lostAll { arguments.append(expanded) }
        }
        guard let program = arguments.first, !program.isEmpty else {
            throw DesktopEntryError(.badCommand, "Exec names no program.")
        }
        return arguments
    }

    /// `lostAll`: the word was nothing but field codes that stand for no argument at all.
    private func expand(_ word: String, location: String?) throws(DesktopEntryError) -> (String, lostAll: Bool) {
        guard word.utf8.contains(UInt8(ascii: "%")) else { return (word, false) }
        var out = ""
        var codes = 0
        var rest = word.unicodeScalars[...]
        while let character = rest.popFirst() {
            guard character == "%" else {
                out.unicodeScalars.append(character)
                continue
            }
            switch rest.popFirst() {
            case "%": out += "%"
            case "f", "F", "u", "U", "i", "d", "D", "n", "N", "v", "m": codes += 1
            case "c": out += name
            case "k": out += location ?? ""
            case let code?:
                throw DesktopEntryError(
                    .badCommand, "Exec has the unknown field code %\(code).")
            case nil:
                throw DesktopEntryError(.badCommand, "Exec ends with a lone %; a percent sign is written %%.")
            }
        }
        return (out, out.isEmpty && codes > 0)
    }

    /// Splits a command line into words by the Exec key's quoting.
    static func words(of command: String) throws(DesktopEntryError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Unicode.Scalar?
        var rest = command.unicodeScalars[...]
        while let character = rest.popFirst() {
            switch (quote, character) {
            case ("\"", "\\"):
                guard let next = rest.popFirst() else { break }
                if !["\"", "`", "$", "\\"].contains(next) { word?.unicodeScalars.append("\\") }
                word?.unicodeScalars.append(next)
            case ("\""?, "\""), ("'"?, "'"): quote = nil
            case (.some, _): word?.unicodeScalars.append(character)
            case (nil, "\""), (nil, "'"):
                quote = character
                word = word ?? ""
            case (nil, "\\"):
                word = word ?? ""
                word?.unicodeScalars.append(rest.popFirst() ?? "\\")
            case (nil, " "), (nil, "\t"), (nil, "\n"), (nil, "\r"):
                if let finished = word { words.append(finished) }
                word = nil
            case (nil, _):
                word = word ?? ""
                word?.unicodeScalars.append(character)
            }
        }
        guard quote == nil else { throw DesktopEntryError(.badCommand, "Exec has a quote that is never closed.") }
        if let word { words.append(word) }
        return words
    }
}
