import CLinux
import GateProtocol
import Glibc

typealias ExecRequest = GateProtocol.ExecRequest

extension ExecRequest {
    /// The file that the path leads to, as the process sees it. A link to an absolute path counts from the gate's own
    /// root directory.
    func file(in process: Int32) -> FileIdentity? {
        let isAbsolute = path.first == UInt8(ascii: "/")
        let start = ProcessFacts.path(process, isAbsolute ? "root" : "cwd")
        return FileIdentity(following: isAbsolute ? start + path : start.appending(path))
    }

    /// Reads it from the waiting process. Nil where that can't be done: another architecture's system calls, a
    /// process that was killed, more than `GateProtocol.maximumExecRequestBytes`.
    /// - Parameter found: called once the process waits in execve: all before that depends on the processor alone.
    static func read(from process: Int32, found: () -> Void = {}) -> ExecRequest? {
        guard let call = ExecveCall.find(in: process) else { return nil }
        found()
        guard let directory = ProcessFacts.link(process, "cwd") else {
            return nil
        }
        var memory = ProcessMemory(of: process)
        guard let path = memory.string(at: call.path), let arguments = memory.strings(at: call.arguments),
            let environment = memory.strings(at: call.environment)
        else { return nil }
        return ExecRequest(
            path: call.resolve(path, in: process), directory: directory, arguments: arguments,
            environment: environment)
    }
}

/// The system call in which a process waits, from /proc/PID/syscall.
private struct ExecveCall {
    /// The descriptor that execveat(2) starts from; nil for execve(2).
    var base: Int32?
    var path: UInt64
    var arguments: UInt64
    var environment: UInt64

    #if arch(x86_64)
        private static let execve: UInt64 = 59
        private static let execveat: UInt64 = 322
    #elseif arch(arm64) || arch(riscv64)
        private static let execve: UInt64 = 221
        private static let execveat: UInt64 = 281
    #endif

    private enum Reading {
        case execve(ExecveCall)
        /// The thread has not slept yet.
        case running
        case other
    }

    /// The thread of the process that waits in execve. The event can be read before its thread sleeps: on a busy
    /// computer long before. `ExecRequestReader` ends the wait.
    static func find(in process: Int32) -> ExecveCall? {
        for attempt in 0..<1_000 {
            var isRunning = false
            for thread in [process] + ProcessFacts.threads(process).filter({ $0 != process }) {
                switch read(process, thread) {
                case .execve(let call): return call
                case .running: isRunning = true
                case .other: break
                }
            }
            guard isRunning || attempt < 40 else { return nil }
            usleep(100)
        }
        return nil
    }

    private static func read(_ process: Int32, _ thread: Int32) -> Reading {
        ProcessFacts.withFile(process, "task/\(thread)/syscall") { bytes -> Reading in
            var fields = ProcessFacts.Fields(bytes[...])
            guard let first = fields.next() else { return .other }
            guard let call = ProcessFacts.number(first) else {
                return first.first == UInt8(ascii: "r") ? .running : .other
            }
            var values: [UInt64] = []
            while values.count < 4, let field = fields.next() { values.append(hexadecimal(field)) }
            guard values.count == 4 else { return .other }
            switch call {
            case execve:
                return .execve(
                    ExecveCall(base: nil, path: values[0], arguments: values[1], environment: values[2]))
            case execveat:
                return .execve(
                    ExecveCall(
                        base: Int32(truncatingIfNeeded: values[0]), path: values[1], arguments: values[2],
                        environment: values[3]))
            default: return .other
            }
        } ?? .other
    }

    private static func hexadecimal(_ field: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64 {
        var value: UInt64 = 0
        for byte in field.dropFirst(2) {
            let digit = byte >= 97 ? byte - 87 : byte - 48
            value = value << 4 | UInt64(digit & 15)
        }
        return value
    }

    /// execveat: the path counts from a descriptor, which the next process will not have.
    func resolve(_ path: PathBytes, in process: Int32) -> PathBytes {
        guard let base, base != AT_FDCWD, path.first != UInt8(ascii: "/"),
            let start = ProcessFacts.link(process, "fd/\(base)")
        else { return path }
        return path.isEmpty ? start : start.appending(path)
    }
}

/// Copies strings out of another process, a page at a time: a string may end just before memory that isn't there.
private struct ProcessMemory {
    private let process: Int32
    private var page: [UInt8] = []
    private var pageAddress: UInt64 = .max
    private var budget = GateProtocol.maximumExecRequestBytes
    private static let pageBytes: UInt64 = 4096

    init(of process: Int32) { self.process = process }

    private mutating func load(_ address: UInt64) -> Bool {
        let start = address & ~(Self.pageBytes - 1)
        if start == pageAddress { return true }
        pageAddress = .max
        page = [UInt8](unsafeUninitializedCapacity: Int(Self.pageBytes)) { buffer, count in
            count = max(0, clinux_read_memory(process, start, buffer.baseAddress, buffer.count))
        }
        guard page.count == Int(Self.pageBytes) else { return false }
        pageAddress = start
        return true
    }

    mutating func string(at address: UInt64) -> [UInt8]? {
        var found: [UInt8] = []
        var address = address
        while load(address) {
            let rest = page[Int(address - pageAddress)...]
            let end = rest.firstIndex(of: 0)
            found += rest[..<(end ?? rest.endIndex)]
            guard found.count < budget else { return nil }
            if end != nil {
                budget -= found.count + 1
                return found
            }
            address += UInt64(rest.count)
        }
        return nil
    }

    /// A NULL-terminated array of strings. A null array is an empty one, as Linux has it.
    mutating func strings(at address: UInt64) -> [[UInt8]]? {
        guard address != 0 else { return [] }
        var pointers: [UInt64] = []
        var address = address
        while true {
            guard let pointer = word(at: address) else { return nil }
            if pointer == 0 { break }
            guard pointers.count < GateProtocol.maximumExecRequestBytes / 8 else { return nil }
            pointers.append(pointer)
            address += 8
        }
        var found: [[UInt8]] = []
        for pointer in pointers {
            guard let text = string(at: pointer) else { return nil }
            found.append(text)
        }
        return found
    }

    private mutating func word(at address: UInt64) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<UInt64(8) {
            guard load(address + index) else { return nil }
            value |= UInt64(page[Int(address + index - pageAddress)]) << (8 * index)
        }
        return value
    }
}
