import CLinux
import Glibc

/// Information about a process from /proc. Every function returns nil if the process has ended or can't be read.
///
/// A pid can be reused between two reads. Callers that base a decision on it hold a pidfd, and check afterwards that
/// the process is still alive.
enum ProcessFacts {
    struct Status {
        var parent: Int32
        /// Clock ticks after boot. With the pid it identifies the process.
        var start: UInt64
        /// The state letter of proc(5): R, S, D, T, Z, ...
        var state: UInt8
        /// The kernel's name of the program, at most 15 bytes.
        var name: [UInt8]
        /// Forked and without an execve since (PF_FORKNOEXEC).
        var hasOnlyForked: Bool
    }

    struct Users {
        var parent: Int32
        var real: UInt32
        var effective: UInt32
    }

    static func status(_ process: Int32) -> Status? {
        withFile(process, "stat") { bytes in
            // The name is in parentheses and can contain parentheses and spaces.
            guard let open = bytes.firstIndex(of: UInt8(ascii: "(")), let end = bytes.lastIndex(of: UInt8(ascii: ")"))
            else { return nil }
            var fields = Fields(bytes[(end + 1)...])
            guard let state = fields.next()?.first, let parent = fields.next().flatMap(number) else { return nil }
            for _ in 5...8 { _ = fields.next() }
            guard let flags = fields.next().flatMap(number) else { return nil }
            for _ in 10...21 { _ = fields.next() }
            guard let start = fields.next().flatMap(number) else { return nil }
            return Status(
                parent: Int32(truncatingIfNeeded: parent), start: start, state: state,
                name: Array(bytes[(open + 1)..<end]),
                hasOnlyForked: flags & 0x40 != 0)
        }
    }

