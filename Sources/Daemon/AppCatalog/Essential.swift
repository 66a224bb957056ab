/// What must never be locked. A program counts by its real path and by its identity (device and inode), so that
/// neither a symbolic nor a hard link nor a bind mount gets round the list.
///
/// A value: it shows the machine at the time it was made. Make a new one after packages have changed.
public struct Essential: Sendable {
    private let files: HostFiles
    private var paths: [String: Refusal.Code] = [:]
    private var identities: [FileIdentity: Refusal.Code] = [:]
    private let running: Set<FileIdentity>

    /// - Parameters:
    ///   - environment: only its root is looked at.
    ///   - ownFiles: AppLocker's own programs, absolute paths.
    ///   - running: programs that serve displays now, from ``RunningServers``. They are refused by ``refusal(for:)``,
    ///     but they do not make a catalog drop a file of an app that is locked already: any process can open a socket.
    public init(environment: CatalogEnvironment, ownFiles: [String] = [], running: Set<FileIdentity> = []) {
        self.init(
            environment: environment, ownFiles: ownFiles, running: running,
            packages: DebianPackages(HostFiles(root: environment.root)))
    }

    init(
        environment: CatalogEnvironment, ownFiles: [String], running: Set<FileIdentity>, packages: DebianPackages
    ) {
        files = HostFiles(root: environment.root)
        self.running = running
        // The first reason that is found for a file stays, so the most specific ones are first.
        for path in ownFiles { add(path, .ownFile) }
        addFirstProcess()
        addShells()
        for directory in SharedDirectories.programs.sorted() {
            for name in files.names(in: directory) {
                if let code = Self.code(forName: name) { add(directory + "/" + name, code) }
            }
        }
        addSessions()
        for package in packages.packages.values where package.isRequired || Self.systemPackages[package.name] != nil {
            let code = Self.systemPackages[package.name] ?? .requiredPackage
            for path in packages.paths(of: package.name, where: DebianPackages.mayHoldPrograms) { add(path, code) }
        }
    }

    private mutating func add(_ path: String, _ code: Refusal.Code) {
        guard let found = files.regularFile(path), found.status.isExecutable || code == .ownFile else { return }
        if paths[found.path] == nil { paths[found.path] = code }
        if identities[found.status.identity] == nil { identities[found.status.identity] = code }
    }

    /// Only root may read the link of process 1; for others the usual names below serve.
    private mutating func addFirstProcess() {
        for path in ["/sbin/init", "/usr/lib/systemd/systemd", "/init"] { add(path, .initProcess) }
        if files.root.isEmpty, let identity = RunningServers.executable(ofProcess: 1) {
            identities[identity] = .initProcess
        }
    }

    private mutating func addShells() {
        guard let bytes = try? files.read("/etc/shells", limit: 1 << 16) else { return }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where line.hasPrefix("/") {
            add(String(line).trimmingBlanks, .shell)
        }
    }

    /// What login screens offer as sessions, and the display manager that is set up.
    private mutating func addSessions() {
        for directory in ["/usr/share/xsessions", "/usr/share/wayland-sessions", "/usr/local/share/wayland-sessions"] {
            for name in files.names(in: directory) where name.hasSuffix(".desktop") {
                guard let bytes = try? files.read(directory + "/" + name, limit: DesktopEntry.sizeLimit),
                    let entry = try? DesktopEntry.parse(bytes)
                else { continue }
                if let program = entry.tryExec { addProgram(program, .desktop) }
                if let words = try? entry.arguments(location: nil), case .program(let name)? = CommandTarget.of(words) {
                    addProgram(name, .desktop)
                }
            }
        }
        add("/etc/alternatives/x-window-manager", .desktop)
        add("/etc/alternatives/x-session-manager", .desktop)
        if let bytes = try? files.read("/etc/X11/default-display-manager", limit: 4096) {
            add(
                String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "",
                .displayManager)
        }
    }

    private mutating func addProgram(_ name: String, _ code: Refusal.Code) {
        if name.contains("/") { return add(name, code) }
        for directory in CatalogEnvironment.usualPrograms { add(directory + "/" + name, code) }
    }

    /// Why the program at `path` can't be locked; nil when it can, or when there is no such file.
    public func refusal(for path: String) -> Refusal? {
        refusal(for: path, isPrivate: false, ignoringRunning: false)
    }

    /// - Parameters:
    ///   - isPrivate: the file is in a directory that belongs to one app, where an interpreter of its own or a library
    ///     with an unusual name affects no other program.
    ///   - ignoringRunning: leaves out the programs that serve a display now.
    func refusal(for path: String, isPrivate: Bool, ignoringRunning: Bool) -> Refusal? {
        guard let found = files.regularFile(path) else { return nil }
        return refusal(forReal: found, isPrivate: isPrivate, ignoringRunning: ignoringRunning)
    }

    /// The same for a file whose real path and status are known.
    func refusal(
        forReal found: (path: String, status: FileStatus), isPrivate: Bool, ignoringRunning: Bool
    ) -> Refusal? {
        let identity = found.status.identity
        if let code = identities[identity] ?? paths[found.path] { return Refusal(code: code, path: found.path) }
        if let code = Self.code(forDirectoryOf: found.path) { return Refusal(code: code, path: found.path) }
        if !ignoringRunning, running.contains(identity) { return Refusal(code: .runningServer, path: found.path) }
        guard !isPrivate else { return nil }
        let name = HostFiles.name(of: found.path)
        // Under another directory only interpreters keep their meaning: ~/.pyenv/…/python3 runs other people's scripts
        // too, but a file called "init" or "login" in a folder of the user's is just a file.
        let isSystem = SharedDirectories.programs.contains(HostFiles.directory(of: found.path))
        if let code = Self.code(forName: name), isSystem || code == .interpreter || code == .loader {
            return Refusal(code: code, path: found.path)
        }
        if Self.isLibrary(name) { return Refusal(code: .library, path: found.path) }
        return nil
    }

    /// Whether any file below a directory must not be locked.
    func isNeeded(below directory: String) -> Bool {
        let prefix = directory + "/"
        return Self.code(forDirectoryOf: prefix + "x") != nil || paths.keys.contains { $0.hasPrefix(prefix) }
    }

    /// `libfoo.so`, `libfoo.so.1.2`.
    static func isLibrary(_ name: String) -> Bool {
        if name.hasSuffix(".so") { return true }
        guard name.contains(".so.") else { return false }
        return name.utf8.reversed().prefix { $0 != UInt8(ascii: "o") }.allSatisfy {
            $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0)
        }
    }
}
