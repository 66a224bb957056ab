import CLinux
import Glibc

/// Denies opening locked files through overlay mounts of user namespaces, on kernels where that raises no permission
/// event. It applies to all users at once, and has no prompt.
protocol OverlayGuard {
    /// Adds the file of `path`, an O_PATH descriptor. Adding a file twice has no effect.
    /// - Returns: 0 or an errno.
    func add(_ path: Descriptor) -> Int32
    /// - Parameter file: any open descriptor. No effect if the file was not added.
    func remove(_ file: Int32)
}

/// The map of locked files that `applocker-overlay-guard` has pinned. Its entries stay in force when the gate dies.
struct PinnedOverlayGuard: OverlayGuard {
    private let map: Descriptor

    /// Nil if there is no such map: then the gate works without it, and `applocker doctor` tests what that means.
    init?(path: PathBytes) {
        let result = path.withTerminator { clinux_open_inode_storage($0) }
        guard result >= 0 else {
            if result != -ENOENT {
                report("the overlay guard's map \(path.text) can't be opened (\(String(cString: strerror(-result))))")
            }
            return nil
        }
        map = Descriptor(result)
    }

    func add(_ path: Descriptor) -> Int32 { clinux_add_inode(map.number, path.number) }

    func remove(_ file: Int32) { _ = clinux_remove_inode(map.number, file) }
}
