import Foundation

/// The German texts of the source tree.
enum GermanCatalogue {
    /// English messages without values, and their translations that differ. Mnemonics are left out, as a screen reader
    /// leaves them out.
    static func messages() throws -> [String: String] {
        let root = URL(fileURLWithPath: #filePath + "/../../../..").standardizedFileURL
        let catalogue = try String(contentsOf: root.appending(path: "po/de.po"), encoding: .utf8)
        var german: [String: String] = [:]
        for entry in catalogue.split(separator: "\n\n") where !entry.contains("msgctxt") {
            let lines = entry.split(separator: "\n")
            guard let english = lines.first(where: { $0.hasPrefix("msgid ") }).map(text),
                let translation = lines.first(where: { $0.hasPrefix("msgstr ") }).map(text)
            else { continue }
            german[english] = translation
        }
        return german.filter { $0.key != $0.value && !$0.key.contains("{") }
    }

    private static func text(_ line: Substring) -> String {
        String(line.drop { $0 != "\"" }.dropFirst().dropLast())
            .replacing("\\\"", with: "\"").replacing("\\n", with: "\n").replacing("_", with: "")
    }
}
