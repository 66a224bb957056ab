import Glibc

extension DesktopEntry {
    /// Reads an entry's bytes.
    ///
    /// Where the specification and GLib differ on input that desktops start nevertheless, GLib is followed, because an
    /// app that starts must be one that can be locked: a repeated key has its last value, and an unknown escape stays
    /// as it is written.
    ///
    /// - Parameters:
    ///   - bytes: the whole file, at most ``sizeLimit`` bytes.
    ///   - locale: as in ``CatalogEnvironment/locale``.
    /// - Throws: DesktopEntryError, one sentence with the line where there is one.
    public static func parse(_ bytes: [UInt8], locale: String = "C") throws(DesktopEntryError) -> DesktopEntry {
        try parse(bytes, locale: LocaleTag(locale))
    }

    static func parse(_ bytes: [UInt8], locale: LocaleTag) throws(DesktopEntryError) -> DesktopEntry {
        guard bytes.count <= sizeLimit else {
            throw DesktopEntryError(
                .tooLarge, "The file is larger than \(sizeLimit) bytes, the limit for a desktop entry.")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw DesktopEntryError(.notText, "The file is not UTF-8 text.")
        }
        guard !bytes.contains(0) else {
            throw DesktopEntryError(.notText, "The file has a NUL byte, so it is not a text file.")
        }
        var reader = DesktopEntryReader(locale: locale)
        var outcome: Result<Void, DesktopEntryError> = .success(())
        bytes.withUnsafeBytes { buffer in
            do throws(DesktopEntryError) {
                try reader.read(buffer)
            } catch {
                outcome = .failure(error)
            }
        }
        try outcome.get()
        return try reader.finished()
    }
}

/// Reads the lines of an entry. Values are decoded only for keys that are needed: most lines of a real entry are
/// translations into other languages.
private struct DesktopEntryReader {
    static let mainGroup = "Desktop Entry"

    let locale: LocaleTag
    var entry = DesktopEntry()
    var seenGroup = false
    var hasName = false
    var nameRank = Int.max
    var iconRank = Int.max

    mutating func read(_ buffer: UnsafeRawBufferPointer) throws(DesktopEntryError) {
        var start = 0
        var number = 0
        var inMainGroup = false
        while start < buffer.count {
            let rest = buffer.baseAddress! + start
            let end = memchr(rest, 0x0A, buffer.count - start).map {
                $0 - UnsafeMutableRawPointer(mutating: rest) + start
            }
            let line = UnsafeRawBufferPointer(rebasing: buffer[start..<(end ?? buffer.count)])
            start = (end ?? buffer.count) + 1
            number += 1
            guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { continue }
            if first == UInt8(ascii: "#") { continue }
            if first == UInt8(ascii: "[") {
                let group = try Self.group(line, number)
                if !seenGroup && group != Self.mainGroup {
                    throw DesktopEntryError(
                        .syntax, "Line \(number): the first group must be [\(Self.mainGroup)], not [\(group)].",
                        line: number)
                }
                seenGroup = true
                inMainGroup = group == Self.mainGroup
                continue
            }
            guard seenGroup else {
                throw DesktopEntryError(
                    .syntax, "Line \(number): there is text before the group [\(Self.mainGroup)].", line: number)
            }
            if inMainGroup { try readLine(line, number) }
        }
    }

    private static func group(_ line: UnsafeRawBufferPointer, _ number: Int) throws(DesktopEntryError) -> String {
        let text = String(decoding: line, as: UTF8.self).trimmingBlanks
        let name = text.dropFirst().dropLast()
        guard text.last == "]", !name.isEmpty, !name.contains(where: { $0 == "[" || $0 == "]" }) else {
            throw DesktopEntryError(.syntax, "Line \(number): a group must be written [Name].", line: number)
        }
        return String(name)
    }

