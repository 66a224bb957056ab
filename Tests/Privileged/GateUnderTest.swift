import CLinux
import Foundation
import GateProtocol
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// Every test that runs a real gate on the real kernel. One after the other: they measure times, and some kill the
/// gate, which would disturb another.
@Suite(.serialized, .requires(.root, .fanotify, .program("cc")))
struct GateTests {}

/// The real `applocker-gate`, with a service manager that holds its descriptor.
final class GateUnderTest: Sendable {
    let directory: TemporaryDirectory
    let store: HoldingServiceManager
    let socketPath: String
    private let program: String
    private let arguments: [String]
    private let user: uid_t?
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts a gate and waits until it is ready.
    /// - Parameter isUndisturbed: what others mount, create or search meanwhile does not wake it up.
    init(_ arguments: [String] = [], user: uid_t? = nil, isUndisturbed: Bool = false) async throws {
        // The gate watches every directory above a program. Browsers and tests create files in /tmp, not in /var/lib.
        directory = try TemporaryDirectory(in: isUndisturbed ? "/var/lib" : "/tmp")
        chmod(directory.path, 0o755)
        let sockets = directory.path("run")
        mkdir(sockets, 0o755)
        if let user { chown(sockets, user, user) }
        socketPath = sockets + "/gate.sock"
        store = try HoldingServiceManager(socketPath: sockets + "/notify")
        if let user { chown(sockets + "/notify", user, user) }
        let gate = try BuiltProducts.path("applocker-gate")
        let arguments = ["--socket", socketPath, "--daemon-uid", "\(user ?? 0)"] + arguments
        if isUndisturbed {
            let identity = user.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
            program = "/usr/bin/unshare"
            self.arguments = ["--mount", "--propagation=private"] + identity + [gate] + arguments
            self.user = nil
        } else {
            (program, self.arguments, self.user) = (gate, arguments, user)
        }
        try await start()
    }

    var pid: pid_t { process.withLock { $0?.pid ?? 0 } }
    var isRunning: Bool { process.withLock { $0?.isRunning ?? false } }
    var errorOutput: String { process.withLock { $0?.errorOutput ?? "" } }

    /// Starts the gate (again), with the descriptors that the service manager holds.
    func start() async throws {
        let before = store.readyCount
        var environment = ["PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": store.socketPath]
        var descriptors: [Int32: Int32] = [:]
        let kept = store.kept
        if !kept.isEmpty {
            environment["LISTEN_FDS"] = "\(kept.count)"
            environment["LISTEN_FDNAMES"] = kept.map(\.name).joined(separator: ":")
            environment["LISTEN_PID"] = ""
            for (index, entry) in kept.enumerated() { descriptors[3 + Int32(index)] = entry.descriptor }
        }
        let child = try ChildProcess(
            program, arguments, environment: environment, descriptors: descriptors, user: user)
        process.withLock { $0 = child }
        await eventually("the gate is ready; output: \(child.errorOutput)") {
            self.store.readyCount > before || !child.isRunning
        }
        try #require(child.isRunning, "the gate ended: \(child.errorOutput)")
    }

    /// SIGKILL, as the out-of-memory killer would, and waits until it has ended.
    func kill() async throws {
        let child = process.withLock { $0 }
        child?.kill(SIGKILL)
        try await child?.wait()
    }

    /// Connects as the daemon does.
    func connect(
        answering: @escaping @Sendable (LaunchQuestion) -> Bool? = { _ in nil }
    ) async throws -> DaemonUnderTest {
        let daemon = try DaemonUnderTest(socketPath: socketPath, answering: answering)
        daemon.send(.hello(version: GateProtocol.version))
        return daemon
    }
}

/// The part of systemd that holds a descriptor for a service (sd_notify(3), FDSTORE=1) and passes it to the next start.
final class HoldingServiceManager: Sendable {
    struct Kept: Sendable {
        var name: String
        var descriptor: Int32
    }

    private struct State {
        var kept: [Kept] = []
        var readyCount = 0
        /// What was sent, in order; a barrier as "BARRIER=1".
        var log: [String] = []
    }

    let socketPath: String
    private let state = Mutex(State())
    private let socket: Int32

    init(socketPath: String) throws {
        var failure: Int32 = 0
        socket = clinux_notify_socket_open(socketPath, &failure)
        guard socket >= 0 else { throw POSIXError(.init(rawValue: failure) ?? .EIO) }
        self.socketPath = socketPath
        let (socket, weakSelf) = (socket, WeakReference(self))
        Thread.detachNewThread {
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            while true {
                _ = poll(&waiting, 1, 100)
                guard let manager = weakSelf.value else { break }
                while manager.receiveNotification() {}
            }
            close(socket)
        }
    }

    deinit { closeDescriptors() }

    /// Closes its descriptors. With the last duplicate of a group the kernel removes its marks and allows held launches.
    func closeDescriptors() {
        let kept = state.withLock { state in
            defer { state.kept = [] }
            return state.kept
        }
        for entry in kept { close(entry.descriptor) }
    }

    var kept: [Kept] { state.withLock { $0.kept } }
    var readyCount: Int { state.withLock { $0.readyCount } }
    var log: [String] { state.withLock { $0.log } }

    private func receiveNotification() -> Bool {
        var buffer = [CChar](repeating: 0, count: 4096)
        var received = clinux_notification()
        guard clinux_notify_socket_receive(socket, &buffer, buffer.count, &received) == 0 else { return false }
        let text = String(decoding: buffer[..<received.length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let count = received.descriptor_count
        let descriptors = withUnsafeBytes(of: received.descriptors) { Array($0.bindMemory(to: Int32.self)[..<count]) }
        state.withLock { state in
            state.log.append(text)
            let lines = text.split(separator: "\n")
            if lines.contains("READY=1") { state.readyCount += 1 }
            let name = lines.first { $0.hasPrefix("FDNAME=") }.map { String($0.dropFirst(7)) }
            for descriptor in descriptors {
                if lines.contains("FDSTORE=1"), let name {
                    state.kept.append(Kept(name: name, descriptor: descriptor))
                } else {
                    close(descriptor)
                }
            }
        }
        return true
    }
}

private final class WeakReference<Value: AnyObject & Sendable>: @unchecked Sendable {
    // Written once, before it is shared; reading a weak reference is atomic.
    private(set) weak var value: Value?
    init(_ value: Value) { self.value = value }
}
