import CLinux
import Glibc

/// Detects launches of marked files: by permission events, or by inotify in the weak mode.
protocol LaunchHook {
    /// Marks the file of `path`, an O_PATH descriptor. Marking a file twice has no effect.
    /// - Returns: 0 or an errno.
    func mark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool) -> Int32
    func unmark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool)
}

/// The source of permission events: the gate's only interface to fanotify, so that tests of its loop need no root.
protocol PermissionEventSource: AnyObject, LaunchHook {
    /// Readable while events are pending.
    var descriptor: Descriptor { get }
    /// Reads some of the pending events. `body` must answer each.
    /// - Returns: whether there was one.
    func readEvents(_ body: (PermissionEvent) -> Void) -> Bool
    /// - Parameter file: the descriptor of an event (`PermissionEvent.file`).
    func answer(_ file: Int32, allow: Bool)
    /// Removes the mark of an event's file. Returns whether there was one.
    func unmark(_ event: PermissionEvent) -> Bool
    /// Removes the mark of a directory. Returns whether there was one.
    func unmarkDirectory(_ path: Descriptor) -> Bool
}

/// The fanotify group: the kernel's queue of held launches.
///
/// The supervisor holds a duplicate of its descriptor, so that launches stay held if this process dies.
final class FanotifyGroup: PermissionEventSource {
    static let fileMask = UInt64(FAN_OPEN_EXEC_PERM | FAN_OPEN_PERM)
    static let directoryMask = UInt64(FAN_OPEN_EXEC_PERM | FAN_EVENT_ON_CHILD)

    let descriptor: Descriptor

    init(adopting descriptor: Descriptor) { self.descriptor = descriptor }

    /// - Returns: the group, or the errno of fanotify_init(2).
    static func create() -> Result<FanotifyGroup, RefusedByKernel> {
        let result = clinux_fanotify_group()
        guard result >= 0 else { return .failure(RefusedByKernel(number: -result)) }
        return .success(FanotifyGroup(adopting: Descriptor(result)))
    }

    /// Denies every launch that an earlier reader read and did not answer. Must be called before the first read: a new
    /// event can get the descriptor number of an unanswered one, and the answers could not be distinguished.
    /// - Parameter numbers: every descriptor number that the earlier reader could have used.
    /// - Returns: the number of denied launches.
    func denyOrphans(numbers: Range<Int32>) -> UInt32 {
        var denied: UInt32 = 0
        for number in numbers where clinux_fanotify_answer(descriptor.number, number, UInt32(FAN_DENY)) == 0 {
            denied += 1
        }
        return denied
    }

    /// Reads at most one buffer of 4,096 bytes.
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

    /// Nil for a queue overflow, and for an event without a pidfd, which is denied.
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
        // fanotify_mark(2) accepts no O_PATH descriptor, but follows its link in /proc.
        Array("/proc/self/fd/\(path.number)".utf8).withTerminator {
            clinux_fanotify_mark(
                descriptor.number, operation, isDirectory ? Self.directoryMask : Self.fileMask, AT_FDCWD, $0)
        }
    }
}

/// The errno of a refused system call.
struct RefusedByKernel: Error {
    var number: Int32

    /// Descriptors, memory or marks were missing: a later attempt may succeed.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOSPC].contains(number) }
}
