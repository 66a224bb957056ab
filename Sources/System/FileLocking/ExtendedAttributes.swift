import CLinux
import Foundation
import Glibc

/// Extended attributes of an open file, including access control lists and file capabilities: xattr(7).
enum ExtendedAttributes {
    /// All attributes that this user may read; none on a file system without them.
    /// - Throws: `FileLockingError` for an attribute that can't be read or whose name is not text.
    static func read(_ file: OpenFile) throws -> [String: Data] {
        let names = try bytes(file) { flistxattr(file.descriptor, $0, $1) }
        var attributes: [String: Data] = [:]
        for name in names.split(separator: 0) {
            guard let name = String(validating: name, as: UTF8.self) else {
                throw FileLockingError(
                    .unsupportedKind,
                    "\(file.path) has an extended attribute whose name is not valid UTF-8; remove it first.")
            }
            attributes[name] = Data(try bytes(file) { fgetxattr(file.descriptor, name, $0, $1) })
        }
        return attributes
    }

    /// - Returns: the names of those that this user or this file system does not allow.
    static func write(_ attributes: [String: Data], to file: OpenFile) throws -> [String] {
        var refused: [String] = []
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            let result = value.withUnsafeBytes {
                fsetxattr(file.descriptor, name, $0.baseAddress, $0.count, 0)
            }
            if result == 0 { continue }
            switch errno {
            case EPERM, EACCES, EOPNOTSUPP, EINVAL, ERANGE, E2BIG: refused.append(name)
            default: throw FileLockingError.system("set its attributes", file.path, errno)
            }
        }
        return refused
    }

    /// Reads the size, then the value, and again if it grew in between.
    private static func bytes(
        _ file: OpenFile, _ call: (UnsafeMutablePointer<CChar>?, Int) -> Int
    ) throws -> [UInt8] {
        for _ in 1...8 {
            let size = call(nil, 0)
            if size < 0, errno == EOPNOTSUPP { return [] }
            guard size >= 0 else { break }
            guard size > 0 else { return [] }
            var value = [CChar](repeating: 0, count: size)
            let count = call(&value, size)
            if count >= 0 { return value.prefix(count).map { UInt8(bitPattern: $0) } }
            guard errno == ERANGE else { break }
        }
        throw FileLockingError.system("read its attributes", file.path, errno)
    }
}
