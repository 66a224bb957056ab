import CLinux
import Glibc

/// Whether somebody other than root can rename a file, or a directory above it. Directories are looked at once.
struct MovablePlaces {
    private var known: [PathBytes: Bool] = [:]

    mutating func contain(_ path: PathBytes) -> Bool { isOpen(path) || path.ancestors.contains { isOpen($0) } }

    private mutating func isOpen(_ directory: PathBytes) -> Bool {
        if let known = known[directory] { return known }
        var file = clinux_file()
        let isFound = directory.withTerminator { clinux_identify_link($0, &file) } == 0
        // In a sticky directory everybody may rename what is theirs; what is root's stays.
        let isOpen = isFound && (file.owner != 0 || (file.mode & 0o022 != 0 && file.mode & S_ISVTX == 0))
        known[directory] = isOpen
        return isOpen
    }
}