    private mutating func readLine(_ line: UnsafeRawBufferPointer, _ number: Int) throws(DesktopEntryError) {
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
            throw DesktopEntryError(
                .syntax, "Line \(number) is neither a comment, a group nor Key=value.", line: number)
        }
        if Self.isForeign(line, equals, locale) { return }
        let key = String(decoding: line[..<equals], as: UTF8.self).trimmingBlanks
        guard !key.isEmpty else {
            throw DesktopEntryError(.syntax, "Line \(number): the key before \"=\" is missing.", line: number)
        }
        var value: String { String(decoding: line[(equals + 1)...], as: UTF8.self).trimmingBlanks }
        if let bracket = key.utf8.firstIndex(of: UInt8(ascii: "[")) {
            guard key.utf8.last == UInt8(ascii: "]") else {
                throw DesktopEntryError(
                    .syntax, "Line \(number): a localised key must be written Key[locale].", line: number)
            }
            let base = key[..<bracket]
            guard base == "Name" || base == "Icon" else { return }
            guard let rank = locale.rank(String(key[key.utf8.index(after: bracket)...].dropLast())) else { return }
            if base == "Name", rank <= nameRank {
                nameRank = rank
                entry.name = Self.unescaped(value)
            } else if base == "Icon", rank <= iconRank {
                iconRank = rank
                entry.icon = Self.unescaped(value)
            }
            return
        }
        try readKey(key, number) { value }
    }

    /// Whether a line is a well-formed localised key that this reader has no use for.
    private static func isForeign(_ line: UnsafeRawBufferPointer, _ equals: Int, _ locale: LocaleTag) -> Bool {
        guard equals > 0, line[equals - 1] == UInt8(ascii: "]") else { return false }
        return locale.candidates.isEmpty || !(line[0] == UInt8(ascii: "N") || line[0] == UInt8(ascii: "I"))
    }

    private mutating func readKey(_ key: String, _ number: Int, _ value: () -> String) throws(DesktopEntryError) {
        switch key {
        case "Type": entry.type = Self.unescaped(value())
        case "Name":
            entry.unlocalisedName = Self.unescaped(value())
            if nameRank == Int.max { entry.name = entry.unlocalisedName }
            hasName = true
        case "Icon": if iconRank == Int.max { entry.icon = Self.unescaped(value()) }
        case "Exec": entry.exec = Self.unescaped(value())
        case "Path": entry.directory = Self.unescaped(value())
        case "TryExec": entry.tryExec = Self.unescaped(value())
        case "NoDisplay": entry.noDisplay = try Self.boolean(value(), key, number)
        case "Hidden": entry.hidden = try Self.boolean(value(), key, number)
        case "DBusActivatable": entry.isDBusActivatable = try Self.boolean(value(), key, number)
        case "Terminal": entry.runsInTerminal = try Self.boolean(value(), key, number)
        case "OnlyShowIn": entry.onlyShowIn = Self.list(value())
        case "NotShowIn": entry.notShowIn = Self.list(value())
        case "X-Flatpak": entry.flatpak = Self.unescaped(value())
        case "X-SnapInstanceName": entry.snapInstance = Self.unescaped(value())
        default: break
        }
    }

    func finished() throws(DesktopEntryError) -> DesktopEntry {
        guard seenGroup else {
            throw DesktopEntryError(.syntax, "The file has no group [\(Self.mainGroup)].")
        }
        // An entry with only Hidden=true deletes one of a lower directory and needs nothing else.
        if entry.hidden { return entry }
        guard !entry.type.isEmpty else { throw DesktopEntryError(.missingKey, "The key Type is missing.") }
        guard entry.type == "Application" else { return entry }
        guard hasName, !entry.unlocalisedName.isEmpty else {
            throw DesktopEntryError(.missingKey, "The key Name is missing or empty.")
        }
        guard entry.isDBusActivatable || !(entry.exec ?? "").isEmpty else {
            throw DesktopEntryError(.missingKey, "The key Exec is missing or empty.")
        }
        var named = entry
        if entry.name.isEmpty { named.name = entry.unlocalisedName }
        return named
    }

    /// "1" and "0" are the old spelling, still found.
    private static func boolean(_ value: String, _ key: String, _ line: Int) throws(DesktopEntryError) -> Bool {
        switch value {
        case "true", "1": return true
        case "false", "0": return false
        default:
            throw DesktopEntryError(.badValue, "Line \(line): \(key) must be true or false.", line: line)
        }
    }

    /// The string escapes \s \n \t \r \\.
    static func unescaped(_ value: String) -> String {
        guard value.utf8.contains(UInt8(ascii: "\\")) else { return value }
        var out = ""
        var escaping = false
        for character in value.unicodeScalars {
            guard escaping else {
                if character == "\\" { escaping = true } else { out.unicodeScalars.append(character) }
                continue
            }
            escaping = false
            switch character {
            case "s": out += " "
            case "n": out += "\n"
            case "t": out += "\t"
            case "r": out += "\r"
            case "\\": out += "\\"
            default:
                out += "\\"
                out.unicodeScalars.append(character)
            }
        }
        return escaping ? out + "\\" : out
    }

    /// A list with ";" between its items and "\;" for a semicolon in one.
    static func list(_ value: String) -> [String] {
        var items: [String] = []
        var item = ""
        var escaping = false
        for character in value.unicodeScalars {
            if escaping {
                if character != ";" { item += "\\" }
                item.unicodeScalars.append(character)
                escaping = false
            } else if character == "\\" {
                escaping = true
            } else if character == ";" {
                items.append(unescaped(item))
                item = ""
            } else {
                item.unicodeScalars.append(character)
            }
        }
        if !item.isEmpty { items.append(unescaped(item)) }
        return items
    }
}

extension String {
    /// Without spaces, tabs and carriage returns at either end.
    var trimmingBlanks: String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(self[first...last])
    }
}