    /// Parent, and real and effective user id in the gate's user namespace.
    static func users(_ process: Int32) -> Users? {
        withFile(process, "status") { bytes in
            var rest = bytes[...]
            var parent: UInt64 = 0
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = rest[..<end]
                rest = rest[(end + 1)...]
                if line.starts(with: "PPid:".utf8) {
                    var fields = Fields(line.dropFirst(5))
                    parent = fields.next().flatMap(number) ?? 0
                }
                guard line.starts(with: "Uid:".utf8) else { continue }
                var fields = Fields(line.dropFirst(4))
                guard let real = fields.next().flatMap(number), let effective = fields.next().flatMap(number) else {
                    return nil
                }
                return Users(
                    parent: Int32(truncatingIfNeeded: parent), real: UInt32(truncatingIfNeeded: real),
                    effective: UInt32(truncatingIfNeeded: effective))
            }
            return nil
        }
    }

    /// The user who logged in; 4294967295 if there was no login or the kernel does not record it.
    static func loginUser(_ process: Int32) -> UInt32 {
        withFile(process, "loginuid") { number($0[...]).map { UInt32(truncatingIfNeeded: $0) } } ?? UInt32.max
    }

    /// The executable of the process. It is not opened.
    static func executable(_ process: Int32) -> FileIdentity? {
        FileIdentity(following: path(process, "exe"))
    }

    /// Whether the process is in the gate's user namespace. In another one a process may have the capability to change
    /// its `executable` (prctl(2), PR_SET_MM_MAP).
    static func isInOwnUserNamespace(_ process: Int32) -> Bool {
        guard let own = FileIdentity(following: Array("/proc/self/ns/user".utf8)) else { return false }
        return FileIdentity(following: path(process, "ns/user")) == own
    }

    static func link(_ process: Int32, _ name: String) -> PathBytes? { readLink(path(process, name)) }

    /// The first arguments of the command line, which the process itself can change.
    static func arguments(_ process: Int32, limit: Int) -> [[UInt8]] {
        withFile(process, "cmdline") { bytes in
            bytes.split(separator: 0, maxSplits: limit, omittingEmptySubsequences: false).prefix(limit).map(Array.init)
        } ?? []
    }

    /// The lines of a file, as of the gate's own mountinfo.
    static func lines(of path: String) throws(RefusedByKernel) -> [ArraySlice<UInt8>] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw RefusedByKernel(number: errno) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return bytes.split(separator: UInt8(ascii: "\n"))
    }

    /// The pids of all processes in the gate's pid namespace.
    static func all() -> [Int32] { numbers(in: Array("/proc".utf8)) }

    static func threads(_ process: Int32) -> [Int32] { numbers(in: path(process, "task")) }

    static func path(_ process: Int32, _ name: String) -> PathBytes {
        Array("/proc/".utf8) + String(process).utf8 + [UInt8(ascii: "/")] + name.utf8
    }

    static func readLink(_ path: PathBytes) -> PathBytes? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4097) { buffer in
            let count = path.withTerminator { readlink($0, buffer.baseAddress!, 4096) }
            return count < 0 ? nil : buffer[..<count].map { UInt8(bitPattern: $0) }
        }
    }

    /// Calls `body` with the first 4,096 bytes of a file of the process.
    static func withFile<Result>(
        _ process: Int32, _ name: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result?
    ) -> Result? {
        let descriptor = path(process, name).withTerminator { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
            let count = read(descriptor, buffer.baseAddress!, buffer.count)
            guard count > 0 else { return nil }
            return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private static func numbers(in directory: PathBytes) -> [Int32] {
        guard let stream = directory.withTerminator({ opendir($0) }) else { return [] }
        defer { closedir(stream) }
        var found: [Int32] = []
        while let entry = readdir(stream) {
            let first = UInt8(bitPattern: entry.pointee.d_name.0)
            guard first >= UInt8(ascii: "1"), first <= UInt8(ascii: "9") else { continue }
            let value = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { strtol($0, nil, 10) }
            }
            found.append(Int32(truncatingIfNeeded: value))
        }
        return found
    }

    /// The decimal number at the start of `bytes`.
    static func number(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        var value: UInt64 = 0
        var digits = 0
        for byte in bytes {
            guard byte >= 48, byte <= 57 else { break }
            value = value &* 10 &+ UInt64(byte - 48)
            digits += 1
        }
        return digits == 0 ? nil : value
    }

    /// Fields separated by spaces and tabs.
    struct Fields {
        private var rest: Slice<UnsafeBufferPointer<UInt8>>

        init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) { rest = bytes }

        mutating func next() -> Slice<UnsafeBufferPointer<UInt8>>? {
            rest = rest.drop { $0 == 32 || $0 == 9 || $0 == 10 }
            guard !rest.isEmpty else { return nil }
            let end = rest.firstIndex { $0 == 32 || $0 == 9 || $0 == 10 } ?? rest.endIndex
            defer { rest = rest[end...] }
            return rest[..<end]
        }
    }
}

/// A process by pidfd: a signal can't reach another process with the same pid.
struct ProcessHandle {
    let process: Int32
    let descriptor: Descriptor

    init(_ process: Int32, _ descriptor: Descriptor) {
        self.process = process
        self.descriptor = descriptor
    }

    init?(opening process: Int32) {
        let result = clinux_pidfd_open(process)
        guard result >= 0 else { return nil }
        self.init(process, Descriptor(result))
    }

    var isAlive: Bool { signal(0) }

    /// As `ProcessFacts.users`, with a single call (PIDFD_GET_INFO) if the kernel has it, because a launch is waiting.
    var users: ProcessFacts.Users? {
        var facts = clinux_pidfd_facts()
        guard clinux_pidfd_facts_of(descriptor.number, &facts) == 0 else { return ProcessFacts.users(process) }
        return ProcessFacts.Users(
            parent: Int32(truncatingIfNeeded: facts.parent), real: facts.real_user, effective: facts.effective_user)
    }

    /// - Returns: whether the signal was delivered.
    @discardableResult
    func signal(_ number: Int32) -> Bool { clinux_pidfd_signal(descriptor.number, number) == 0 }
}
