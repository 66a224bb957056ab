import Foundation
import Glibc

/// Erasing everything, so that a crash or a power cut in the middle of it is finished at the next start: once the marker
/// is on disk there is no way back, and no half of a state to stumble over.
struct Erasure: Sendable {
    /// The name of the gate's file of known apps.
    static let knownApps = "known-apps"

    private let state: String
    private let keys: [SecretFile]
    private var marker: String { state + "/erasing" }

    init(state: String, keys: [SecretFile]) {
        self.state = state
        self.keys = keys
    }

    /// Keys first: without them the rest is noise, whatever happens next.
    /// - Throws: `StartError`, with nothing erased where the marker can't be written.
    func begin() throws {
        let file = open(marker, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure }
        defer { close(file) }
        guard fsync(file) == 0, Self.synchronise(state) else { throw failure }
        for key in keys { try key.erase() }
    }

    /// To be called before anything of the state is opened.
    /// - Throws: `StartError` where something can't be removed; the next start tries again.
    func finishIfBegun() throws {
        guard access(marker, F_OK) == 0 else { return }
        for key in keys { try key.erase() }
        for name in ["applocker.sqlite", "applocker.sqlite-wal", "applocker.sqlite-shm", Self.knownApps] {
            guard unlink("\(state)/\(name)") == 0 || errno == ENOENT else { throw failure }
        }
        do {
            for folder in ["\(state)/blobs", "\(state)/vaults"] where FileManager.default.fileExists(atPath: folder) {
                try FileManager.default.removeItem(atPath: folder)
            }
        } catch {
            throw StartError.erasureUnfinished(path: state, cause: "\(error)")
        }
        guard Self.synchronise(state), unlink(marker) == 0, Self.synchronise(state) else { throw failure }
    }

    private var failure: StartError {
        .erasureUnfinished(path: state, cause: String(cString: strerror(errno)))
    }

    /// Makes the names in a directory durable.
    @discardableResult
    static func synchronise(_ path: String) -> Bool {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return fsync(directory) == 0
    }
}
