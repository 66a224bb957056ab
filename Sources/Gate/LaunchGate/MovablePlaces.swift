import CLinux
import Glibc

/// Whether a user other than root can rename a file or a directory above it. Results are cached by directory.
struct MovablePlaces {
    private var known: [PathBytes: Bool] = [:]

    mutating func contain(_ path: PathBytes) -> Bool { isOpen(path) || path.ancestors.contains { isOpen($0) } }

    private mutating func isOpen(_ directory: PathBytes) -> Bool {
        if let known = known[directory] { return known }
        var file = clinux_file()
        let isFound = directory.withTerminator { clinux_identify_link($0, &file) } == 0
        // In a sticky directory users may rename only their own files, not root's.
        let isOpen = isFound && (file.owner != 0 || (file.mode & 0o022 != 0 && file.mode & S_ISVTX == 0))
        known[directory] = isOpen
        return isOpen
    }
}
