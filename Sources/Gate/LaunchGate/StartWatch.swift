import CLinux
import Glibc

/// Detects launches in the weak mode: an inotify watch reports that a file was opened. It does not identify the
/// process, which is searched for afterwards.
final class StartWatch: LaunchHook {
    let descriptor: Descriptor
    private var numbers: [FileIdentity: Int32] = [:]
    private var watched: [Int32: FileIdentity] = [:]

    init() throws(GateError) {
        let result = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        descriptor = try Descriptor(result < 0 ? -errno : result, "inotify_init1")
    }

    func mark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool) -> Int32 {
        let number = Array("/proc/self/fd/\(path.number)".utf8).withTerminator {
            inotify_add_watch(descriptor.number, $0, UInt32(IN_OPEN))
        }
        guard number >= 0 else { return errno }
        numbers[identity] = number
        watched[number] = identity
        return 0
    }

    func unmark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool) {
        guard let number = numbers.removeValue(forKey: identity) else { return }
        watched[number] = nil
        inotify_rm_watch(descriptor.number, number)
    }

    /// Reads all pending events. Returns whether a watched file was opened.
    func read() -> Bool {
        var isOpened = false
        withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(descriptor.number, buffer.baseAddress!, buffer.count)
                guard count > 0 else { return }
                isOpened = true
            }
        }
        return isOpened
    }
}
