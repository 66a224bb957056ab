import CLinux
import Glibc

/// A file handle (name_to_handle_at(2)): identifies a file across restarts and renames.
struct FileHandle: Hashable {
    /// The file system's id (8 bytes), the handle's type (4 bytes), the handle; as the daemon stores it.
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Nil if the file system has no handles.
    init?(of file: Descriptor) {
        var handle = clinux_file_handle()
        guard clinux_file_handle_of(file.number, &handle) == 0 else { return nil }
        var bytes: [UInt8] = []
        withUnsafeBytes(of: handle.file_system.littleEndian) { bytes += $0 }
        withUnsafeBytes(of: handle.type.littleEndian) { bytes += $0 }
        withUnsafeBytes(of: handle.bytes) { bytes += $0.prefix(Int(handle.length)) }
        self.bytes = bytes
    }

    /// Nil for bytes that are not a handle.
    fileprivate var parts: clinux_file_handle? {
        guard (12...12 + Int(CLINUX_HANDLE_BYTES)).contains(bytes.count) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var handle = clinux_file_handle()
            handle.file_system = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
            handle.type = Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int32.self))
            handle.length = UInt32(bytes.count - 12)
            withUnsafeMutableBytes(of: &handle.bytes) { $0.copyBytes(from: bytes.dropFirst(12)) }
            return handle
        }
    }
}

/// The mounted file systems on which files are opened by handle.
struct HandleFileSystems {
    /// One directory of each file system, by the file system's id.
    private var directories: [UInt64: Descriptor] = [:]
    /// Set if descriptors or memory were missing, so that `directories` is incomplete.
    private var shortage: RefusedByKernel?

    /// Local file systems only: a network file system or FUSE can block for ever.
    private static let types: Set<String> = [
        "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "tmpfs", "vfat", "xfs", "zfs",
    ]

    init() {
        let mounts: [ArraySlice<UInt8>]
        do throws(RefusedByKernel) {
            mounts = try ProcessFacts.lines(of: "/proc/self/mountinfo")
        } catch {
            mounts = []
            shortage = error
        }
        for line in mounts {
            // proc_pid_mountinfo(5): the mount point is the fifth field, the type comes after " - ".
            let fields = line.split(separator: UInt8(ascii: " "))
            guard let dash = fields.firstIndex(of: [UInt8(ascii: "-")]), dash + 1 < fields.count, fields.count > 4,
                Self.types.contains(String(decoding: fields[dash + 1], as: UTF8.self))
            else { continue }
            let number = Self.unescaped(fields[4]).withTerminator {
                let number = Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                return number < 0 ? -errno : number
            }
            guard number >= 0 else {
                let refused = RefusedByKernel(number: -number)
                if refused.isShortage { shortage = refused }
                continue
            }
            let directory = Descriptor(number)
            var id: UInt64 = 0
            guard clinux_file_system_of(number, &id) == 0, directories[id] == nil else { continue }
            directories[id] = directory
        }
    }

    enum Opened {
        case file(Descriptor)
        /// The file no longer exists.
        case gone
        /// Its file system is not mounted, or the kernel refused to open it.
        case unknown(RefusedByKernel?)
    }

    func open(_ handle: FileHandle) -> Opened {
        guard var parts = handle.parts else { return .gone }
        guard let directory = directories[parts.file_system] else { return .unknown(shortage) }
        let number = clinux_open_handle(directory.number, &parts)
        if number >= 0 { return .file(Descriptor(number)) }
        return number == -ESTALE ? .gone : .unknown(RefusedByKernel(number: -number))
    }

    /// Decodes mountinfo's octal escapes, such as "\040" for a space.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> PathBytes {
        var path: PathBytes = []
        var rest = field
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), rest.count >= 3 else {
                path.append(byte)
                continue
            }
            path.append(rest.prefix(3).reduce(0) { $0 &* 8 &+ ($1 &- 48) })
            rest = rest.dropFirst(3)
        }
        return path
    }
}
