/// What a command really starts, once the programs that only prepare the way for it are taken off.
enum CommandTarget: Equatable {
    /// A program by name (found through PATH) or path.
    case program(String)
    /// A file that an interpreter reads; it need not be executable itself.
    case script(String, interpreter: String)
    /// A module that `python -m` runs.
    case pythonModule(String)
    /// Text for a shell.
    case shellText(String)
    case flatpak(id: String, command: String?)
    case snap(instance: String, app: String?)
    /// A desktop entry's id, with or without ".desktop".
    case entry(String)
    /// A name on the D-Bus session bus, started by its service file.
    case service(String)
}

/// A program that starts another one, named in its own arguments.
private struct Starter {
    /// Options whose argument is the next word.
    var withArgument: Set<String> = []
    /// Words before the program that are neither options nor the program.
    var positional = 0
    /// NAME=value words stand before the program.
    var acceptsAssignments = false
    /// The program is only started after one of these words; without it the starter is the app itself.
    var marker: Set<String> = []
}

extension CommandTarget {
    private static let starters: [String: Starter] = {
        var table: [String: Starter] = [
            "env": Starter(withArgument: ["-u", "--unset", "-C", "--chdir"], acceptsAssignments: true),
            "nice": Starter(withArgument: ["-n", "--adjustment"]),
            "ionice": Starter(withArgument: ["-c", "-n", "-p", "--class", "--classdata"]),
            "chrt": Starter(positional: 1), "taskset": Starter(positional: 1),
            "timeout": Starter(withArgument: ["-k", "-s", "--kill-after", "--signal"], positional: 1),
            "stdbuf": Starter(withArgument: ["-i", "-o", "-e"]),
            "exec": Starter(withArgument: ["-a"]),
            "dbus-run-session": Starter(withArgument: ["--config-file", "--dbus-daemon"]),
            "pkexec": Starter(withArgument: ["--user"]),
            "sudo": Starter(
                withArgument: ["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D", "-R", "-T"],
                acceptsAssignments: true
            ),
            "doas": Starter(withArgument: ["-u", "-C"]),
            "gksu": Starter(withArgument: ["-u"]), "gksudo": Starter(withArgument: ["-u"]),
            "kdesu": Starter(withArgument: ["-u"]), "kdesudo": Starter(withArgument: ["-u"]),
            "systemd-run": Starter(
                withArgument: ["-u", "-p", "-E", "-t", "-d", "-H", "-M", "--unit", "--property", "--slice", "--setenv"]
            ),
            "systemd-cat": Starter(withArgument: ["-t", "-p"]),
            "systemd-inhibit": Starter(), "switcherooctl": Starter(marker: ["launch"]),
            "uwsm": Starter(marker: ["--", "app"]), "uwsm-app": Starter(),
            "xvfb-run": Starter(withArgument: ["-s", "-n", "-e", "-f", "-w", "-p"]),
            "gdb": Starter(marker: ["--args"]), "strace": Starter(withArgument: ["-o", "-e", "-s", "-p", "-E", "-u"]),
            "rr": Starter(positional: 1), "faketime": Starter(positional: 1),
            "proxychains": Starter(withArgument: ["-f"]), "proxychains4": Starter(withArgument: ["-f"]),
            "xargs": Starter(withArgument: ["-n", "-I", "-P", "-L", "-d", "-a"]),
        ]
        for plain in [
            "nohup", "setsid", "time", "command", "builtin", "dbus-launch", "gamemoderun", "mangohud", "prime-run",
            "optirun", "primusrun", "pvkrun", "firejail", "ltrace", "valgrind", "padsp", "aoss", "apulse",
            "pasuspender",
            "torsocks", "torify", "catchsegv", "eatmydata", "fakeroot", "lxqt-sudo", "su-to-root", "kstart", "kstart5",
            "startproton", "choom", "chronic",
        ] { table[plain] = Starter() }
        for terminal in [
            "x-terminal-emulator", "xterm", "uxterm", "rxvt", "urxvt", "gnome-terminal", "konsole", "xfce4-terminal",
            "mate-terminal", "lxterminal", "qterminal", "terminator", "tilix", "alacritty", "kitty", "st", "foot",
        ] { table[terminal] = Starter(marker: ["-e", "-x", "--", "--execute", "--command"]) }
        return table
    }()

    static let shells: Set<String> = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"]

    /// How many starters may stand one before the other.
    private static let depthLimit = 16

