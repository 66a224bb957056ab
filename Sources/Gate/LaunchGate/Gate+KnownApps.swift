import CLinux
import GateProtocol
import Glibc

/// From the gate's start until a daemon has sent its list, launches of the apps of the last list are denied.
extension Gate {
    /// An unreadable file is reported. It guards nothing and does not delay launches of other apps.
    func guardKnownApps() {
        guard let path = configuration.knownApps else { return }
        do throws(GateError) {
            for message in try Self.messages(in: path, of: configuration.daemonUser) { guardKnown(message) }
        } catch {
            report(error.sentence)
        }
    }

    private func guardKnown(_ message: DaemonMessage) {
        switch message {
        case .beginApp(let token): knownApps.begin(token)
        case .appPath(let token, let kind, let path):
            if let violation = knownApps.append(path, kind, of: token) {
                report("a path in the file of known apps is skipped: \(violation)")
            }
        case .commitApp(let token, _, _):
            if let paths = knownApps.end(token) { commit(token, paths, guarded: true, sequence: 0) }
        default: break
        }
    }

    /// Empty if there is no file, as at the first start.
    private static func messages(in path: PathBytes, of user: UInt32) throws(GateError) -> [DaemonMessage] {
        // O_NONBLOCK: opening a FIFO would wait for a writer.
        let number = path.withTerminator { open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard number >= 0 else {
            if errno == ENOENT { return [] }
            throw unusable(path, "it can't be opened", cause: errno)
        }
        let file = Descriptor(number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == user || status.st_uid == 0, status.st_mode & 0o022 == 0,
            status.st_size <= KnownApps.maximumBytes
        else { throw unusable(path, "it is too large, or writable by other users than the daemon's") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes { read(file.number, $0.baseAddress! + count, $0.count - count) }
            guard result > 0 else { break }
            count += result
        }
        do {
            return try KnownApps.decoded(Array(bytes[..<count]))
        } catch {
            throw unusable(path, "\(error)")
        }
    }

    private static func unusable(_ path: PathBytes, _ why: String, cause: Int32 = 0) -> GateError {
        GateError(
            .knownApps,
            "\(path.text) is not a list of apps: \(why). Until the daemon has sent its list NOTHING IS GUARDED; then it rewrites "
                + "the file", cause: cause)
    }
}
