import CLinux
import GateProtocol
import Glibc
import Testing

@testable import LaunchGate

/// Simulated permission events, and the gate's answers to them.
final class SimulatedEvents: PermissionEventSource {
    let descriptor: Descriptor
    private let writing: Descriptor
    private var waiting: [PermissionEvent] = []
    /// The event of each descriptor, counted from 0.
    private var numbers: [Int32: Int] = [:]
    private var count = 0
    /// By event. One that has no answer yet is held.
    private(set) var answers: [Int: Bool] = [:]
    private(set) var marked: Set<FileIdentity> = []
    /// Files with a mark of an earlier gate.
    var formerlyMarked: Set<FileIdentity> = []

    init() {
        var ends: [Int32] = [-1, -1]
        #expect(clinux_pipe(&ends) == 0)
        (descriptor, writing) = (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    /// A process begins to execute a file, or to open it.
    /// - Returns: the event's number.
    func add(_ path: String, by process: ProcessHandle, isExecution: Bool = true) -> Int {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        #expect(file >= 0)
        defer { count += 1 }
        numbers[file] = count
        waiting.append(PermissionEvent(source: self, file: file, handle: process, isExecution: isExecution))
        #expect(write(writing.number, "+", 1) == 1)
        return count
    }

    func readEvents(_ body: (PermissionEvent) -> Void) -> Bool {
        guard !waiting.isEmpty else { return false }
        var byte: UInt8 = 0
        #expect(read(descriptor.number, &byte, 1) == 1)
        body(waiting.removeFirst())
        return true
    }

    func answer(_ file: Int32, allow: Bool) {
        guard let number = numbers[file] else { return }
        answers[number] = allow
    }

    func mark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool) -> Int32 {
        marked.insert(identity)
        return 0
    }

    func unmark(_ path: Descriptor, _ identity: FileIdentity, isDirectory: Bool) {}

    func unmark(_ event: PermissionEvent) -> Bool {
        FileIdentity(descriptor: event.file).map { formerlyMarked.remove($0) != nil } ?? false
    }

    func unmarkDirectory(_ path: Descriptor) -> Bool { false }
}

/// An overlay guard in memory.
final class SimulatedOverlayGuard: OverlayGuard {
    var files: Set<FileIdentity> = []
    /// The errno of each attempt to add a file; 0 adds it.
    var refusal: Int32 = 0

    func add(_ path: Descriptor) -> Int32 {
        guard refusal == 0, let file = FileIdentity(descriptor: path.number) else { return refusal }
        files.insert(file)
        return 0
    }

    func remove(_ file: Int32) {
        guard let file = FileIdentity(descriptor: file) else { return }
        files.remove(file)
    }
}

/// A process that launches apps: it sleeps until it is killed.
final class LaunchingProcess {
    let handle: ProcessHandle
    var number: Int32 { handle.process }

    /// - Parameter asOrdinaryUser: as `nobody`, where the tests run as root.
    init(asOrdinaryUser: Bool = false) throws {
        var process: pid_t = 0
        let user = asOrdinaryUser && getuid() == 0 ? ["setpriv", "--reuid=65534", "--clear-groups"] : []
        let arguments = (user + ["sleep", "1000"]).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawnp(&process, arguments[0]!, nil, nil, arguments, environ) == 0)
        handle = try #require(ProcessHandle(opening: process))
        let end = Timetable.now + 60_000_000_000
        while asOrdinaryUser, ProcessFacts.users(process)?.real == 0 {
            try #require(Timetable.now < end, "setpriv changes the user")
            sched_yield()
        }
    }

    func kill() {
        handle.signal(SIGKILL)
        waitpid(number, nil, 0)
    }

    deinit { kill() }
}

/// A gate with simulated permission events and a simulated daemon. Its socket, its files and what it reads from /proc
/// are real.
final class GateUnderTest {
    let events = SimulatedEvents()
    let overlayGuard = SimulatedOverlayGuard()
    let gate: Gate
    let directory: String
    let app: String
    private var daemon: Descriptor?
    private var received: [GateMessage] = []

