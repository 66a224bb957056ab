/// Where applications announce themselves, most important directory first.
public struct ApplicationDirectories: Sendable, Equatable {
    public enum Origin: String, Sendable {
        case user, system, userFlatpak, systemFlatpak, snap

        /// Whether the user can write entries there.
        var isUsers: Bool { self == .user || self == .userFlatpak }
    }

    public struct Directory: Sendable, Equatable {
        public let path: String
        public let origin: Origin
    }

    /// Directories of desktop entries. An entry in an earlier one hides those with the same id in later ones.
    public let directories: [Directory]
    /// Directories where people keep AppImages, looked at without their subdirectories.
    public let appImageDirectories: [String]

    /// `$XDG_DATA_HOME`, then Flatpak's exports of the user and of the system unless `$XDG_DATA_DIRS` places them, then
    /// `$XDG_DATA_DIRS`, then Snap: the order in which the packages of Flatpak and Snap set the variable up.
    public init(_ environment: CatalogEnvironment) {
        var found: [Directory] = []
        func add(_ path: String, _ origin: Origin) {
            if !found.contains(where: { $0.path == path }) { found.append(Directory(path: path, origin: origin)) }
        }
        let userFlatpak = environment.home + "/.local/share/flatpak/exports/share"
        let systemFlatpak = "/var/lib/flatpak/exports/share"
        let snap = "/var/lib/snapd/desktop"
        let origins = [userFlatpak: Origin.userFlatpak, systemFlatpak: .systemFlatpak, snap: .snap]
        add(environment.dataHome + "/applications", .user)
        for path in [userFlatpak, systemFlatpak] where !environment.dataDirectories.contains(path) {
            add(path + "/applications", origins[path] ?? .system)
        }
        for path in environment.dataDirectories { add(path + "/applications", origins[path] ?? .system) }
        add(snap + "/applications", .snap)
        directories = found
        appImageDirectories = ["/Applications", "/Downloads", "/.local/bin"].map { environment.home + $0 }
    }
}

/// A file that is, or claims to be, a desktop entry.
struct EntryFile: Sendable {
    /// The desktop-file id without ".desktop": the path below the directory with "-" for "/".
    let id: String
    let path: String
    let origin: ApplicationDirectories.Origin
}

extension ApplicationDirectories {
    /// How deep below a directory entries are looked for, and how many files of each directory at most: a bound
    /// against a home directory that was filled on purpose, which must not hide the system's entries.
    private static let depthLimit = 8
    private static let fileLimit = 20_000

    /// Every entry file, most important directory first. Within one directory the first in order of names wins an id.
    func entryFiles(_ files: HostFiles) -> [EntryFile] {
        var found: [EntryFile] = []
        for directory in directories {
            var seen: Set<FileIdentity> = []
            var own: [EntryFile] = []
            collect(directory, below: "", prefix: "", depth: 0, files, &seen, &own)
            found += own
        }
        return found
    }

    private func collect(
        _ directory: Directory, below: String, prefix: String, depth: Int, _ files: HostFiles,
        _ seen: inout Set<FileIdentity>, _ found: inout [EntryFile]
    ) {
        let path = directory.path + below
        guard depth < Self.depthLimit, let real = files.resolve(path), real.status.kind == .directory,
            seen.insert(real.status.identity).inserted
        else { return }
        for name in files.names(in: real.path) {
            guard found.count < Self.fileLimit else { return }
            if name.hasSuffix(".desktop") {
                found.append(
                    EntryFile(
                        id: prefix + name.dropLast(".desktop".count), path: path + "/" + name, origin: directory.origin)
                )
            } else if files.isDirectory(path + "/" + name) {
                collect(
                    directory, below: below + "/" + name, prefix: prefix + name + "-", depth: depth + 1, files, &seen,
                    &found)
            }
        }
    }
}
