/// Finds all files of one app: from its entry through wrappers to the programs, then the rest of its package and of the
/// directories that are its own.
struct AppSearch {
    let machine: CatalogSnapshot
    /// Only to distinguish this app from others.
    let app: String

    private(set) var executables: [AppExecutable] = []
    private(set) var identities: [FileIdentity] = []
    private(set) var privateDirectories: [String] = []
    /// Paths with links on their way, by which programs were found.
    private(set) var links: [String] = []
    /// The first thing the app would start that must not be locked.
    private(set) var firstRefusal: Refusal?
    /// A program that was named and is not there.
    private(set) var missing: String?
    /// What kind of package the first target showed the app to be.
    private(set) var kind: InstalledApp.Kind?

    private var seen: Set<String> = []
    /// Directories that are the app's own by how it was deployed (Flatpak, Snap).
    private var deployed: [String] = []
    /// The names of the app's programs, to determine which other programs in their directories belong to it.
    private var programNames: Set<String> = []

    /// Wrappers that may stand one before the other.
    private static let depthLimit = 8
    /// The bytes that are read of a script; self-extracting archives have megabytes.
    private static let scriptLimit = 256 << 10
    private static let executableLimit = 4096
    /// For what files lead to that the user can write, so that they do not use up the limit of the others.
    private static let usersExecutableLimit = 1024
    private static let linkLimit = 256

    private var isFollowingUsers = false
    private var usersPaths: Set<String> = []

    init(machine: CatalogSnapshot, app: String) {
        self.machine = machine
        self.app = app
    }

    // MARK: - Where to begin

    mutating func addEntry(_ entry: DesktopEntry, _ file: EntryFile, id: String) {
        let outer = isFollowingUsers
        isFollowingUsers = outer || file.origin.isUsers
        defer { isFollowingUsers = outer }
        if let flatpak = entry.flatpak { follow(.flatpak(id: flatpak, command: nil), depth: 0) }
        if let snap = entry.snapInstance { follow(CommandTarget.snap(snap), depth: 0) }
        if let words = try? entry.arguments(location: file.path), let target = CommandTarget.of(words) {
            follow(Self.placed(target, entry.directory), depth: 0, directory: entry.directory)
        }
        if entry.isDBusActivatable { follow(.service(id), depth: 0) }
    }

    /// - Parameter link: the name that it was asked for by, where that leads to it.
    mutating func addFile(_ path: String, link: String? = nil) {
        addProgram(called: link ?? path, depth: 0, isScript: true)
    }

    private mutating func note(link: String) {
        guard link.hasPrefix("/"), links.count < Self.linkLimit, !links.contains(link) else { return }
        links.append(link)
    }

    // MARK: - Following

    /// A path relative to the directory that the entry starts in.
    private static func placed(_ target: CommandTarget, _ directory: String?) -> CommandTarget {
        guard let directory, directory.hasPrefix("/") else { return target }
        switch target {
        case .program(let path) where path.contains("/") && !path.hasPrefix("/"):
            return .program(directory + "/" + path)
        case .script(let path, let interpreter) where !path.hasPrefix("/"):
            return .script(directory + "/" + path, interpreter: interpreter)
        default: return target
        }
    }

    mutating func follow(_ target: CommandTarget, depth: Int, directory: String? = nil) {
        guard depth < Self.depthLimit else { return }
        switch target {
        case .program(let name):
            let programs = machine.programs(name)
            if programs.isEmpty { missing = missing ?? name }
            for program in programs {
                if HostFiles.name(of: program.real) == "snap", HostFiles.name(of: name) != "snap" {
                    follow(CommandTarget.snap(HostFiles.name(of: name)), depth: depth + 1)
                } else {
                    addProgram(called: program.called, depth: depth, isScript: false)
                }
            }
        case .script(let path, let interpreter):
            if path.hasPrefix("/"), machine.files.isDirectory(path) {
                addDirectory(path)
            } else if path.contains("/") {
                if machine.files.regularFile(path) == nil { missing = missing ?? path }
                addProgram(called: path, depth: depth, isScript: true)
            } else {
                // A bare name is looked for in the directory of the day, but by `perl -S` and friends in PATH too.
                for program in machine.programs(path) {
                    addProgram(called: program.called, depth: depth, isScript: true)
                }
                if machine.programs(path).isEmpty { follow(.program(interpreter), depth: depth + 1) }
            }
        case .pythonModule(let module):
            for path in PythonModules(machine).files(of: module, besides: nil) { add(path, .payload) }
        case .shellText(let text):
            var reader = ShellScriptReader(
                files: machine.files, environment: machine.environment, scriptPaths: [], directory: directory)
            for mention in reader.read(text, isText: true) where mention.strength == .continues {
                guard !Self.isPlainTool(mention.target) else { continue }
                follow(mention.target, depth: depth + 1)
            }
        case .flatpak(let id, let command): addFlatpak(id, command)
        case .snap(let instance, _): addSnap(instance)
        case .entry(let name):
            let id = name.hasSuffix(".desktop") ? String(name.dropLast(".desktop".count)) : name
            for file in machine.entries[HostFiles.name(of: id)] ?? [] where seen.insert("entry:" + file.path).inserted {
                if case .success(let entry) = machine.entry(file) {
                    addEntry(entry, file, id: HostFiles.name(of: id))
                }
            }
        case .service(let name): addService(name, depth)
        }
    }

