import ArgumentParser
import ControlAPI
import Foundation
import LocalControl
import Supervisor

struct UpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Start AppLocker: the gate, the daemon and a hub, until Ctrl-C.",
        discussion: """
            As root the kernel holds launches. As an ordinary user, sudo starts the gate alone; without sudo, or with --user-mode, it runs in the WEAK MODE: a locked app is noticed only after it has started, and stopped.

            The hub for phones listens on this computer alone (127.0.0.1:8440, or the next free \
            port) until you open it: docs/operations.md.

            With --state everything is below that directory, including the control socket: other commands find it with \
            --socket DIR/control.sock or APPLOCKER_SOCKET. Several can run side by side.

              sudo applocker up
              applocker up --user-mode --state /tmp/try &
              applocker status --socket /tmp/try/control.sock
            """)

    @Option(
        help: ArgumentHelp(
            "The state directory.",
            discussion: "Default: /var/lib/applocker for root, else ~/.local/state/applocker.", valueName: "dir"),
        completion: .directory)
    var state: String?
    @Flag(help: "Run without root, in the weak mode.")
    var userMode = false
    @Flag(help: "Start no hub.")
    var noHub = false
    @Option(help: ArgumentHelp("Where the hub listens.", valueName: "host:port"))
    var hubListen: String?

    func validate() throws {
        if let hubListen {
            guard !noHub else { throw ValidationError("Use --hub-listen or --no-hub, not both.") }
            guard let port = hubListen.split(separator: ":").last.flatMap({ UInt16($0) }), port > 0,
                hubListen.contains(":")
            else { throw ValidationError("--hub-listen takes HOST:PORT, not \"\(hubListen)\".") }
        }
        if let state, state.isEmpty { throw ValidationError("--state takes a directory.") }
    }

    func run() async throws {
        let directory = state.map { StateDirectory(path: $0) } ?? .standard()
        let configuration = SupervisorConfiguration(
            stateDirectory: directory, executables: try .besideThisOne(), isUserMode: userMode, isWithoutHub: noHub,
            hubListen: hubListen)
        let isStandard = state == nil
        try await Supervisor.run(configuration) { _ in
            await Self.greet(directory, isStandard: isStandard, report: configuration.report)
        }
    }

    /// Prints what to do next, with a command that can be copied.
    private static func greet(
        _ directory: StateDirectory, isStandard: Bool, report: @Sendable (String) -> Void
    ) async {
        report("AppLocker is running; its control socket is \(directory.controlSocket).")
        let client = ControlClient(socketPath: directory.controlSocket)
        let option = isStandard ? "" : " --socket \(directory.controlSocket)"
        guard let status = try? await client.call(\.status) else { return }
        for sentence in status.degraded { report("DEGRADED: \(sentence.terminalSafe)") }
        if !status.isSetUp { report("Next, in another terminal: applocker setup\(option)") }
    }
}

/// What `applocker up` starts through sudo. Not for users.
struct HoldGateSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: HoldGateCommand.name,
        abstract: "Hold the gate for `applocker up`, which starts this through sudo.", shouldDisplay: false)

    @Option var gate: String
    @Option var socket: String
    @Option var daemonUid: UInt32
    @Option var daemonExecutable: String

    func run() async throws {
        let command = HoldGateCommand(
            gate: gate, socket: socket, daemonUser: daemonUid, daemonExecutable: daemonExecutable)
        try await command.run()
    }
}
