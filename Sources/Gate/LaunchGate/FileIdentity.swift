import CLinux
import Glibc

/// The bytes of a path without a terminating NUL. No encoding is assumed.
typealias PathBytes = [UInt8]

/// A file, whatever its name: device and inode number.
struct FileIdentity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    init(_ file: clinux_file) { self.init(device: file.device, inode: file.inode) }

    /// The file behind an open descriptor.
    init?(descriptor: Int32) {
        var file = clinux_file()
        guard clinux_identify_descriptor(descriptor, &file) == 0 else { return nil }
        self.init(file)
    }

    /// The file at a path, following links. It opens no file and contacts no file server, so it does not block.
    init?(following path: PathBytes) {
        var file = clinux_file()
        guard path.withTerminator({ clinux_identify_path($0, &file) }) == 0 else { return nil }
        self.init(file)
    }

    /// The file with this name in a directory. A link is not followed.
    init?(named name: [UInt8], in directory: Int32) {
        var file = clinux_file()
        guard name.withTerminator({ clinux_identify_name(directory, $0, &file) }) == 0 else { return nil }
        self.init(file)
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes and a terminating NUL.
    func withTerminator<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 1) { buffer in
            for index in 0..<count { buffer[index] = CChar(bitPattern: self[index]) }
            buffer[count] = 0
            return body(UnsafePointer(buffer.baseAddress!))
        }
    }

    private static let slash = UInt8(ascii: "/")

    /// The path of `name` in this directory.
    func appending(_ name: some Collection<UInt8>) -> [UInt8] {
        last == Self.slash ? self + name : self + [Self.slash] + name
    }

    /// The path's directory, and its name there. Nil for "/" and for a path without a slash.
    var directoryAndName: (directory: [UInt8], name: [UInt8])? {
        guard let cut = lastIndex(of: Self.slash), cut < count - 1 else { return nil }
        return (cut == 0 ? [Self.slash] : Array(self[..<cut]), Array(self[(cut + 1)...]))
    }

    /// Every directory above an absolute path, from the nearest to "/".
    var ancestors: [[UInt8]] {
        var found: [[UInt8]] = []
        var path = self
        while let (directory, _) = path.directoryAndName {
            found.append(directory)
            path = directory
        }
        return found
    }

    /// Whether this path is below `directory`.
    func isBelow(_ directory: [UInt8]) -> Bool {
        directory == [Self.slash]
            || (count > directory.count && self[directory.count] == Self.slash && starts(with: directory))
    }

    var text: String { String(decoding: self, as: UTF8.self) }
}
