import GateProtocol

/// An app of the owner's list.
///
/// It outlives the daemon's connection: a daemon that reconnects uses another token, and the app is found by its paths,
/// with its marks and its admitted processes.
final class GuardedApp {
    struct Path: Hashable {
        var kind: PathKind
        var bytes: PathBytes
    }

    /// The gate's own id; never reused.
    let key: Int
    /// The daemon's id of this connection.
    var token: AppToken
    var isGuarded = false
    var paths: [Path]
    /// The current executables and their paths.
    var files: [FileIdentity: PathBytes] = [:]
    /// The number of existing files that could not be marked, as last reported to the daemon.
    var unguarded: UInt32 = 0
    /// Whether all directories of its files are watched for changes.
    var isWatched = true
    /// The links through which files were found, and the missing components of their paths.
    var linkPlaces: Set<PathBytes> = []
    /// Handles of files that a user can move; the daemon has them too.
    var handles: Set<FileHandle> = []
    /// Its private directories, and all directories below them.
    var directories: [FileIdentity: PathBytes] = [:]
    /// Files that were replaced while the app was guarded, oldest first. They keep their marks, so that a hard link to
    /// the old version or a running copy of it is locked too.
    private(set) var formerFiles: [FileIdentity] = []
    private static let maximumFormerFiles = 256
    /// Moved files beyond this number are not found after a restart of the gate.
    static let maximumHandles = 4096

    init(key: Int, token: AppToken, paths: [Path]) {
        self.key = key
        self.token = token
        self.paths = paths
    }

    func remember(former file: FileIdentity) {
        guard !formerFiles.contains(file) else { return }
        if formerFiles.count == Self.maximumFormerFiles { formerFiles.removeFirst() }
        formerFiles.append(file)
    }

    func forgetFormerFiles() { formerFiles = [] }

    /// The paths of its files and directories, and of the links through which others are found.
    var places: some Sequence<PathBytes> {
        paths.lazy.filter { $0.kind == .executable || $0.kind == .privateDirectory }.map(\.bytes) + linkPlaces
    }

    /// Whether `path` is one of its places or a directory above one.
    func hasPlace(atOrBelow path: PathBytes) -> Bool { places.contains { $0 == path || $0.isBelow(path) } }

    /// Whether a change at `path` can affect its files.
    func isConcerned(by path: PathBytes) -> Bool {
        hasPlace(atOrBelow: path) || paths.contains { $0.kind == .privateDirectory && path.isBelow($0.bytes) }
    }
}

/// Which app owns which files.
struct AppTable {
    private(set) var apps: [Int: GuardedApp] = [:]
    private var byToken: [AppToken: GuardedApp] = [:]
    /// Apps of an earlier connection that the current one has not sent yet.
    private var unclaimed: Set<Int> = []
    private var owners: [FileIdentity: [GuardedApp]] = [:]
    private var directoryOwners: [FileIdentity: [GuardedApp]] = [:]
    private var formerOwners: [FileIdentity: [GuardedApp]] = [:]
    private var nextKey = 1

    subscript(token: AppToken) -> GuardedApp? { byToken[token] }

    /// For a new connection: tokens become invalid, apps and marks stay.
    mutating func forgetTokens() {
        unclaimed = Set(apps.keys)
        byToken = [:]
        for app in apps.values { app.unguarded = 0 }
    }

    /// The app with this token, else an app of an earlier connection that shares a path, else a new one.
    mutating func app(token: AppToken, paths: [GuardedApp.Path]) -> GuardedApp {
        if let known = byToken[token] { return known }
        let wanted = Set(paths)
        let again = unclaimed.sorted().compactMap({ apps[$0] }).first { !wanted.isDisjoint(with: $0.paths) }
        let app = again ?? GuardedApp(key: nextKey, token: token, paths: [])
        if again == nil { nextKey += 1 }
        app.token = token
        unclaimed.remove(app.key)
        apps[app.key] = app
        byToken[token] = app
        return app
    }

    /// Apps that a synchronised daemon no longer has on its list.
    func unclaimedApps() -> [GuardedApp] { unclaimed.compactMap { apps[$0] } }

    mutating func remove(_ app: GuardedApp) {
        setFiles([:], directories: [:], of: app)
        for file in app.formerFiles { Self.disown(file, app, &formerOwners) }
        app.forgetFormerFiles()
        apps[app.key] = nil
        unclaimed.remove(app.key)
        if byToken[app.token] === app { byToken[app.token] = nil }
    }

    /// Replaces the app's files and directories. Its earlier files become former ones if `keepsFormer`.
    mutating func setFiles(
        _ files: [FileIdentity: PathBytes], directories: [FileIdentity: PathBytes], of app: GuardedApp,
        keepsFormer: (FileIdentity, PathBytes) -> Bool = { _, _ in false }
    ) {
        for (file, path) in app.files where files[file] == nil {
            Self.disown(file, app, &owners)
            if keepsFormer(file, path) {
                app.remember(former: file)
                formerOwners[file, default: []].append(app)
            }
        }
        for (file, _) in files where app.files[file] == nil { owners[file, default: []].append(app) }
        for directory in app.directories.keys where directories[directory] == nil {
            Self.disown(directory, app, &directoryOwners)
        }
        for directory in directories.keys where app.directories[directory] == nil {
            directoryOwners[directory, default: []].append(app)
        }
        app.files = files
        app.directories = directories
    }

    private static func disown(
        _ file: FileIdentity, _ app: GuardedApp, _ owners: inout [FileIdentity: [GuardedApp]]
    ) {
        owners[file]?.removeAll { $0 === app }
        if owners[file]?.isEmpty == true { owners[file] = nil }
    }

    /// The owner of a file.
    enum Owner {
        /// A guarded app: its launch requires an answer.
        case guarded(GuardedApp)
        /// Only apps that are currently unlocked.
        case unguarded
        case nobody
    }

    func owner(of file: FileIdentity) -> Owner { Self.decide(owners[file] ?? formerOwners[file]) }

    /// Whether it was replaced or moved away while its app was locked: its mark would not be made again.
    func isFormer(_ file: FileIdentity) -> Bool { owners[file] == nil && formerOwners[file] != nil }

    func owner(ofDirectory directory: FileIdentity) -> Owner { Self.decide(directoryOwners[directory]) }

    /// Whether a guarded app other than `app` needs the mark of this file or directory.
    func isNeeded(_ identity: FileIdentity, besides app: GuardedApp, isDirectory: Bool) -> Bool {
        (isDirectory ? directoryOwners : owners)[identity]?.contains { $0 !== app && $0.isGuarded } ?? false
    }

    private static func decide(_ apps: [GuardedApp]?) -> Owner {
        guard let apps else { return .nobody }
        if let guarded = apps.first(where: \.isGuarded) { return .guarded(guarded) }
        return .unguarded
    }
}
