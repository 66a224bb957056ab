public import Policy
import Synchronization

/// The apps installed on this machine for one user, and the files that make up each.
///
/// Safe to call from any thread. Every call reads the file system and blocks while it does (some ten milliseconds for
/// everything), so call it off Swift's cooperative pool. No process is started. Only the content of dpkg's database is kept
/// between calls, until that database changes.
public final class AppCatalog: Sendable {
    public let environment: CatalogEnvironment
    /// What is never part of an app.
    public let essential: Essential
    private let packages: Mutex<(stamp: DebianPackages.Stamp, packages: DebianPackages)>

    /// A catalog with an ``essential`` list of its own.
    ///
    /// - Parameters:
    ///   - environment: whose apps.
    ///   - ownFiles: AppLocker's own programs, absolute paths.
    ///   - running: see ``Essential/init(environment:ownFiles:running:)``.
    public init(environment: CatalogEnvironment, ownFiles: [String] = [], running: Set<FileIdentity> = []) {
        let files = HostFiles(root: environment.root)
        let stamp = DebianPackages.stamp(files)
        let known = DebianPackages(files)
        self.environment = environment
        essential = Essential(environment: environment, ownFiles: ownFiles, running: running, packages: known)
        packages = Mutex((stamp, known))
    }

    /// A catalog that shares its ``essential`` list with others, such as those of other users.
    public init(environment: CatalogEnvironment, essential: Essential) {
        let files = HostFiles(root: environment.root)
        self.environment = environment
        self.essential = essential
        packages = Mutex((DebianPackages.stamp(files), DebianPackages(files)))
    }

    func snapshot() -> CatalogSnapshot {
        let files = HostFiles(root: environment.root)
        let stamp = DebianPackages.stamp(files)
        let known = packages.withLock { cache in
            if cache.stamp == stamp { return cache.packages }
            let fresh = DebianPackages(files)
            cache = (stamp, fresh)
            return fresh
        }
        return CatalogSnapshot(environment: environment, packages: known, essential: essential)
    }

    /// All apps that the desktop shows, and AppImages that have no entry. Entries that can't be used are reported one by one
    /// and hide nothing else.
    public func installed() -> CatalogListing {
        let machine = snapshot()
        var problems: [CatalogProblem] = []
        var found: [FoundApp] = []
        for id in machine.order {
            switch machine.app(id) {
            case .app(let app): if app.isShown { found.append(app) }
            case .problem(let problem): problems.append(problem)
            case .none: break
            }
        }
        found += machine.appImages(besides: found)
        found.sort { ($0.name.lowercased(), $0.id.rawValue) < ($1.name.lowercased(), $1.id.rawValue) }
        let sharing = Sharing(found)
        return CatalogListing(
            apps: found.map { $0.installed(sharedWith: sharing.others(than: $0), essential) }, problems: problems)
    }

    /// The files of an app as they are now: call it again after packages have changed. Cheaper than ``find(_:)``, since
    /// other apps are not looked at.
    ///
    /// Every entry with this id counts, also one that another hides, and every program of the name in the search path: so a
    /// user who puts an entry or a program of their own in front adds to the lock and takes nothing away.
    ///
    /// - Throws: CatalogError when the app or its program is gone. Keep what was locked then.
    public func executables(of id: AppID) throws(CatalogError) -> AppFiles {
        let app = try snapshot().app(withID: id.rawValue)
        guard !app.search.executables.isEmpty else { throw .programMissing(app) }
        return AppFiles(executables: app.search.executables, privateDirectories: app.search.privateDirectories)
    }
}

/// An app before it is known which others share its files.
struct FoundApp {
    let id: AppID
    let name: String
    let icon: String?
    let desktopFile: String?
    let kind: InstalledApp.Kind
    let isShown: Bool
    let search: AppSearch

    func installed(sharedWith: [String], _ essential: Essential) -> InstalledApp {
        var refusal: Refusal?
        if let main = search.executables.first(where: { $0.role != .payload }) {
            refusal = essential.refusal(for: main.path).flatMap { $0.code == .runningServer ? $0 : nil }
        } else if search.executables.isEmpty {
            refusal = search.firstRefusal
        }
        return InstalledApp(
            id: id, name: name, icon: icon, desktopFile: desktopFile, kind: kind, executables: search.executables,
            privateDirectories: search.privateDirectories, links: search.links, sharedWith: sharedWith,
            lockRefusal: refusal)
    }
}

/// Which apps have a file in common, by identity: links and Flatpak's shared objects count.
struct Sharing {
    private var apps: [FileIdentity: [Int]] = [:]
    private let all: [FoundApp]

    init(_ all: [FoundApp]) {
        self.all = all
        for (number, app) in all.enumerated() {
            for identity in Set(app.search.identities) { apps[identity, default: []].append(number) }
        }
    }

    /// Names, in the order of the listing.
    func others(than app: FoundApp) -> [String] {
        let numbers = Set(app.search.identities.flatMap { apps[$0] ?? [] })
        var names: [String] = []
        for number in numbers.sorted() where all[number].id != app.id && !names.contains(all[number].name) {
            names.append(all[number].name)
        }
        return names
    }
}
