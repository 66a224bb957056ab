/// Follows the simple assignments of a shell script and returns what its commands would start. Every variable keeps all
/// values that the script gives it, since either branch of a condition may run.
struct ShellScriptReader {
    /// Something that the script names.
    struct Mention: Equatable {
        enum Strength: Int {
            /// An existing program's path somewhere in a command.
            case argument
            /// What a plain command starts.
            case command
            /// What the script continues as: an `exec`, or its last command with the script's own arguments passed on.
            case continues
        }

        let target: CommandTarget
        let strength: Strength
    }

    private let files: HostFiles
    private let environment: CatalogEnvironment
    /// The paths that `$0` may be: the name that was called and the real file.
    private let scriptPaths: [String]
    private var variables: [String: [String]] = [:]
    private var mentions: [Mention] = []
    /// Where the script may be at this point.
    private var directories: [String]

    private static let valueLimit = 8
    private static let mentionLimit = 256
    private static let nestingLimit = 6

    /// - Parameters:
    ///   - scriptPaths: what `$0` may be; empty for the text of `sh -c`.
    ///   - directory: where the script starts, if that is known.
    init(files: HostFiles, environment: CatalogEnvironment, scriptPaths: [String], directory: String? = nil) {
        self.files = files
        self.environment = environment
        self.scriptPaths = scriptPaths
        directories = directory.map { [$0] } ?? []
        variables["HOME"] = [environment.home]
    }

    /// - Parameter isText: the text of `sh -c`, where every command counts as what is started.
    mutating func read(_ source: String, isText: Bool = false) -> [Mention] {
        for command in ShellScript(source).commands where mentions.count < Self.mentionLimit {
            read(command, isText: isText)
        }
        return mentions
    }

    private mutating func read(_ command: ShellScript.Command, isText: Bool) {
        var words = command.words[...]
        while let word = words.first, assign(word) { words = words.dropFirst() }
        if let declaration = words.first.flatMap(literal),
            ["export", "local", "readonly", "declare", "typeset", ":"].contains(declaration)
        {
            for word in words.dropFirst() { if !assign(word) { _ = values(word, 0) } }
            return
        }
        guard let first = words.first else { return }
        let isExec = literal(first) == "exec"
        if isExec { words = words.dropFirst() }
        // Unquoted words that may be empty vanish; what is left starts with the program.
        var line: [[String]] = []
        var passesArguments = false
        for word in words {
            if isArguments(word) {
                passesArguments = true
                continue
            }
            let found = values(word, 0)
            if !word.isQuoted, line.isEmpty, found.isEmpty || found.contains("") { continue }
            line.append(found.isEmpty ? [""] : found)
        }
        guard let programs = line.first else { return }
        let continues = isExec || (command.isLast && passesArguments)
        if programs.contains("cd"), line.count > 1 {
            directories = Array((line[1].flatMap(placed) + directories).prefix(Self.valueLimit))
        }
        for program in programs where !program.isEmpty {
            let arguments = line.dropFirst().map { $0[0] }
            guard let target = CommandTarget.of([program] + arguments) else { continue }
            for target in placed(target) { add(target, continues || isText ? .continues : .command) }
        }
        for path in line.joined() where path.hasPrefix("/") { add(.program(path), .argument) }
    }

    /// A relative path from everywhere the script may be.
    private func placed(_ path: String) -> [String] {
        path.hasPrefix("/") ? [path] : directories.map { $0 + "/" + path }
    }

    private func placed(_ target: CommandTarget) -> [CommandTarget] {
        switch target {
        case .program(let path) where path.contains("/") && !path.hasPrefix("/"):
            return placed(path).map { .program($0) }
        case .script(let path, let interpreter) where !path.hasPrefix("/"):
            let found = placed(path).filter { files.regularFile($0) != nil }
            return found.isEmpty ? [target] : found.map { .script($0, interpreter: interpreter) }
        default: return [target]
        }
    }

    private mutating func add(_ target: CommandTarget, _ strength: Mention.Strength) {
        let mention = Mention(target: target, strength: strength)
        if mentions.count < Self.mentionLimit, !mentions.contains(mention) { mentions.append(mention) }
    }

    private func literal(_ word: ShellScript.Word) -> String? {
        guard word.parts.count == 1, case .text(let text) = word.parts[0] else { return nil }
        return text
    }