    /// - Parameters:
    ///   - knowsApp: whether the last daemon had the app on its list.
    ///   - signals: readable once the gate has to stop; nil for never.
    ///   - isNeeded: whether the gate stays then.
    ///   - addWatch: of a directory.
    init(
        knowsApp: Bool = false, signals: Descriptor? = nil, isNeeded: @escaping () -> Bool = { false },
        addWatch: @escaping FileWatch.AddWatch = FileWatch.add
    ) throws {
        var template = Array("/tmp/applocker-gate-XXXXXX".utf8CString)
        directory = String(cString: try #require(mkdtemp(&template)))
        app = directory + "/app"
        let program = open(app, O_WRONLY | O_CREAT | O_CLOEXEC, 0o755)
        try #require(program >= 0 && write(program, "#!/bin/true\n", 12) == 12)
        close(program)
        var configuration = GateConfiguration(socket: Array((directory + "/gate.sock").utf8), daemonUser: geteuid())
        if knowsApp {
            let path = directory + "/known-apps"
            let bytes = KnownApps.encoded([[(kind: .executable, path: Array(app.utf8))]])
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(file >= 0 && write(file, bytes, bytes.count) == bytes.count)
            close(file)
            configuration.knownApps = Array(path.utf8)
        }
        gate = try Gate(
            configuration,
            by: Gate.Mechanism(
                group: events, overlayGuard: overlayGuard, addWatch: addWatch,
                // One that watches nothing is never readable.
                signals: signals ?? Descriptor(inotify_init1(Int32(IN_CLOEXEC))), isNeeded: isNeeded))
        if knowsApp { gate.guardKnownApps() }
    }

    deinit {
        for name in ["app", "known-apps", "gate.sock"] { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    /// Runs the gate's loop until the condition holds, for at most 60 s.
    func turn(until condition: () -> Bool, _ location: SourceLocation = #_sourceLocation) throws {
        // Ends a turn without events.
        gate.timetable.add(.watchdog, after: 60_000_000_000)
        let end = Timetable.now + 60_000_000_000
        while !condition() {
            guard Timetable.now < end else {
                return #expect(Bool(false), "the gate did not do it within 60 s", sourceLocation: location)
            }
            try gate.runOnce()
        }
    }

    /// Whether the event is allowed, once it is answered.
    func answer(_ event: Int) throws -> Bool? {
        try turn { self.events.answers[event] != nil }
        return events.answers[event]
    }

    func connect() throws {
        let connection = Descriptor(socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (directory + "/gate.sock").utf8) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(connection.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        daemon = connection
        received = []
        send(.hello(version: GateProtocol.version))
    }

    func disconnect() { daemon = nil }

    /// Connects a daemon that has this app on its list.
    func synchronise(waitingPerUser: UInt32 = 64, milliseconds: UInt32 = 30_000) throws {
        try connect()
        send(.settings(answerWithinMilliseconds: milliseconds, maximumWaitingPerUser: waitingPerUser))
        send(.beginApp(1))
        send(.appPath(1, .executable, path: Array(app.utf8)))
        send(.commitApp(1, guarded: true, sequence: 1))
        send(.synchronised)
        try waitUntilRead()
    }

    /// Waits until the gate has handled everything that was sent.
    func waitUntilRead() throws {
        send(.ping(1))
        _ = try message { if case .pong = $0 { true } else { nil } }
    }

    func send(_ message: DaemonMessage) { send(message.encoded()) }

    func send(_ bytes: [UInt8]) {
        #expect(Glibc.send(daemon!.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// Waits for the first message for which `find` returns a value.
    func message<Value>(_ find: (GateMessage) -> Value?) throws -> Value? {
        var found: Value?
        try turn {
            self.receive()
            guard let index = self.received.firstIndex(where: { find($0) != nil }) else { return false }
            found = find(self.received.remove(at: index))
            return true
        }
        return found
    }

    func question() throws -> LaunchQuestion {
        try #require(try message { if case .launch(let question) = $0 { question } else { nil } })
    }

    func denied() throws -> LaunchQuestion {
        try #require(try message { if case .denied(let question) = $0 { question } else { nil } })
    }

    func ended() throws -> LaunchEnd? { try message { if case .ended(_, let end) = $0 { end } else { nil } } }

    private func receive() {
        guard let daemon else { return }
        var buffer = [UInt8](repeating: 0, count: GateProtocol.maximumMessageBytes)
        while case let count = recv(daemon.number, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
            guard let message = try? GateMessage(decoding: Array(buffer[..<count])) else { continue }
            received.append(message)
        }
    }
}
