import CLinux
import Foundation
import Glibc
import SealedFormats

/// 32 random bytes beside the database, mixed into every passcode: a copy of the database alone can't be searched.
enum MachineSecret {
    /// Reads the file, or makes it on the first start.
    ///
    /// - Parameter mayCreate: false where there are passcodes already: with a new secret none of them would fit.
    /// - Throws: `StartError`.
    static func load(_ path: String, mayCreate: Bool) throws -> SecretBytes {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if file < 0 {
            guard errno == ENOENT, mayCreate else {
                throw StartError.noMachineSecret(path: path, cause: String(cString: strerror(errno)))
            }
            return try create(path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_uid == getuid(), status.st_mode & 0o077 == 0 else {
            throw StartError.unsafeFile(path: path, cause: "others may read it, or it is somebody else's")
        }
        let secret = try SecretBytes(capacity: PasscodeVerifier.machineSecretLength + 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            guard count == PasscodeVerifier.machineSecretLength else {
                throw StartError.noMachineSecret(
                    path: path, cause: "it has not \(PasscodeVerifier.machineSecretLength) bytes")
            }
            return count
        }
        return secret
    }

    /// Written under another name and linked into place, so that a crash leaves all of it or none.
    private static func create(_ path: String) throws -> SecretBytes {
        let secret = SecretBytes.random(count: PasscodeVerifier.machineSecretLength)
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StartError.noMachineSecret(path: path, cause: String(cString: strerror(errno))) }
        defer { close(file) }
        let isWritten = secret.withUnsafeBytes { write(file, $0.baseAddress, $0.count) == $0.count } && fsync(file) == 0
        guard isWritten, link(temporary, path) == 0 else {
            let cause = String(cString: strerror(errno))
            unlink(temporary)
            throw StartError.noMachineSecret(path: path, cause: cause)
        }
        unlink(temporary)
        let directory = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
        return secret
    }
}
