import CLinux
import Foundation
import Synchronization

/// Keeps the gate's fanotify group alive across the gate's death.
///
/// When the last descriptor of a fanotify group closes, the kernel lets every held launch continue. So the gate leaves
/// a duplicate here (FDSTORE=1, as with systemd's descriptor store) and its next start receives it (LISTEN_FDS):
/// launches stay held in between. Only datagrams of the child that `start` started are accepted, by the credentials
/// that the kernel attaches to each.
///
/// Thread-safe; a thread of its own reads the socket.
final class FanotifyDescriptorStore: Sendable {
    struct Stored: Equatable {
        var name: String
        var descriptor: Int32
    }

    private struct State {
        var stored: [Stored] = []
        var child: pid_t = 0
        var isReady = false
        var status: String?
        /// The running child's last WATCHDOG=1; nil before the first.
        var lastSignOfLife: SuspendingClock.Instant?
        var isClosed = false
    }

    /// The most descriptors; more are refused and closed.
    static let capacity = 16

    let socketPath: String
    private let socket: Int32
    private let wakeUp: (read: Int32, write: Int32)
    private let state = Mutex(State())
    private let report: @Sendable (String) -> Void

    /// Binds the notification socket. Throws `SupervisorError.Code.socket`.
    init(socketPath: String, report: @escaping @Sendable (String) -> Void) throws(SupervisorError) {
        var failure: Int32 = 0
        let socket = clinux_notify_socket_open(socketPath, &failure)
        guard socket >= 0 else {
            throw SupervisorError(.socket, "Cannot create the notification socket \(socketPath).", cause: failure)
        }
        var ends: [Int32] = [-1, -1]
        let pipeFailure = clinux_pipe(&ends)
        guard pipeFailure == 0 else {
            Glibc.close(socket)
            throw SupervisorError(.socket, "Cannot watch the notification socket \(socketPath).", cause: pipeFailure)
        }
        self.socketPath = socketPath
        self.socket = socket
        self.wakeUp = (ends[0], ends[1])
        self.report = report
        Thread.detachNewThread { [self] in readUntilClosed() }
    }

    var stored: [Stored] { state.withLock { $0.stored } }
    /// Whether the running child has sent READY=1.
    var isReady: Bool { state.withLock { $0.isReady } }
    /// The running child's last STATUS=.
    var status: String? { state.withLock { $0.status } }
    /// The time since the running child's last WATCHDOG=1, without time in suspend. Nil before its first one, because
    /// only a child that sends them can be missed.
    var silence: Duration? { state.withLock { $0.lastSignOfLife?.duration(to: .now) } }

    /// Stores a descriptor from another source; the store owns it from now on.
    func keep(_ descriptor: Int32, name: String) {
        state.withLock { keep(descriptor, name: name, in: &$0) }
    }

    /// Starts the child with everything that is stored: `launch` gets the descriptors in the order of their numbers
    /// from 3 up, and returns the child's process number. From then on only that child's datagrams are accepted.
    func start(_ launch: ([Stored]) throws(SupervisorError) -> pid_t) throws(SupervisorError) -> pid_t {
        // Under the lock, so that no datagram of the child is read before its number is stored.
        try state.withLock { state throws(SupervisorError) in
            state.child = try launch(state.stored)
            state.isReady = false
            state.status = nil
            state.lastSignOfLife = nil
            return state.child
        }
    }

    /// Receives everything that the child sent before its death. Call it after the child has ended and before its
    /// number is released: a descriptor still in the socket would otherwise be lost, and the gate open.
    func childEnded() {
        state.withLock {
            drain(&$0)
            $0.child = 0
        }
    }

    /// Closes everything that is stored: launches that are still held then continue.
    func close() {
        state.withLock {
            guard !$0.isClosed else { return }
            $0.isClosed = true
            for stored in $0.stored { Glibc.close(stored.descriptor) }
            $0.stored = []
            unlink(socketPath)
            Glibc.close(wakeUp.write)
        }
    }

    private func readUntilClosed() {
        while true {
            var waiting = [
                pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&waiting, 2, -1) < 0 && errno != EINTR { break }
            if waiting[1].revents != 0 { break }
            state.withLock { drain(&$0) }
        }
        Glibc.close(socket)
        Glibc.close(wakeUp.read)
    }

    private func drain(_ state: inout State) {
        guard !state.isClosed else { return }
        var buffer = [UInt8](repeating: 0, count: Notification.maximumBytes)
        var received = clinux_notification()
        while true {
            let result = buffer.withUnsafeMutableBytes {
                clinux_notify_socket_receive(
                    socket, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count, &received)
            }
            guard result == 0 else { return }
            handle(buffer[..<received.length], received, into: &state)
        }
    }

    private func handle(_ text: ArraySlice<UInt8>, _ received: clinux_notification, into state: inout State) {
        let count = received.descriptor_count
        var descriptors = withUnsafeBytes(of: received.descriptors) { Array($0.bindMemory(to: Int32.self)[..<count]) }
        defer { for descriptor in descriptors { Glibc.close(descriptor) } }

        let isOwnUser = received.uid == 0 || received.uid == geteuid()
        guard state.child != 0, received.pid == state.child, isOwnUser else {
            report(
                "Process \(received.pid) of user \(received.uid) sent something to the gate's notification socket; "
                    + "refused, because it is not the gate.")
            return
        }
        guard !received.truncated, let notification = Notification(text) else {
            report("The gate sent a notification that could not be read; refused.")
            return
        }
        // Returning closes the descriptor of BARRIER=1, which signals the sender that all earlier messages were
        // received.
        if notification.isBarrier { return }
        if notification.isReady { state.isReady = true }
        if notification.isAlive { state.lastSignOfLife = .now }
        if let status = notification.status { state.status = status }
        if notification.removesDescriptors { remove(notification.descriptorName, from: &state) }
        if notification.storesDescriptors {
            for descriptor in descriptors { keep(descriptor, name: notification.descriptorName, in: &state) }
            descriptors = []
        }
    }

    private func keep(_ descriptor: Int32, name: String, in state: inout State) {
        // Every start of the gate stores the same group again.
        let isKnown = state.stored.contains {
            $0.name == name && clinux_same_open_file($0.descriptor, descriptor)
        }
        if isKnown || state.isClosed {
            Glibc.close(descriptor)
        } else if state.stored.count == Self.capacity {
            Glibc.close(descriptor)
            report("The gate left more than \(Self.capacity) descriptors; the one named \(name) was refused.")
        } else {
            state.stored.append(Stored(name: name, descriptor: descriptor))
        }
    }

    private func remove(_ name: String, from state: inout State) {
        for stored in state.stored where stored.name == name { Glibc.close(stored.descriptor) }
        state.stored.removeAll { $0.name == name }
    }
}
