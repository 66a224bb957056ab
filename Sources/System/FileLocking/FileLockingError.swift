import Foundation

/// Why a file could not be locked or unlocked. The original is untouched.
public struct FileLockingError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case notFound = "not_found"
        case notAllowed = "not_allowed"
        case notReadable = "not_readable"
        /// A link, a device, a file with several names, one that is in use: files that can't be locked.
        case unsupportedKind = "unsupported_kind"
        case alreadyExists = "already_exists"
        case changedMeanwhile = "changed_meanwhile"
        case notLocked = "not_locked"
        case damaged
        case diskFull = "disk_full"
        case tooLarge = "too_large"
        /// The sealed copy differs from the file.
        case notVerified = "not_verified"
        case failed
    }

    public let code: Code
    /// One sentence: what failed and what to do.
    public let sentence: String
    public let cause: (any Error)?

    public init(_ code: Code, _ sentence: String, cause: (any Error)? = nil) {
        self.code = code
        self.sentence = sentence
        self.cause = cause
    }

    public var description: String { sentence }
}

extension FileLockingError {
    /// A failed system call.
    /// - Parameters:
    ///   - doing: the operation, for example "read it".
    ///   - number: its errno.
    static func system(_ doing: String, _ path: String, _ number: Int32) -> FileLockingError {
        let cause = POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO)
        let (code, sentence): (Code, String) =
            switch number {
            case ENOENT, ENOTDIR: (.notFound, "\(path) does not exist.")
            case EACCES, EPERM:
                (.notAllowed, "\(path): this user may not \(doing). Ask its owner, or run the command as root.")
            case EROFS: (.notAllowed, "\(path) is on a file system that can only be read; nothing was changed.")
            case ENOSPC, EDQUOT:
                (.diskFull, "\(path): the disk has no space to \(doing). Free some and try again.")
            case ELOOP: (.unsupportedKind, "\(path) is a symbolic link; name the file that it leads to.")
            case ENAMETOOLONG: (.unsupportedKind, "The name of \(path) is too long; rename it first.")
            case EEXIST: (.alreadyExists, "\(path) exists already; move it away first.")
            default:
                (.failed, "\(path): AppLocker could not \(doing) (\(String(cString: strerror(number)))). Try again.")
            }
        return FileLockingError(code, sentence, cause: cause)
    }
}
