import CLinux
import Glibc

/// A path that is resolved link by link, so that each of its links can be watched.
struct LinkedPath {
    /// The target without links; nil if a component is missing or the links are circular.
    private(set) var target: PathBytes?
    /// Each link of the path and, last, a missing component. Their directories contain no links.
    private(set) var places: [PathBytes] = []
    /// The owners of the links.
    private(set) var owners: Set<UInt32> = []

    /// The kernel's own limit: path_resolution(7).
    private static let maximumLinks = 40

    init(following path: PathBytes) {
        var pending = Array(path.split(separator: UInt8(ascii: "/")).map(Array.init).reversed())
        var resolved: [PathBytes] = []
        while let name = pending.popLast() {
            if name == [46] { continue }
            if name == [46, 46] {
                _ = resolved.popLast()
                continue
            }
            let place = Self.path(resolved + [name])
            var file = clinux_file()
            guard place.withTerminator({ clinux_identify_link($0, &file) }) == 0 else {
                places.append(place)
                return
            }
            guard file.mode & S_IFMT == S_IFLNK else {
                resolved.append(name)
                continue
            }
            places.append(place)
            owners.insert(file.owner)
            guard places.count <= Self.maximumLinks, let text = ProcessFacts.readLink(place), !text.isEmpty else {
                return
            }
            if text.first == UInt8(ascii: "/") { resolved = [] }
            pending += text.split(separator: UInt8(ascii: "/")).map(Array.init).reversed()
        }
        target = Self.path(resolved)
    }

    /// Whether root or the file's owner owns each link. Otherwise a user could point a link at another user's program,
    /// such as a shell, and the gate would guard it.
    func mayLead(toFileOf owner: UInt32) -> Bool { owners.allSatisfy { $0 == 0 || $0 == owner } }

    private static func path(_ names: [PathBytes]) -> PathBytes {
        names.isEmpty ? [UInt8(ascii: "/")] : names.reduce(into: []) { $0 += [UInt8(ascii: "/")] + $1 }
    }
}
