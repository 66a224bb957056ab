import Policy

/// The machine as one call of the catalog sees it. What is looked up for one app is kept for the next; not Sendable,
/// never outlives the call.
final class CatalogSnapshot {
    let files: HostFiles
    let environment: CatalogEnvironment
    let directories: ApplicationDirectories
    let packages: DebianPackages
    let essential: Essential
    /// Every id's entry files, the one that the desktop uses first.
    private(set) var entries: [String: [EntryFile]] = [:]
    /// Ids in the order in which they were found.
    private(set) var order: [String] = []
    private var parsed: [String: Result<DesktopEntry, DesktopEntryError>] = [:]
    private var walks: [String: [FoundFile]] = [:]
    private var privacy: [String: Bool] = [:]
    private var owners: [String: [String]] = [:]
    private var siblings: [String: PackageSiblings] = [:]
    /// The search path without directories that are missing or the same as an earlier one.
    private let programDirectories: [(called: String, real: String)]
    private var firstFiles: [String: [String]]?
    /// The user's home directory without links.
    let home: String

    struct FoundFile {
        let path: String
        let status: FileStatus
        let isPayload: Bool
    }

    init(environment: CatalogEnvironment, packages: DebianPackages, essential: Essential) {
        files = HostFiles(root: environment.root)
        self.environment = environment
        self.packages = packages
        self.essential = essential
        directories = ApplicationDirectories(environment)
        var programDirectories: [(called: String, real: String)] = []
        for called in environment.searchPath {
            guard let real = files.resolve(called), real.status.kind == .directory,
                !programDirectories.contains(where: { $0.real == real.path })
            else { continue }
            programDirectories.append((called, real.path))
        }
        let home = files.resolve(environment.home)?.path ?? environment.home
        let isUsers = { (directory: (called: String, real: String)) in HostFiles.isInside(directory.real, home) }
        self.home = home
        self.programDirectories =
            programDirectories.filter { !isUsers($0) } + programDirectories.filter(isUsers)
        for file in directories.entryFiles(files) {
            if entries[file.id] == nil { order.append(file.id) }
            entries[file.id, default: []].append(file)
        }
    }

    func entry(_ file: EntryFile) -> Result<DesktopEntry, DesktopEntryError> {
        if let known = parsed[file.path] { return known }
        let result = readEntry(file.path)
        parsed[file.path] = result
        return result
    }

    private func readEntry(_ path: String) -> Result<DesktopEntry, DesktopEntryError> {
        do throws(HostFiles.ReadFailure) {
            let bytes = try files.read(path, limit: DesktopEntry.sizeLimit)
            do throws(DesktopEntryError) {
                return .success(try DesktopEntry.parse(bytes, locale: environment.locale))
            } catch {
                return .failure(error)
            }
        } catch {
            switch error {
            case .missing:
                return .failure(
                    DesktopEntryError(.unreadable, "The entry is a dangling link or a link loop."))
            case .notRegular: return .failure(DesktopEntryError(.unreadable, "The entry is not a regular file."))
            case .tooLarge:
                return .failure(
                    DesktopEntryError(
                        .tooLarge,
                        "The file is larger than \(DesktopEntry.sizeLimit) bytes, the limit for a desktop entry."))
            case .failed(let number):
                return .failure(
                    DesktopEntryError(.unreadable, "The entry can't be read (errno \(number)).", cause: number))
            }
        }
    }

    /// Real paths of a program: itself when it is a path, else its namesake in every directory of the search path. All
    /// of them count, so that a program of the same name put in front does not take the real one's place. Those in the
    /// user's home directory are last.
    func programs(_ name: String) -> [(called: String, real: String, status: FileStatus)] {
        var found: [(called: String, real: String, status: FileStatus)] = []
        func add(_ path: String) {
            guard let file = files.regularFile(path), !found.contains(where: { $0.real == file.path }) else { return }
            found.append((path, file.path, file.status))
        }
        if name.contains("/") {
            add(name)
        } else {
            for directory in programDirectories where files.status(directory.real + "/" + name) != nil {
                add(directory.called + "/" + name)
            }
        }
        return found
    }

    func siblings(_ package: String) -> PackageSiblings {
        if let known = siblings[package] { return known }
        let found = PackageSiblings(self, package: package)
        siblings[package] = found
        return found
    }

    func packageOwners(of path: String) -> [String] {
        if let known = owners[path] { return known }
        let found = packages.owners(of: path)
        owners[path] = found
        return found
    }

