/// A shell script taken apart without running it, far enough to see which programs it starts. It is no complete shell
/// grammar: conditions, loops and functions are read straight through, as if every branch were taken.
struct ShellScript {
    struct Command {
        var words: [Word] = []
        /// Nothing comes after it but closing words such as `fi`.
        var isLast = false
    }

    struct Word {
        var parts: [Part] = []
        var isQuoted = false
    }

    enum Part {
        case text(String)
        /// `$NAME` or `${NAME...}`: the name and what follows it inside the braces.
        case variable(String, operation: String)
        /// The text inside $(...) or backticks.
        case substitution(String)
    }

    private(set) var commands: [Command] = []

    /// Words that open or close a construct and are no commands.
    private static let keywords: Set<String> = [
        "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "esac", "time", "[[", "]]",
    ]

    private static let commandLimit = 20_000

    init(_ source: String) {
        var scanner = ShellScanner(source)
        var current = Command()
        while commands.count < Self.commandLimit {
            switch scanner.next() {
            case .word(let word):
                if current.words.isEmpty, case .text(let text)? = word.parts.first, word.parts.count == 1,
                    !word.isQuoted, Self.keywords.contains(text)
                {
                    continue
                }
                current.words.append(word)
            case .separator:
                if !current.words.isEmpty { commands.append(current) }
                current = Command()
            case .end:
                if !current.words.isEmpty { commands.append(current) }
                if !commands.isEmpty { commands[commands.count - 1].isLast = true }
                return
            }
        }
    }
}

/// Splits shell text into words and separators.
private struct ShellScanner {
    enum Token {
        case word(ShellScript.Word)
        case separator, end
    }

    private var rest: Substring.UnicodeScalarView
    private var hereDocuments: [String] = []

    init(_ source: String) { rest = source[...].unicodeScalars }

    mutating func next() -> Token {
        while let first = rest.first {
            switch first {
            case " ", "\t", "\r": rest.removeFirst()
            case "\\" where rest.dropFirst().first == "\n": rest.removeFirst(2)
            case "#": skipLine()
            case "\n":
                rest.removeFirst()
                skipHereDocuments()
                return .separator
            case ";", "&", "|", "(", ")":
                rest.removeFirst()
                return .separator
            case "<", ">":
                skipRedirection()
            default:
                return .word(word())
            }
        }
        return .end
    }

    private mutating func skipLine() {
        while let character = rest.first, character != "\n" { rest.removeFirst() }
    }

    private mutating func skipRedirection() {
        let isHereDocument = rest.starts(with: "<<".unicodeScalars) && !rest.starts(with: "<<<".unicodeScalars)
        while let character = rest.first, ["<", ">", "&", "-", " ", "\t", "|"].contains(character) {
            rest.removeFirst()
        }
        guard let first = rest.first, first != "\n", first != ";", first != ")" else { return }
        let target = word()
        guard isHereDocument else { return }
        hereDocuments.append(
            target.parts.map { if case .text(let text) = $0 { text } else { "" } }.joined())
    }

    private mutating func skipHereDocuments() {
        for end in hereDocuments where !end.isEmpty {
            while !rest.isEmpty {
                let line = rest.prefix { $0 != "\n" }
                rest = rest[line.endIndex...].dropFirst()
                if String(line).trimmingBlanks == end { break }
            }
        }
        hereDocuments = []
    }

    private mutating func word() -> ShellScript.Word {
        var word = ShellScript.Word()
        var text = ""
        func flush() {
            if !text.isEmpty { word.parts.append(.text(text)) }
            text = ""
        }
        scan: while let character = rest.first {
            switch character {
            case " ", "\t", "\n", "\r", ";", "&", "|", "(", ")", "<", ">": break scan
            case "\\":
                rest.removeFirst()
                if let next = rest.popFirst(), next != "\n" { text.unicodeScalars.append(next) }
            case "'":
                rest.removeFirst()
                word.isQuoted = true
                while let next = rest.popFirst(), next != "'" { text.unicodeScalars.append(next) }
            case "\"":
                rest.removeFirst()
                word.isQuoted = true
                while let next = rest.first, next != "\"" {
                    if next == "\\" {
                        rest.removeFirst()
                        guard let escaped = rest.popFirst() else { break }
                        if !["\"", "\\", "$", "`", "\n"].contains(escaped) { text += "\\" }
                        if escaped != "\n" { text.unicodeScalars.append(escaped) }
                    } else if let part = expansion() {
                        flush()
                        word.parts.append(part)
                    } else {
                        text.unicodeScalars.append(rest.removeFirst())
                    }
                }
                if !rest.isEmpty { rest.removeFirst() }
            default:
                if let part = expansion() {
                    flush()
                    word.parts.append(part)
                } else {
                    text.unicodeScalars.append(rest.removeFirst())
                }
            }
        }
        flush()
        return word
    }

    /// A `$...` or backtick expansion at this place, or nil where there is none.
    private mutating func expansion() -> ShellScript.Part? {
        if rest.first == "`" {
            rest.removeFirst()
            var text = ""
            while let character = rest.popFirst(), character != "`" { text.unicodeScalars.append(character) }
            return .substitution(text)
        }
        guard rest.first == "$", let next = rest.dropFirst().first else { return nil }
        switch next {
        case "(":
            rest.removeFirst(2)
            return .substitution(balanced(open: "(", close: ")"))
        case "{":
            rest.removeFirst(2)
            let body = balanced(open: "{", close: "}").unicodeScalars
            var name = body.prefix { Self.isNameScalar($0) }
            if name.isEmpty { name = body.prefix(1) }
            return .variable(String(name), operation: String(body[name.endIndex...]))
        case "@", "*", "#", "?", "$", "!", "-", "0"..."9":
            rest.removeFirst(2)
            return .variable(String(next), operation: "")
        case _ where Self.isNameScalar(next):
            rest.removeFirst()
            let name = rest.prefix { Self.isNameScalar($0) }
            rest = rest[name.endIndex...]
            return .variable(String(name), operation: "")
        default: return nil
        }
    }

    private static func isNameScalar(_ character: Unicode.Scalar) -> Bool {
        character == "_" || (character.isASCII && character.properties.isAlphabetic) || ("0"..."9").contains(character)
    }

    /// Text up to the bracket that closes the one just passed; quotes inside hide brackets.
    private mutating func balanced(open: Unicode.Scalar, close: Unicode.Scalar) -> String {
        var text = ""
        var depth = 1
        var quote: Unicode.Scalar?
        while let character = rest.popFirst() {
            if character == "\\" {
                text += "\\"
                if let next = rest.popFirst() { text.unicodeScalars.append(next) }
                continue
            }
            if character == "'" || character == "\"" {
                quote = quote == nil ? character : (quote == character ? nil : quote)
            }
            // Substitutions nest inside double quotes, so only single quotes hide brackets.
            if quote != "'" {
                if character == open { depth += 1 }
                if character == close { depth -= 1 }
                if depth == 0 { break }
            }
            text.unicodeScalars.append(character)
        }
        return text
    }
}
