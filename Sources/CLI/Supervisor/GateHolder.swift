import CLinux
import Foundation

/// The root half of `applocker up`: starts the gate, keeps its fanotify group across its deaths, and restarts it.
///
/// It never closes the group by accident: if it dies, the gate still has its own descriptor and denies launches. The
/// next holder takes the group from that gate before it replaces it.
final class GateHolder: Sendable {
    /// The gate's parameters.
    struct Configuration: Sendable {
        /// Absolute path of `applocker-gate`.
        var gate: String
        /// The socket on which the gate listens for the daemon.
        var socket: String
        /// The only user whose process may be the daemon.
        var daemonUser: uid_t
        /// The only program that may be the daemon. Nil for a weak gate, which lacks the right to check it: only root
        /// may inspect the daemon. A process of that user could end a weak gate anyway.
        var daemonExecutable: String?
        /// The socket to which the gate sends its descriptors. In a directory that only this process' user can change.
        var notifySocket: String
        /// Without holding launches in the kernel.
        var isWeak = false
        /// A gate that is silent for this long hangs: it is killed, and the next one denies the held launches.
        var longestSilence: Duration = .seconds(20)

        var arguments: [String] {
            (isWeak ? ["--weak"] : []) + ["--socket", socket, "--daemon-uid", String(daemonUser)]
                + (daemonExecutable.map { ["--daemon-executable", $0] } ?? [])
        }
    }

    /// The name under which the group of an earlier gate is passed to the next.
    static let groupName = "fanotify"

    private let store: FanotifyDescriptorStore
    private let process: SupervisedProcess
    private let watchdog: Task<Void, Never>

    /// Replaces a gate that an earlier run left, without a gap, and starts the new one. Blocks until the old one has
    /// died, at most two seconds.
    init(_ configuration: Configuration, report: @escaping @Sendable (String) -> Void) throws(SupervisorError) {
        let store = try FanotifyDescriptorStore(socketPath: configuration.notifySocket, report: report)
        if !configuration.isWeak && geteuid() == 0 {
            do throws(SupervisorError) {
                try Self.takeOver(socket: configuration.socket, into: store, report: report)
            } catch {
                store.close()
                throw error
            }
        }
        self.store = store
        let process = SupervisedProcess(
            .init(
                name: "gate", policy: .gate,
                launch: { () throws(SupervisorError) in
                    try store.start { (stored) throws(SupervisorError) in
                        try Self.launch(configuration, stored: stored, notifySocket: store.socketPath).start()
                    }
                },
                isReady: { store.isReady }, ended: { store.childEnded() }),
            report: report)
        self.process = process
        watchdog = Task {
            var wait = configuration.longestSilence
            while (try? await Task.sleep(for: wait)) != nil {
                // Wakes only when the silence could be too long.
                wait = configuration.longestSilence - (store.silence ?? .zero)
                guard wait <= .zero else { continue }
                report("The gate has sent no watchdog signal for \(configuration.longestSilence); killed.")
                process.kill()
                wait = configuration.longestSilence  // the next one's first sign
            }
        }
    }

    deinit { watchdog.cancel() }

    private static func launch(
        _ configuration: Configuration, stored: [FanotifyDescriptorStore.Stored], notifySocket: String
    ) -> ChildLaunch {
        ChildLaunch(
            executable: configuration.gate, arguments: configuration.arguments,
            // Nothing of the caller's environment: the gate may run as root for another user.
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NOTIFY_SOCKET": notifySocket,
                "WATCHDOG_USEC": String(Int(configuration.longestSilence / .microseconds(1))),
            ],
            standardDescriptors: [NullDevice.descriptor, STDERR_FILENO, STDERR_FILENO], handedOver: stored,
            // The gate that holds launches must outlive a killed supervisor, to deny launches. The weak one holds
            // nothing.
            parentDeathSignal: configuration.isWeak ? SIGKILL : 0)
    }

    private static func takeOver(
        socket: String, into store: FanotifyDescriptorStore, report: (String) -> Void
    ) throws(SupervisorError) {
        for gate in RunningProcess.ofRoot(program: "applocker-gate", arguments: ["--socket", socket]) {
            _ = try gate.withHandle { (handle) throws(SupervisorError) in
                for group in try gate.takeFanotifyGroups(through: handle) { store.keep(group, name: groupName) }
                gate.kill(through: handle)
                report("Replaced the gate of an earlier run (process \(gate.pid)).")
            }
        }
    }

    /// The gate's process number; nil between two runs.
    var pid: pid_t? { process.pid }

    /// Whether the gate reports that it works.
    var isReady: Bool { store.isReady }

    var stored: [FanotifyDescriptorStore.Stored] { store.stored }

    /// Waits until the gate reports that it works. False if it doesn't within `timeout`.
    func waitUntilReady(timeout: Duration) async -> Bool {
        let end = ContinuousClock.now + timeout
        while ContinuousClock.now < end && !Task.isCancelled {
            if isReady { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return isReady
    }

    /// Ends the gate, then closes the group: from then on locked apps start without a prompt.
    func stop() async {
        watchdog.cancel()
        await process.stop()
        store.close()
    }
}

/// The null device, opened once for all children.
enum NullDevice {
    static let descriptor = open("/dev/null", O_RDWR | O_CLOEXEC)
}
