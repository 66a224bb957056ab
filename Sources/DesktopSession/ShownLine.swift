/// Text from elsewhere (app names, sentences) made fit to be shown outside AppLocker's own windows.
enum ShownLine {
    /// The longest text that is handed over, in characters.
    static let maximumLength = 400

    /// On one line, without control characters and without those that turn the direction of writing, with which a name
    /// could pretend to be another.
    static func plain(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(maximumLength) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar.properties.isBidiControl ? " " : scalar)
            }
        }
        return String(line).split(separator: " ").joined(separator: " ")
    }

    /// For a server that reads the markup of the Desktop Notifications specification (a part of HTML).
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
