import CLinux
import Glibc

/// The gate's side of systemd's descriptor store, which `applocker up` implements too: the parent holds a duplicate of
/// the fanotify descriptor and expects watchdog signals (sd_listen_fds(3), sd_notify(3)).
final class DescriptorStore {
    static let name = "fanotify"
    private let socket: Descriptor
    private let address: String

    /// Nil if the environment names no such parent.
    init?() {
        guard let value = getenv("NOTIFY_SOCKET") else { return nil }
        let address = String(cString: value)
        guard let first = address.utf8.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@") else {
            return nil
        }
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        self.address = address
        socket = Descriptor(number)
    }

    /// The descriptor of an earlier run, as the parent passes it on. Others that it passes on stay open: closing the
    /// last descriptor of a fanotify group releases the launches that it holds.
    static func inherited() -> Descriptor? {
        defer {
            unsetenv("LISTEN_FDS")
            unsetenv("LISTEN_PID")
            unsetenv("LISTEN_FDNAMES")
        }
        guard let owner = getenv("LISTEN_PID"), strtol(owner, nil, 10) == Int(getpid()),
            let count = getenv("LISTEN_FDS").map({ strtol($0, nil, 10) }), count > 0, count <= 1024
        else { return nil }
        let names = getenv("LISTEN_FDNAMES").map { String(cString: $0) } ?? ""
        let named = names.split(separator: ":", omittingEmptySubsequences: false)
        var found: Descriptor?
        for index in 0..<count {
            let number = Int32(3 + index)
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            guard found == nil, index < named.count, named[index] == name, isGroup(number) else { continue }
            found = Descriptor(number)
        }
        return found
    }

    private static func isGroup(_ number: Int32) -> Bool {
        ProcessFacts.readLink(Array("/proc/self/fd/\(number)".utf8)) == Array("anon_inode:[fanotify]".utf8)
    }

    /// Sends the parent a duplicate, and returns once the parent has received it.
    func hold(_ group: Descriptor) throws(GateError) {
        try send("FDSTORE=1\nFDNAME=\(Self.name)\nFDPOLL=0", with: group.number)
        // The parent closes its end of the pipe after all messages that were sent before it.
        var ends: [Int32] = [-1, -1]
        let failure = clinux_pipe(&ends)
        guard failure == 0 else { throw GateError(.kernel, "pipe2 failed", cause: failure) }
        let reading = Descriptor(ends[0])
        do {
            let writing = Descriptor(ends[1])
            try send("BARRIER=1", with: writing.number)
        }
        var waiting = pollfd(fd: reading.number, events: 0, revents: 0)
        guard poll(&waiting, 1, 10_000) == 1, waiting.revents & Int16(POLLHUP) != 0 else {
            throw GateError(
                .descriptorStore,
                "The service manager did not confirm within 10 s that it holds the gate's descriptor; nothing was locked. "
                    + "It must support systemd's descriptor store: FileDescriptorStoreMax=1 and NotifyAccess=main.")
        }
    }

    func send(_ state: String, with descriptor: Int32 = -1) throws(GateError) {
        let bytes = Array(state.utf8)
        let failure = clinux_notify(socket.number, address, bytes, bytes.count, descriptor)
        guard failure == 0 else {
            throw GateError(.descriptorStore, "The service manager at NOTIFY_SOCKET does not listen", cause: failure)
        }
    }

    /// At most a day, so that adding the interval to the current time can't overflow.
    static func interval(ofAllowedMicroseconds allowed: UInt64) -> UInt64? {
        allowed >= 2 ? min(allowed, 86_400_000_000) * 500 : nil
    }

    /// The interval between watchdog signals in nanoseconds: half of what the parent allows. Nil if it expects none.
    static var watchdogInterval: UInt64? {
        guard let value = getenv("WATCHDOG_USEC") else { return nil }
        if let owner = getenv("WATCHDOG_PID"), strtol(owner, nil, 10) != Int(getpid()) { return nil }
        return interval(ofAllowedMicroseconds: UInt64(strtoull(value, nil, 10)))
    }
}