    /// "$@", $*, ${1+"$@"}, $1: the arguments that the script was given.
    private func isArguments(_ word: ShellScript.Word) -> Bool {
        guard word.parts.count == 1, case .variable(let name, _) = word.parts[0] else { return false }
        return name == "@" || name == "*" || (name != "0" && name.allSatisfy { $0.isNumber })
    }

    /// Takes `NAME=value`; false when the word is something else.
    private mutating func assign(_ word: ShellScript.Word) -> Bool {
        guard case .text(let text)? = word.parts.first, let equals = text.firstIndex(of: "=") else { return false }
        var name = text[..<equals]
        if name.hasSuffix("+") { name = name.dropLast() }
        guard let first = name.first, !first.isNumber,
            name.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || isASCIIAlphanumeric($0) })
        else { return false }
        var value = word
        value.parts[0] = .text(String(text[text.index(after: equals)...]))
        var known = variables[String(name)] ?? []
        for found in values(value, 0) where !known.contains(found) && known.count < Self.valueLimit {
            known.append(found)
        }
        variables[String(name)] = known
        return true
    }

    private func isASCIIAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// Everything that a word may expand to; empty when that can't be known without running the script.
    private mutating func values(_ word: ShellScript.Word, _ depth: Int) -> [String] {
        guard depth < Self.nestingLimit else { return [] }
        var results = [""]
        for (index, part) in word.parts.enumerated() {
            var pieces: [String]
            switch part {
            case .text(let text):
                pieces = [text]
                if index == 0, !word.isQuoted, text == "~" || text.hasPrefix("~/") {
                    pieces = [environment.home + text.dropFirst()]
                }
            case .variable(let name, let operation): pieces = values(of: name, operation, depth)
            case .substitution(let text): pieces = output(of: text, depth)
            }
            results = Array(results.flatMap { result in pieces.map { result + $0 } }.prefix(Self.valueLimit))
            if results.isEmpty { return [] }
        }
        return results
    }

    private mutating func values(of name: String, _ operation: String, _ depth: Int) -> [String] {
        let known = name == "0" || name == "BASH_SOURCE" ? scriptPaths : (variables[name] ?? [])
        if operation.isEmpty || operation.hasPrefix("[") { return known }
        if operation.hasPrefix("##*/") { return known.map(HostFiles.name(of:)) }
        if operation.hasPrefix("%/*") { return known.map(HostFiles.directory(of:)) }
        guard let mark = operation.firstIndex(where: { "-=+".contains($0) }),
            operation.prefix(2).contains(operation[mark])
        else { return known }
        let word = ShellScript("x " + operation[operation.index(after: mark)...]).commands.first?.words.dropFirst()
            .first
        let fallback = word.map { values($0, depth + 1) } ?? [""]
        if operation[mark] == "+" { return fallback.contains("") ? fallback : fallback + [""] }
        let all = known + fallback.filter { !known.contains($0) }
        if operation[mark] == "=" { variables[name] = Array(all.prefix(Self.valueLimit)) }
        return all
    }

    /// What $(...) would print, for the few commands that scripts find themselves with.
    private mutating func output(of text: String, _ depth: Int) -> [String] {
        guard depth < Self.nestingLimit else { return [] }
        var directory = scriptPaths.map(HostFiles.directory(of:))
        var printed: [String] = []
        for command in ShellScript(text).commands {
            let words = command.words
            guard let name = words.first.flatMap(literal) else { return [] }
            let plain = words.dropFirst().filter { !(literal($0)?.hasPrefix("-") ?? false) }
            let argument = plain.last.map { values($0, depth + 1) } ?? []
            switch name {
            case "cd": directory = argument
            case "pwd": printed = directory
            case "dirname": printed = argument.map(HostFiles.directory(of:))
            case "basename": printed = argument.map(HostFiles.name(of:))
            case "readlink", "realpath": printed = argument.compactMap { files.resolve($0)?.path }
            case "echo", "printf": printed = argument
            case "command", "which", "type":
                printed = argument.flatMap { program in
                    environment.searchPath.map { $0 + "/" + program }.filter { files.regularFile($0) != nil }
                }
            default: return []
            }
        }
        return Array(printed.prefix(Self.valueLimit))
    }
}
