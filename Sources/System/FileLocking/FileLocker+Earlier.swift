import BlockingThread
import Foundation
import Glibc
import SealedFormats

extension FileLocker {
    /// The limit of a locked file of the earlier AppLocker, which is opened as a whole, in bytes.
    public static let maximumEarlierSize: UInt64 = 1 << 30

    /// Unlocks a file of version 1. It doesn't contain the original's permissions and time, so the locked file's are
    /// used.
    func unlockEarlier(_ place: Place) async throws -> Outcome {
        let path = originalPath(place)
        guard place.status.size <= Self.maximumEarlierSize else {
            throw FileLockingError(
                .tooLarge,
                "\(place.path) was locked by the earlier AppLocker and is larger than 1 GiB. Unlock it with that version."
            )
        }
        guard try place.directory.status(of: originalName(place)) == nil else {
            throw FileLockingError.system("write it", path, EEXIST)
        }
        let passcode = try await sealing.earlierPasscode(for: place.path)
        return try await runBlocking { cancellation in
            let content: Data
            do {
                content = try EarlierContainer.open(
                    place.file.bytes(Int(place.status.size)), passcode: passcode, purpose: .lockedFile)
            } catch let error as SealedFormatsError {
                throw Self.damaged(place.path, error)
            }
            try cancellation.check()
            let temporary = try TemporaryFile(in: place.directory)
            try content.withUnsafeBytes { try temporary.file.write($0, at: 0) }
            progress(.opening, UInt64(content.count), UInt64(content.count))
            var traits = FileTraits(
                mode: place.status.mode & 0o777, owner: place.status.owner, group: place.status.group)
            traits.modified = place.status.modified
            let notes = try traits.restore(on: temporary.file, path: path)
            return try finish(place, temporary, size: UInt64(content.count), notes: notes)
        }
    }
}
