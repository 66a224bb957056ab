/// Makes foreign text (app names, sentences, paths) safe to be shown.
public enum ShownLine {
    /// One line, without control characters and without those that change the direction of writing (Unicode's
    /// bidirectional controls), with which one name could imitate another.
    ///
    /// - Parameter maximumLength: in characters; outside AppLocker's own windows at most 400.
    public static func plain(_ text: String, maximumLength: Int = 400) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(maximumLength) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar.properties.isBidiControl ? " " : scalar)
            }
        }
        return String(line).split(separator: " ").joined(separator: " ")
    }

    /// Escapes text for a server that supports the markup of the Desktop Notifications specification (a part of HTML).
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
