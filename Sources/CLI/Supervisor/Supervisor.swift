import CLinux
import Foundation

/// Runs `applocker up`: the gate first, then the daemon, each restarted whenever it dies.
public enum Supervisor {
    /// The daemon's exit code if the owner stopped it with the passcode: then everything ends.
    public static let stoppedByOwner: Int32 = 3

    /// Runs until SIGINT or SIGTERM, until the owner stops it with the passcode, or until the task is cancelled. Then
    /// it ends the daemon first and the gate last.
    ///
    /// - Parameter ready: called once, when the daemon answers on the control socket, with the enforcement. It has no
    ///   time limit; it is cancelled when the run ends.
    ///
    /// - Throws: `SupervisorError`, before anything has been started: `alreadyRunning`, `stateDirectory`,
    ///   `executableMissing`, `socket`, `notPermitted`.
    public static func run(
        _ configuration: SupervisorConfiguration, ready: @escaping @Sendable (Enforcement) async -> Void = { _ in }
    ) async throws(SupervisorError) {
        try configuration.stateDirectory.prepare()
        let lock = try StateLock(configuration.stateDirectory)
        defer { withExtendedLifetime(lock) {} }
        let (end, sender) = AsyncStream<Void>.makeStream()
        let signals = await TerminationSignals(ends: [SIGINT, SIGTERM], ignores: [SIGHUP, SIGPIPE]) { sender.finish() }
        defer { signals.cancel() }

        let (gate, enforcement) = try await RunningGate.start(configuration)
        configuration.report(words(for: enforcement))
        let hubChild = HubChild(configuration)
        let hub = hubChild?.start(report: configuration.report)
        let daemon = startDaemon(configuration, hub: hubChild) { sender.finish() }
        let greeting = Task {
            guard await isAnswering(configuration.stateDirectory.controlSocket) else { return }
            if let hubChild { configuration.report(Self.words(for: hubChild)) }
            await ready(enforcement)
        }
        for await _ in end {}  // finishes on a signal, and when the task is cancelled

        greeting.cancel()
        configuration.report("Stopping the daemon; launches of locked apps are denied from now on.")
        await daemon.stop()
        await hub?.stop()
        await gate.stop()
        configuration.report("AppLocker has stopped: locked apps start without a prompt until it runs again.")
    }

    private static func words(for enforcement: Enforcement) -> String {
        switch enforcement {
        case .held: "The kernel holds launches of locked apps."
        case .weak(let reason):
            "WEAK MODE: locked apps are detected and stopped only after they start. \(reason)"
        }
    }

    private static func words(for hub: HubChild) -> String {
        "A hub runs on \(hub.listen). `applocker pair` shows how a phone can reach it."
    }

    private static func startDaemon(
        _ configuration: SupervisorConfiguration, hub: HubChild?, whenStopped: @escaping @Sendable () -> Void
    ) -> SupervisedProcess {
        let directory = configuration.stateDirectory
        // A library named by the caller's environment must not be loaded into the process that holds the keys.
        let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LD_") }
        let launch = ChildLaunch(
            executable: configuration.executables.daemon,
            arguments: ["--state", directory.path] + (hub.map { ["--hub", $0.address] } ?? ["--no-hub"]),
            environment: environment,
            standardDescriptors: [NullDevice.descriptor, STDERR_FILENO, STDERR_FILENO],
            // Without its supervisor the gate denies; a remaining daemon would only block the next one.
            parentDeathSignal: SIGTERM)
        return SupervisedProcess(
            .init(
                name: "daemon", policy: .daemon, launch: { () throws(SupervisorError) in try launch.start() },
                startsAgain: { exitCode in
                    guard exitCode == stoppedByOwner else { return true }
                    whenStopped()
                    return false
                }),
            report: configuration.report)
    }

    /// Waits until a process accepts connections at the socket. False if the task is cancelled first.
    private static func isAnswering(_ socket: String) async -> Bool {
        while !Task.isCancelled {
            if clinux_socket_accepts(socket) { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}

/// The gate of this run, a child of this process or of sudo's.
enum RunningGate {
    case own(GateHolder)
    case sudo(SudoGate)

    func stop() async {
        switch self {
        case .own(let holder): await holder.stop()
        case .sudo(let gate): await gate.stop()
        }
    }

    /// Starts the strongest gate that this user may have.
    static func start(
        _ configuration: SupervisorConfiguration
    ) async throws(SupervisorError) -> (RunningGate, Enforcement) {
        if configuration.isUserMode { return try await weak(configuration, reason: "It was requested (--user-mode).") }
        guard geteuid() == 0 else { return try await throughSudo(configuration) }
        let refusal = clinux_try_launch_hold(configuration.executables.gate)
        guard refusal == 0 else {
            return try await weak(
                configuration,
                reason:
                    "The kernel refuses to hold launches, even for root here (\(String(cString: strerror(refusal)))).")
        }
        return (.own(try await own(configuration, isWeak: false)), .held)
    }

    private static func throughSudo(
        _ configuration: SupervisorConfiguration
    ) async throws(SupervisorError) -> (RunningGate, Enforcement) {
        let places: [String] = ["/usr/bin/sudo", "/usr/local/bin/sudo", "/bin/sudo"]
        guard let sudo = places.first(where: { access($0, X_OK) == 0 }) else {
            return try await weak(
                configuration, reason: "Holding launches needs root, and sudo is not installed.")
        }
        configuration.report("Holding launches needs root: using sudo for the gate alone.")
        let command = HoldGateCommand(
            gate: configuration.executables.gate, socket: configuration.stateDirectory.gateSocket,
            daemonUser: geteuid(), daemonExecutable: configuration.executables.daemon)
        let gate = await SudoGate.start(
            sudo: sudo, command: command, applocker: configuration.executables.applocker, report: configuration.report)
        if let gate { return (.sudo(gate), .held) }
        return try await weak(configuration, reason: "Holding launches needs root, and sudo did not start the gate.")
    }

    private static func weak(
        _ configuration: SupervisorConfiguration, reason: String
    ) async throws(SupervisorError) -> (RunningGate, Enforcement) {
        (.own(try await own(configuration, isWeak: true)), .weak(reason: reason))
    }

    private static func own(
        _ configuration: SupervisorConfiguration, isWeak: Bool
    ) async throws(SupervisorError) -> GateHolder {
        let directory = configuration.stateDirectory
        let holder = try GateHolder(
            .init(
                gate: configuration.executables.gate, socket: directory.gateSocket, daemonUser: geteuid(),
                daemonExecutable: isWeak ? nil : configuration.executables.daemon,
                notifySocket: directory.notifySocket, isWeak: isWeak),
            report: configuration.report)
        // The daemon starts second, and itself waits for a gate that isn't ready yet.
        _ = await holder.waitUntilReady(timeout: .seconds(5))
        return holder
    }
}
