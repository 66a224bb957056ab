import CLinux
import Glibc

/// Notices the launch of marked files: by permission events, or in the weak mode by watching.
protocol LaunchHook {
    /// Puts a mark on the file that `path`, an O_PATH descriptor, refers to. Marking twice is harmless. Returns 0 or
    /// an errno.
    func mark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool) -> Int32
    func unmark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool)
}

/// Where permission events come from. The gate's loop knows the kernel by this alone, so that its tests need no root.
protocol PermissionEventSource: AnyObject, LaunchHook {
    /// Readable while events wait.
    var descriptor: Descriptor { get }
    /// Reads some of the events that wait. `body` owes the answers.
    /// - Returns: whether there was anything.
    func readEvents(_ body: (PermissionEvent) -> Void) -> Bool
    /// - Parameter file: the descriptor of an event (`PermissionEvent.file`).
    func answer(_ file: Int32, allow: Bool)
    /// Takes the mark off the file of an event. Returns whether there was one.
    func unmark(_ event: PermissionEvent) -> Bool
    /// Takes the mark off a directory. Returns whether there was one.
    func unmarkDirectory(_ path: Descriptor) -> Bool
}

/// The kernel's queue of launches that wait.
///
/// Owns the group's descriptor; a duplicate of it lives with the supervisor, so that held launches stay held when this
/// process dies.
final class FanotifyGroup: PermissionEventSource {
    static let fileMask = UInt64(FAN_OPEN_EXEC_PERM | FAN_OPEN_PERM)
    static let directoryMask = UInt64(FAN_OPEN_EXEC_PERM | FAN_EVENT_ON_CHILD)

    let descriptor: Descriptor

    init(adopting descriptor: Descriptor) { self.descriptor = descriptor }

    /// Returns the group or the errno with which the kernel refused it.
    static func create() -> Result<FanotifyGroup, RefusedByKernel> {
        let result = clinux_fanotify_group()
        guard result >= 0 else { return .failure(RefusedByKernel(number: -result)) }
        return .success(FanotifyGroup(adopting: Descriptor(result)))
    }

    /// Denies every launch that an earlier reader had taken from the queue and left unanswered. To be called before
    /// the first read: a new event may get the number of an orphan, and an answer meant for one would reach the other.
    /// - Parameter numbers: every descriptor number that the earlier reader could have had.
    /// - Returns: how many launches were denied.
    func denyOrphans(numbers: Range<Int32>) -> UInt32 {
        var denied: UInt32 = 0
        for number in numbers where clinux_fanotify_answer(descriptor.number, number, UInt32(FAN_DENY)) == 0 {
            denied += 1
        }
        return denied
    }

    /// Reads at most a buffer's worth.
    func readEvents(_ body: (PermissionEvent) -> Void) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            let count = read(descriptor.number, buffer.baseAddress!, buffer.count)
            guard count > 0 else { return false }
            var offset = 0
            while offset + MemoryLayout<fanotify_event_metadata>.size <= count {
                let event = buffer.loadUnaligned(fromByteOffset: offset, as: fanotify_event_metadata.self)
                let end = offset + Int(event.event_len)
                guard event.event_len >= 24, end <= count else { return true }
                if let event = accept(event, UnsafeRawBufferPointer(rebasing: buffer[offset..<end])) { body(event) }
                offset = end
            }
            return true
        }
    }

    /// Nil where nobody waits (an overflow report) or where the process could not be named: that event is denied.
    private func accept(_ event: fanotify_event_metadata, _ bytes: UnsafeRawBufferPointer) -> PermissionEvent? {
        guard event.fd >= 0 else { return nil }
        let number = processDescriptor(in: bytes, from: Int(event.metadata_len))
        guard event.vers == FANOTIFY_METADATA_VERSION, let number else {
            _ = clinux_fanotify_answer(descriptor.number, event.fd, UInt32(FAN_DENY))
            close(event.fd)
            return nil
        }
        return PermissionEvent(
            source: self, file: event.fd, handle: ProcessHandle(event.pid, Descriptor(number)),
            isExecution: event.mask & UInt64(FAN_OPEN_EXEC_PERM) != 0)
    }

    /// The pidfd of the information records that follow the metadata: type, padding, 16-bit length, descriptor.
    private func processDescriptor(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int32? {
        var offset = start
        while offset + 8 <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self))
            if bytes[offset] == FAN_EVENT_INFO_TYPE_PIDFD {
                let number = bytes.loadUnaligned(fromByteOffset: offset + 4, as: Int32.self)
                return number >= 0 ? number : nil
            }
            guard length >= 4 else { return nil }
            offset += length
        }
        return nil
    }

    func mark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool) -> Int32 {
        change(UInt32(FAN_MARK_ADD), path, isDirectory: isDirectory)
    }

    func unmark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool) {
        _ = change(UInt32(FAN_MARK_REMOVE), path, isDirectory: isDirectory)
    }

    func answer(_ file: Int32, allow: Bool) {
        _ = clinux_fanotify_answer(descriptor.number, file, UInt32(allow ? FAN_ALLOW : FAN_DENY))
    }

    func unmark(_ event: PermissionEvent) -> Bool {
        clinux_fanotify_mark(descriptor.number, UInt32(FAN_MARK_REMOVE), Self.fileMask, event.file, nil) == 0
    }

    func unmarkDirectory(_ path: Descriptor) -> Bool {
        change(UInt32(FAN_MARK_REMOVE), path, isDirectory: true) == 0
    }

    private func change(_ operation: UInt32, _ path: Descriptor, isDirectory: Bool) -> Int32 {
        // fanotify_mark takes no O_PATH descriptor, but follows its link in /proc.
        Array("/proc/self/fd/\(path.number)".utf8).withTerminator {
            clinux_fanotify_mark(
                descriptor.number, operation, isDirectory ? Self.directoryMask : Self.fileMask, AT_FDCWD, $0)
        }
    }
}

/// The errno with which the kernel refused something.
struct RefusedByKernel: Error {
    var number: Int32

    /// Descriptors, memory or marks were missing: it may succeed later.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOSPC].contains(number) }
}