    /// Looks through a command's words for what it starts.
    static func of(_ words: [String]) -> CommandTarget? {
        var words = words[...]
        for _ in 0..<depthLimit {
            guard let first = words.first, !first.isEmpty else { return nil }
            let name = HostFiles.name(of: first)
            // Also one that an app ships.
            if Essential.isLoader(name) {
                return Interpreter.loader.target(name, words.dropFirst()) ?? .program(first)
            }
            // A file that merely bears the name of a starter, somewhere else, is a program of its own.
            guard isSystemProgram(first) else { return .program(first) }
            let rest = words.dropFirst()
            if let special = special(name, rest) { return special }
            guard let starter = starters[name], let next = skip(starter, rest) else { return .program(first) }
            if name == "env", let text = splitString(rest) { return .shellText(text) }
            if !starter.marker.isEmpty, next.count == 1, let only = next.first, only.contains(" ") {
                return .shellText(only)
            }
            guard !next.isEmpty else { return .program(first) }
            words = next
        }
        return nil
    }

    private static func isSystemProgram(_ word: String) -> Bool {
        guard word.contains("/") else { return true }
        return SharedDirectories.programs.contains(HostFiles.directory(of: word))
    }

    private static func splitString(_ words: ArraySlice<String>) -> String? {
        guard let index = words.firstIndex(where: { $0.hasPrefix("-S") || $0.hasPrefix("--split-string") }) else {
            return nil
        }
        if words[index] == "-S" || words[index] == "--split-string" {
            return words[(index + 1)...].joined(separator: " ")
        }
        let text = words[index].hasPrefix("-S") ? words[index].dropFirst(2) : words[index].dropFirst(15)
        return ([String(text)] + words[(index + 1)...]).joined(separator: " ")
    }

    private static func skip(_ starter: Starter, _ words: ArraySlice<String>) -> ArraySlice<String>? {
        var words = words
        if !starter.marker.isEmpty {
            guard let index = words.firstIndex(where: { starter.marker.contains($0) }) else { return nil }
            words = words[(index + 1)...]
        }
        var positional = starter.positional
        while let word = words.first {
            if word == "--" {
                words = words.dropFirst()
                continue
            }
            if word.hasPrefix("-") {
                words = words.dropFirst(starter.withArgument.contains(word) ? 2 : 1)
            } else if starter.acceptsAssignments && word.contains("=") && !word.hasPrefix("/") {
                words = words.dropFirst()
            } else if positional > 0 {
                positional -= 1
                words = words.dropFirst()
            } else {
                break
            }
        }
        return words
    }

    private static func special(_ name: String, _ words: ArraySlice<String>) -> CommandTarget? {
        let plain = words.filter { !$0.hasPrefix("-") && $0 != "@@" && $0 != "@@u" }
        switch name {
        case "flatpak":
            guard plain.first == "run", plain.count > 1 else { return nil }
            let command = words.first { $0.hasPrefix("--command=") }.map { String($0.dropFirst("--command=".count)) }
            return .flatpak(id: String(plain[1].prefix { $0 != "/" }), command: command)
        case "snap":
            guard plain.first == "run", plain.count > 1 else { return nil }
            return snap(plain[1])
        case "gtk-launch", "gtk4-launch": return plain.first.map { .entry($0) }
        case "gio": return plain.first == "launch" && plain.count > 1 ? .entry(plain[1]) : nil
        case "kioclient", "kioclient5": return plain.first == "exec" && plain.count > 1 ? .entry(plain[1]) : nil
        case "gapplication": return plain.first == "launch" && plain.count > 1 ? .service(plain[1]) : nil
        case _ where shells.contains(name): return shell(words)
        default: return Interpreter.named(name).flatMap { $0.target(name, words) }
        }
    }

    /// `firefox` or `lxd.lxc`.
    static func snap(_ name: String) -> CommandTarget {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        return .snap(instance: parts.first ?? name, app: parts.count > 1 ? parts[1] : nil)
    }

    private static func shell(_ words: ArraySlice<String>) -> CommandTarget? {
        var words = words
        while let word = words.first, word.hasPrefix("-") || word.hasPrefix("+") {
            words = words.dropFirst()
            if word.hasPrefix("-") && !word.hasPrefix("--") && word.contains("c") {
                // `sh -c -- text` and `sh -c -e text` are allowed too.
                return words.first { !$0.hasPrefix("-") }.map { .shellText($0) }
            }
            if word == "-o" || word == "+o" || word == "--rcfile" || word == "--init-file" { words = words.dropFirst() }
        }
        return words.first.map { .script($0, interpreter: "sh") }
    }
}