    /// Small tools that scripts use and that belong to no app.
    private static let plainTools: Set<String> = [
        "notify-send", "zenity", "kdialog", "yad", "xmessage", "xdotool", "wmctrl", "xrandr", "xset", "xdpyinfo",
        "xprop", "dbus-send", "gdbus", "qdbus", "pkill", "killall", "pactl", "amixer", "gsettings", "dconf", "curl",
        "wget", "git", "lsb_release", "update-desktop-database", "ldd", "file", "man", "sensible-browser",
    ]
    private static let builtins: Set<String> = [
        "cd", "exit", "return", "shift", "set", "unset", "trap", "echo", "printf", "test", "[", "read", "eval",
        "source",
        ".", "true", "false", "wait", "ulimit", "umask", "exec", "break", "continue", "case", "for", "function",
        "alias",
    ]

    private static func isPlainTool(_ target: CommandTarget) -> Bool {
        guard case .program(let name) = target else { return false }
        return builtins.contains(name) || plainTools.contains(HostFiles.name(of: name))
    }

    private mutating func addProgram(called: String, depth: Int, isScript: Bool) {
        guard let file = machine.files.regularFile(called) else { return }
        if let refusal = machine.essential.refusal(
            forReal: file, isPrivate: isInsideDeployed(file.path), ignoringRunning: true)
        {
            firstRefusal = firstRefusal ?? refusal
            return
        }
        guard file.status.isExecutable || isScript else { return }
        let outer = isFollowingUsers
        isFollowingUsers = outer || HostFiles.isInside(file.path, machine.home)
        defer { isFollowingUsers = outer }
        guard hasRoom else { return }
        if file.path != called { note(link: called) }
        guard seen.insert(file.path).inserted else { return }
        programNames.insert(HostFiles.name(of: called))
        programNames.insert(HostFiles.name(of: file.path))
        if file.path.lowercased().hasSuffix(".appimage") { kind = kind ?? .appimage }
        let head = (try? machine.files.head(ofReal: file.path, count: 2)) ?? []
        guard head == [0x23, 0x21] || !file.status.isExecutable else { return append(file, .program) }
        let place = executables.count
        append(file, .script)
        let before = executables.count
        readScript(file.path, called: called, depth: depth)
        if executables.count > before, executables[place].role == .script, isShellScript(file.path) {
            executables[place] = AppExecutable(path: file.path, role: .launcher)
        }
    }

    private func isShellScript(_ path: String) -> Bool {
        guard let head = try? machine.files.head(ofReal: path, count: 256) else { return false }
        return CommandTarget.shells.contains(ScriptHead.interpreter(head) ?? "")
    }

    private mutating func readScript(_ path: String, called: String, depth: Int) {
        guard depth + 1 < Self.depthLimit, let bytes = try? machine.files.head(ofReal: path, count: Self.scriptLimit),
            !bytes.prefix(4096).contains(0)
        else { return }
        let source = String(decoding: bytes, as: UTF8.self)
        let interpreter = ScriptHead.interpreter(bytes)
        if interpreter == nil || CommandTarget.shells.contains(interpreter ?? "") {
            let paths = called == path ? [path] : [path, called]
            var reader = ShellScriptReader(files: machine.files, environment: machine.environment, scriptPaths: paths)
            for mention in reader.read(source) where isOwn(mention, of: path) {
                follow(mention.target, depth: depth + 1)
            }
            return
        }
        for mentioned in ScriptHead.absolutePaths(in: source) {
            guard let file = machine.files.regularFile(mentioned), isSameProduct(path, file.path) else { continue }
            let isCode = [".py", ".pl", ".rb", ".js", ".jar", ".asar"].contains { file.path.hasSuffix($0) }
            if file.status.isExecutable || isCode { addProgram(called: mentioned, depth: depth + 1, isScript: true) }
        }
        if Interpreter.named(interpreter ?? "")?.family == "python" {
            for module in PythonModules.imports(in: source) {
                for file in PythonModules(machine).files(of: module, besides: path) { add(file, .payload) }
            }
        }
    }

    // MARK: - What belongs to the app

    /// Whether a program that a script names is part of the script's own app. What the script ends in is, regardless of who made
    /// it; a tool that it uses on the way is only when it comes from the same package or product.
    private func isOwn(_ mention: ShellScriptReader.Mention, of script: String) -> Bool {
        guard !Self.isPlainTool(mention.target) else { return false }
        switch mention.target {
        case .program(let name):
            if mention.strength == .continues { return !machine.programs(name).isEmpty }
            return machine.programs(name).contains { isSameProduct(script, $0.real) }
        case .script(let path, _):
            guard mention.strength != .continues else { return machine.files.regularFile(path) != nil }
            return machine.files.regularFile(path).map { isSameProduct(script, $0.path) } ?? false
        default: return true
        }
    }

