import DBus
import Foundation
import HubAPI
import ProcessHardening

/// The main program of `applocker-agent`.
public enum AgentProgram {
    /// The bus name that the one agent of a session owns.
    static let busName = "org.applocker.Agent"

    static let usage = """
        Usage: applocker-agent [--socket PATH]

        Shows AppLocker in a desktop session: its icon in the tray, notifications, and the lock for inactivity. Runs once in each desktop session and is started at login. It holds no passcode and decides nothing.

          --socket PATH   AppLocker's control socket. Otherwise APPLOCKER_SOCKET, the system's or your own AppLocker.
          --version       Print the version.
          --help          Print this.

        """

    /// Runs the program; returns only with an exit code: 0 already running, 1 refused, 2 usage.
    public static func main(_ arguments: [String]) async -> Int32 {
        // The agent holds no secret, but other programs of the user must not change what it reports about inactivity.
        do throws(ProcessHardening.Refusal) {
            try ProcessHardening.apply()
        } catch {
            StandardError.write("applocker-agent: \(error.sentence)\n")
            return 1
        }
        switch AgentOptions(arguments) {
        case .help:
            print(usage, terminator: "")
            return 0
        case .version:
            print("applocker-agent \(Release.version)")
            return 0
        case .wrong(let sentence):
            StandardError.write("applocker-agent: \(sentence)\n")
            return 2
        case .run(let socket):
            return await run(socket: socket)
        }
    }

    private static func run(socket: String?) async -> Int32 {
        // Kept open: the process owns the name as long as the connection exists.
        let name = try? DBusConnection(.session)
        do {
            try await name?.own(busName)
        } catch let error as BusError where error.code == .nameTaken {
            print("applocker-agent is running in this session already.")
            return 0
        } catch {
            // A session without a bus has no tray and no notifications; inactivity is still measured.
        }
        let programs = SessionPrograms(environment: ProcessInfo.processInfo.environment, socket: socket)
        let agent = DesktopAgent(connection: DaemonConnection(socket: socket), programs: programs)
        await agent.run()
        withExtendedLifetime(name) {}
        return 0
    }
}

/// The command line of `applocker-agent`.
enum AgentOptions: Equatable {
    /// `socket` is the value of `--socket`.
    case run(socket: String?)
    case help
    case version
    /// The error in the arguments, as one sentence.
    case wrong(String)

    init(_ arguments: [String]) {
        var socket: String?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h":
                self = .help
                return
            case "--version":
                self = .version
                return
            case "--socket":
                guard let value = rest.popFirst(), !value.isEmpty else {
                    self = .wrong("--socket needs the path of AppLocker's control socket.")
                    return
                }
                socket = value
            case _ where argument.hasPrefix("--socket=") && argument.count > "--socket=".count:
                socket = String(argument.dropFirst("--socket=".count))
            default:
                self = .wrong("\(argument) is not an option of applocker-agent; see applocker-agent --help.")
                return
            }
        }
        self = .run(socket: socket)
    }
}
