import CLinux
import Foundation
import Glibc
import SealedFormats

/// 32 secret bytes beside the database, for the daemon's user alone: the machine secret, mixed into every passcode so that
/// a copy of the database alone can't be searched, and the key that signs the activity log.
struct SecretFile: Sendable {
    private static let length = 32
    private let path: String

    init(_ path: String) { self.path = path }

    /// Reads the file, or makes it on the first start.
    ///
    /// - Parameters:
    ///   - mayCreate: false where there is something already that a new secret would not fit.
    ///   - make: a fresh secret of 32 bytes.
    /// - Throws: `StartError`.
    func load(mayCreate: Bool = true, orMake make: () -> SecretBytes) throws -> SecretBytes {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if file < 0 {
            guard errno == ENOENT, mayCreate else {
                throw StartError.noSecret(path: path, cause: String(cString: strerror(errno)))
            }
            let secret = make()
            try create(secret)
            return secret
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_uid == getuid(), status.st_mode & 0o077 == 0 else {
            throw StartError.unsafeFile(path: path, cause: "others can read it, or it belongs to another user")
        }
        return try SecretBytes(capacity: Self.length + 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            guard count == Self.length else {
                throw StartError.noSecret(path: path, cause: "it does not have \(Self.length) bytes")
            }
            return count
        }
    }

    /// Overwrites the bytes where they lie, as far as the file system does so, and removes the file.
    /// - Throws: `StartError`.
    func erase() throws {
        let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        if file < 0, errno == ENOENT { return }
        guard file >= 0 else { throw StartError.noSecret(path: path, cause: String(cString: strerror(errno))) }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: Self.length)
        guard pwrite(file, zeros, zeros.count, 0) == zeros.count, fsync(file) == 0, unlink(path) == 0 else {
            throw StartError.noSecret(path: path, cause: String(cString: strerror(errno)))
        }
        Erasure.synchronise((path as NSString).deletingLastPathComponent)
    }

    /// Written under another name and linked into place, so that a crash leaves all of it or none.
    private func create(_ secret: SecretBytes) throws {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StartError.noSecret(path: path, cause: String(cString: strerror(errno))) }
        defer { close(file) }
        let isWritten = secret.withUnsafeBytes { write(file, $0.baseAddress, $0.count) == $0.count } && fsync(file) == 0
        guard isWritten, link(temporary, path) == 0 else {
            let cause = String(cString: strerror(errno))
            unlink(temporary)
            throw StartError.noSecret(path: path, cause: cause)
        }
        unlink(temporary)
        Erasure.synchronise((path as NSString).deletingLastPathComponent)
    }
}