    private func isSameProduct(_ script: String, _ other: String) -> Bool {
        let mine = machine.source(of: script)
        let theirs = machine.source(of: other)
        if let mine, let theirs { return mine == theirs }
        return !SharedDirectories.programs.contains(HostFiles.directory(of: other))
            && !SharedDirectories.candidates(for: other, home: machine.environment.home).isEmpty
    }

    private func isInsideDeployed(_ path: String) -> Bool { deployed.contains { HostFiles.isInside(path, $0) } }

    private var hasRoom: Bool {
        isFollowingUsers
            ? usersPaths.count < Self.usersExecutableLimit
            : executables.count - usersPaths.count < Self.executableLimit
    }

    private mutating func append(_ file: (path: String, status: FileStatus), _ role: AppExecutable.Role) {
        if isFollowingUsers { usersPaths.insert(file.path) }
        executables.append(AppExecutable(path: file.path, role: role))
        identities.append(file.status.identity)
    }

    /// Adds a file that was found rather than followed.
    mutating func add(_ path: String, _ role: AppExecutable.Role) {
        guard !seen.contains(path), let file = machine.files.regularFile(path) else { return }
        add(real: file, role, isPrivate: isInsideDeployed(file.path))
    }

    private mutating func add(
        real file: (path: String, status: FileStatus), _ role: AppExecutable.Role, isPrivate: Bool
    ) {
        guard hasRoom, !seen.contains(file.path),
            machine.essential.refusal(forReal: file, isPrivate: isPrivate, ignoringRunning: true) == nil
        else { return }
        seen.insert(file.path)
        append(file, role)
    }

    mutating func addDeployed(_ directory: String) { if !deployed.contains(directory) { deployed.append(directory) } }
    mutating func setKind(_ value: InstalledApp.Kind) { kind = kind ?? value }
    mutating func setMissing(_ name: String) { missing = missing ?? name }

    // MARK: - The rest of the app

    /// Adds what the app has beside the files that its entry leads to, and finds its own directories.
    mutating func complete() {
        var roots = Set(deployed)
        var usersRoots = roots.filter { HostFiles.isInside($0, machine.home) }
        var rounds = 0
        var known = -1
        // What one directory adds may belong to one more package, and that package to one more directory.
        while executables.count != known, rounds < 4 {
            known = executables.count
            rounds += 1
            let sources = Set(executables.compactMap { machine.source(of: $0.path) })
            for isUsers in [false, true] {
                let own = executables.filter { usersPaths.contains($0.path) == isUsers }
                for executable in own where !roots.contains(where: { HostFiles.isInside(executable.path, $0) }) {
                    let candidates = SharedDirectories.candidates(for: executable.path, home: machine.environment.home)
                    guard
                        let root = candidates.first(where: {
                            machine.isPrivate($0, sources: sources, app: app, own: seen)
                        })
                    else { continue }
                    roots.insert(root)
                    if isUsers { usersRoots.insert(root) }
                }
                isFollowingUsers = isUsers
                for root in (isUsers ? usersRoots : roots.subtracting(usersRoots)).sorted() {
                    for file in machine.walk(root) {
                        add(real: (file.path, file.status), file.isPayload ? .payload : .helper, isPrivate: true)
                    }
                }
                addSiblings(Set(own.compactMap { machine.source(of: $0.path) }))
            }
            isFollowingUsers = false
        }
        let directories = Set(executables.map { HostFiles.directory(of: $0.path) })
        privateDirectories = directories.filter { directory in roots.contains { HostFiles.isInside(directory, $0) } }
            .sorted()
    }

    /// The programs in shared directories that the app's own packages put there.
    private mutating func addSiblings(_ sources: Set<String>) {
        let owners = Set(executables.flatMap { machine.packageOwners(of: $0.path) })
            .filter { sources.contains(machine.packages.source(ofPackage: $0)) }
        for package in owners.sorted() {
            let siblings = machine.siblings(package)
            for path in siblings.programs where !seen.contains(path) {
                if siblings.services.contains(path) {
                    if isNamedLikeApp(path) || siblings.isOneApp { add(path, .service) }
                } else if isNamedLikeApp(path) || siblings.isOneApp || leadsHere(path) {
                    add(path, .helper)
                }
            }
        }
    }

    /// gnome-terminal-server beside gnome-terminal.
    private func isNamedLikeApp(_ path: String) -> Bool {
        let name = HostFiles.name(of: path)
        return programNames.contains { program in
            name.hasPrefix(program) && name.dropFirst(program.count).first.map { "-_.".contains($0) } ?? true
        }
    }

    /// Whether a script executes a program of this app.
    private func leadsHere(_ path: String) -> Bool {
        guard isShellScript(path) else { return false }
        var probe = AppSearch(machine: machine, app: app)
        probe.addProgram(called: path, depth: Self.depthLimit - 3, isScript: true)
        return probe.executables.dropFirst().contains { seen.contains($0.path) }
    }
}
