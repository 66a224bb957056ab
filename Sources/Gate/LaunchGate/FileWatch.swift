import GateProtocol
import Glibc

/// Reports that a file of an app, or a directory above it, was added, replaced, removed or moved.
///
/// It reports directories to scan, not changes: a package manager renames a new file over the old one, and the new file
/// has no mark.
final class FileWatch {
    struct Change: Hashable {
        var path: PathBytes
        var isDirectory: Bool
    }

    /// The result of one read.
    struct Changes {
        var places: Set<Change> = []
        /// inotify's queue overflowed: everything has to be scanned again.
        var isIncomplete = false
    }

    /// Adds a watch of a directory. Returns its number, or a negative errno.
    typealias AddWatch = (_ instance: Int32, _ path: PathBytes, _ mask: UInt32) -> Int32

    /// The result of watching an app.
    struct Outcome {
        /// Whether a watch was added.
        var isNew = false
        /// The number of directories that could not be watched, for lack of memory or watches.
        var missing: UInt32 = 0
    }

    let descriptor: Descriptor
    private let addWatch: AddWatch
    private var paths: [Int32: PathBytes] = [:]
    private var watches: [PathBytes: (number: Int32, mask: UInt32)] = [:]

    private static let aboveMask = UInt32(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_MOVE_SELF | IN_DELETE_SELF)
    private static let besideMask = aboveMask | UInt32(IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE)

    init(by addWatch: @escaping AddWatch = FileWatch.add) throws(GateError) {
        self.addWatch = addWatch
        let result = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        descriptor = try Descriptor(result < 0 ? -errno : result, "inotify_init1")
    }

    /// Watches the directories that contain the app's files, and all directories above them. For a missing directory,
    /// the watch of its parent reports when it is created.
    func watch(_ app: GuardedApp) -> Outcome {
        var outcome = Outcome()
        for (directory, mask) in Self.wanted(by: app) { add(directory, mask, &outcome) }
        return outcome
    }

    static func add(_ instance: Int32, _ path: PathBytes, _ mask: UInt32) -> Int32 {
        let number = path.withTerminator { inotify_add_watch(instance, $0, mask) }
        return number < 0 ? -errno : number
    }

    /// Removes the watches that none of `apps` needs.
    func keepOnly(_ apps: some Sequence<GuardedApp>) {
        var wanted: Set<PathBytes> = []
        for app in apps { wanted.formUnion(Self.wanted(by: app).keys) }
        for path in watches.keys where !wanted.contains(path) { remove(path) }
    }

    private static func wanted(by app: GuardedApp) -> [PathBytes: UInt32] {
        var wanted: [PathBytes: UInt32] = [:]
        for path in app.paths where path.kind == .privateDirectory { wanted[path.bytes, default: 0] |= besideMask }
        for path in app.places {
            for (distance, directory) in path.ancestors.enumerated() {
                wanted[directory, default: 0] |= distance == 0 ? besideMask : aboveMask
            }
        }
        for directory in app.directories.values { wanted[directory, default: 0] |= besideMask }
        return wanted
    }

    private func add(_ path: PathBytes, _ mask: UInt32, _ outcome: inout Outcome) {
        let known = watches[path]
        let mask = mask | (known?.mask ?? 0)
        // A known directory is added too, because it may have been replaced.
        let number = addWatch(descriptor.number, path, mask | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW))
        guard number >= 0 else {
            if RefusedByKernel(number: -number).isShortage { outcome.missing += 1 }
            return
        }
        if let known, known.number != number {
            paths[known.number] = nil
            inotify_rm_watch(descriptor.number, known.number)
        }
        if let other = paths[number], other != path { watches[other] = nil }
        paths[number] = path
        watches[path] = (number, mask)
        if known?.number != number || known?.mask != mask { outcome.isNew = true }
    }

    private func remove(_ path: PathBytes) {
        guard let watch = watches.removeValue(forKey: path) else { return }
        paths[watch.number] = nil
        inotify_rm_watch(descriptor.number, watch.number)
    }

    /// Reads all pending events.
    func read() -> Changes {
        var changes = Changes()
        withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(descriptor.number, buffer.baseAddress!, buffer.count)
                guard count > 0 else { return }
                var offset = 0
                while offset + 16 <= count {
                    let number = buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self)
                    let mask = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                    let name = buffer[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
                    note(number, mask, Array(name), &changes)
                    offset += 16 + length
                }
            }
        }
        return changes
    }

    private func note(_ number: Int32, _ mask: UInt32, _ name: [UInt8], _ changes: inout Changes) {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 {
            changes.isIncomplete = true
            return
        }
        guard let directory = paths[number] else { return }
        let gone = UInt32(IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT)
        if mask & gone != 0 {
            // Directories below a moved directory have moved with it.
            for path in watches.keys where path == directory || path.isBelow(directory) { remove(path) }
            changes.places.insert(Change(path: directory, isDirectory: true))
        } else if !name.isEmpty {
            changes.places.insert(
                Change(path: directory.appending(name), isDirectory: mask & UInt32(IN_ISDIR) != 0))
        }
    }
}