    func source(of path: String) -> String? { packageOwners(of: path).first.map { packages.source(ofPackage: $0) } }

    private static let walkLimit = 60_000
    private static let walkDepth = 12

    /// Every program and payload below a directory, links not followed.
    func walk(_ root: String) -> [FoundFile] {
        if let known = walks[root] { return known }
        var found: [FoundFile] = []
        var pending = [(root, 0)]
        var visited = 0
        while let (directory, depth) = pending.popLast(), visited < Self.walkLimit {
            for name in files.names(in: directory) {
                visited += 1
                let path = directory + "/" + name
                guard let status = files.status(path) else { continue }
                if status.kind == .directory, depth < Self.walkDepth { pending.append((path, depth + 1)) }
                guard status.kind == .regular else { continue }
                if isPayload(name) {
                    found.append(FoundFile(path: path, status: status, isPayload: true))
                } else if status.isExecutable, !Essential.isLibrary(name), isProgram(path, name) {
                    found.append(FoundFile(path: path, status: status, isPayload: false))
                }
            }
        }
        found.sort { $0.path < $1.path }
        walks[root] = found
        return found
    }

    private func isPayload(_ name: String) -> Bool {
        name.hasSuffix(".asar") || name.hasSuffix(".jar") || name == "__main__.py" || name == "main.py"
    }

    /// Archives unpacked by hand often mark every file as executable; only what the kernel or a shell would really run
    /// counts: ELF, "#!", "MZ", or a file without a suffix.
    private func isProgram(_ path: String, _ name: String) -> Bool {
        guard let head = try? files.head(ofReal: path, count: 4) else { return true }
        return head.starts(with: [0x7F, 0x45, 0x4C, 0x46]) || head.starts(with: [0x23, 0x21])
            || head.starts(with: [0x4D, 0x5A]) || !name.contains(".")
    }

    /// Whether a directory holds programs of these source packages only.
    ///
    /// - Parameters:
    ///   - app: the app that asks.
    ///   - own: the app's programs so far; what other apps start first makes an unpackaged directory shared.
    func isPrivate(_ directory: String, sources: Set<String>, app: String, own: Set<String>) -> Bool {
        let key = "\(directory)\u{0}\(sources.sorted().joined(separator: ","))\u{0}\(app)"
        if let known = privacy[key] { return known }
        let result = judgePrivacy(directory, sources, app, own)
        privacy[key] = result
        return result
    }

    private func judgePrivacy(
        _ directory: String, _ sources: Set<String>, _ app: String, _ own: Set<String>
    ) -> Bool {
        guard !essential.isNeeded(below: directory) else { return false }
        let owners = packageOwners(of: directory)
        let strangers = owners.filter { !sources.contains(packages.source(ofPackage: $0)) }
        let prefix = directory + "/"
        for package in Set(strangers) {
            let paths = packages.paths(of: package) { $0.starts(with: prefix.utf8) }
            if paths.contains(where: isExecutableFile) { return false }
        }
        guard owners.isEmpty else { return true }
        return !otherApps(startFrom: directory, than: app, own)
    }

    private func isExecutableFile(_ path: String) -> Bool {
        guard let status = files.status(path) else { return false }
        return status.kind == .regular && status.isExecutable && !Essential.isLibrary(HostFiles.name(of: path))
    }

    private func otherApps(startFrom directory: String, than app: String, _ own: Set<String>) -> Bool {
        let known = firstFiles ?? readFirstFiles()
        firstFiles = known
        return known.contains { id, paths in
            id != app && own.isDisjoint(with: paths) && paths.contains { HostFiles.isInside($0, directory) }
        }
    }

    /// What each app's Exec line names, wrappers not followed. Entries that a user can write do not count: one that starts
    /// something in a locked app's directory must not make that directory shared, and its other programs free.
    private func readFirstFiles() -> [String: [String]] {
        var first: [String: [String]] = [:]
        for (id, candidates) in entries {
            for file in candidates where !file.origin.isUsers {
                guard case .success(let entry) = entry(file), let words = try? entry.arguments(location: file.path)
                else { continue }
                switch CommandTarget.of(words) {
                case .program(let name)?: first[id, default: []] += programs(name).map(\.real)
                case .script(let path, _)?: first[id, default: []] += files.regularFile(path).map { [$0.path] } ?? []
                default: break
                }
            }
        }
        return first
    }
}
