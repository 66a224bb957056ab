import CLinux
import GateProtocol
import Glibc

/// Reads the exec requests of launches in a child process of its own, for a limited time.
///
/// A program can put its arguments where reading them waits for another process: into a file that a user serves
/// (FUSE), into memory whose page faults a user handles (userfaultfd). A reader may then wait for ever, which the gate
/// must not.
struct ExecRequestReader {
    /// How long one reading may wait for others, in milliseconds: the desktop waits for it.
    static let patience: Int32 = 50
    /// How long it may take where it only waits for the processor, in milliseconds.
    private static let patienceOnBusyComputer: Int32 = 500
    /// Children that can't be ended because they still wait. With more of them nothing is read at all.
    private static let maximumStuck = 4

    private var children: [ProcessHandle] = []

    /// The bytes of the exec request, see `GateProtocol.ExecRequest.encoded`. Nil where it could not be read in time or at all, or where its
    /// path does not lead to `file`: another thread may have changed it since the kernel read it.
    mutating func read(from process: Int32, starting file: FileIdentity) -> [UInt8]? {
        children.removeAll { !$0.isAlive }
        guard children.count < Self.maximumStuck else { return nil }
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { return nil }
        let reading = Descriptor(ends[0])
        let child: Int32
        do {
            let writing = Descriptor(ends[1])
            child = clinux_fork_keeping(writing.number)
            if child == 0 { Self.readAndExit(process, file) }
        }
        guard child > 0 else { return nil }
        // Nobody waits for the child: with SIGCHLD ignored the kernel collects it.
        guard let handle = ProcessHandle(opening: child) else { return Self.collect(reading, from: child) }
        let bytes = Self.collect(reading, from: child)
        if bytes == nil { handle.signal(SIGKILL) }
        if handle.isAlive { children.append(handle) }
        return bytes
    }

    /// In the child: writes a byte to descriptor 3 once the process waits in execve, then the exec request and a final 1.
    private static func readAndExit(_ process: Int32, _ file: FileIdentity) -> Never {
        let execRequest = ExecRequest.read(from: process) {
            var byte: UInt8 = 0
            if write(3, &byte, 1) != 1 { _exit(1) }
        }
        guard let execRequest, execRequest.file(in: process) == file else { _exit(1) }
        var rest = (execRequest.encoded + [1])[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(3, $0.baseAddress!, $0.count) }
            guard count > 0 else { _exit(1) }
            rest = rest.dropFirst(count)
        }
        _exit(0)
    }

    private static func collect(_ reading: Descriptor, from child: Int32) -> [UInt8]? {
        let last = Timetable.now + UInt64(patienceOnBusyComputer) * 1_000_000
        // A process that does not wait in execve yet only waits for the processor.
        var (deadline, waitsInExecve) = (last, false)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let now = Timetable.now
            let isOver =
                now >= deadline && (now >= last || ProcessFacts.status(child)?.state != UInt8(ascii: "R"))
            if now >= deadline { deadline = now + 1_000_000 }
            // Once it is over, what has arrived is still read: the gate itself may have been suspended until now.
            var waiting = pollfd(fd: reading.number, events: Int16(POLLIN), revents: 0)
            let events = poll(&waiting, 1, isOver ? 0 : Int32((deadline - now) / 1_000_000) + 1)
            guard events > 0 || events == 0 && !isOver else { return nil }
            if events == 0 { continue }
            let count = Glibc.read(reading.number, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            if count == 0 { return bytes.popLast() == 1 ? bytes : nil }
            bytes += buffer[..<count]
            if !waitsInExecve {
                waitsInExecve = true
                bytes.removeFirst()
                deadline = Timetable.now + UInt64(patience) * 1_000_000
            }
        }
    }
}
