import CLinux
import DaemonCore
import Foundation
import GateClient
import Glibc
import HubAPI
import HubClient
import IntruderCamera
import LocalControl
import ProcessHardening
import SealedFormats
import SealedStore
import ServiceLifecycle
import SessionSignals
import UnixSignals

/// The scrypt cost of a new passcode on this computer.
@Sendable func passcodeCost() throws -> ScryptCost {
    #if DEBUG
        // Tests use a cost below that of installed programs.
        if ScryptCost.minimum.logarithm < 17 { return .minimum }
    #endif
    return try .calibrated(clock: ContinuousClock())
}

/// Assembles the daemon: state on disk, gate, control socket.
func run() async throws {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    clinux_keep_heap_small()
    ControlServer.keepThreadsFew()
    try ProcessHardening.apply()
    // Each client is a descriptor.
    var files = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    files.rlim_cur = files.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    umask(0o077)
    // Before a user's thousand processes on a busy computer. Only root may; the service's unit sets the same.
    let ownProcess = __priority_which_t(PRIO_PROCESS.rawValue)
    if getpriority(ownProcess, 0) == 0 { setpriority(ownProcess, 0, -5) }

    let time = try SystemTime()
    let processes = SystemProcesses()
    let deviceKey = SecretFile(arguments.state + "/device-key")
    let machineSecret = SecretFile(arguments.state + "/machine-secret")
    let erasure = Erasure(state: arguments.state, keys: [machineSecret, deviceKey])
    try erasure.finishIfBegun()
    let signingKey = try DeviceSigningKey(privateKey: try deviceKey.load { DeviceSigningKey().privateKey })
    let database = try StateDatabase(path: arguments.state + "/applocker.sqlite", signingKey: signingKey)
    let authorizer = LaunchAuthorizer(time: time)
    let gate = GateClient(
        socketPath: arguments.gateSocket, authorizer: authorizer,
        knownApps: KnownAppsFile("\(arguments.state)/\(Erasure.knownApps)") { cause in
            let why = String(cString: strerror(cause))
            FileHandle.standardError.write(
                Data("applockerd: The list of apps for the gate's next start could not be written (\(why)).\n".utf8))
        },
        whenSynchronised: { ServiceManager.notifyReady() })
    let sessionSignals = LogindSignals()
    let ownDirectory = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path ?? ""
    // Where the package has Swift's libraries.
    let runtime = (try? FileManager.default.contentsOfDirectory(atPath: "\(ownDirectory)/swift")) ?? []
    let ownFiles =
        [
            "applocker", "applockerd", "applocker-gate", "applocker-picture", "applocker-prompt", "applocker-agent",
            "applocker-desktop", "applocker-hub",
        ].map {
            "\(ownDirectory)/\($0)"
        } + runtime.map { "\(ownDirectory)/swift/\($0)" }
    let daemon = Daemon(
        ports: Daemon.Ports(
            records: database, blobs: try BlobDirectory(path: arguments.state + "/blobs"), activity: database,
            resolver: CatalogResolver(processes: processes, ownFiles: ownFiles), gate: gate, time: time,
            directory: processes, sessionSignals: sessionSignals,
            household: HouseholdPorts(
                store: database, signingKey: signingKey, connect: { try HubClient($0, token: $1) },
                embeddedHub: arguments.hub),
            vaultReplicas: VaultDirectory(path: arguments.state + "/vaults"), makeCamera: { FFmpegCamera(input: $0) },
            inspectHost: { await HostReadings.findings() },
            eraseKeys: { try erasure.begin() },
            // The answer goes out first; the service manager then starts the daemon again, as new.
            restart: { DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { _exit(0) } },
            stop: {
                // `Supervisor.stoppedByOwner`, and RestartPreventExitStatus= of the service.
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { _exit(3) }
            }),
        authorizer: authorizer,
        machineSecret: try machineSecret.load(
            mayCreate: try await !Daemon.isSetUp(in: database),
            orMake: { .random(count: PasscodeVerifier.machineSecretLength) }),
        device: database.device, deviceName: ProcessInfo.processInfo.hostName,
        cost: passcodeCost, version: Release.version, ownUser: getuid(),
        ownProcess: getpid())
    try await daemon.load()
    // Refused where another daemon serves this state: the gate stays with that one.
    let server = try ControlServer(socketPath: arguments.state + "/control.sock", service: daemon.control)
        .makeService()
    gate.start()
    ServiceManager.notifyReady(atTheLatestAfter: 10)
    sessionSignals.start()
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await daemon.run() }
        group.addTask { try await server.run() }
        group.addTask {
            for await _ in signals {
                await daemon.finish()
                // What was acknowledged is on disk. The connections end with the process: a prompter's never ends by
                // itself, so to wait for them all would be to wait for ever.
                _exit(0)
            }
        }
        try await group.next()
        throw StartError.ended
    }
}

// Capabilities belong to a thread: before there is a second one.
_ = clinux_keep_capabilities_from_children()
do {
    try await run()
} catch is CancellationError {
} catch {
    FileHandle.standardError.write(Data("applockerd: \(error)\n".utf8))
    exit(1)
}
