import ArgumentParser
import DBus
import Foundation
import HubAPI
import ProcessHardening

public enum AgentProgram {
    /// The bus name that the one agent of a session owns.
    static let busName = "org.applocker.Agent"

    /// Runs the program; returns only with an exit code: 0 already running, 1 refused, 2 usage.
    public static func main(_ arguments: [String]) async -> Int32 {
        // The agent holds no secret, but other programs of the user must not change what it reports about inactivity.
        do throws(ProcessHardening.Refusal) {
            try ProcessHardening.apply()
        } catch {
            StandardError.write("applocker-agent: \(error.sentence)\n")
            return 1
        }
        GettextCatalogue.install(programs: SessionPrograms.ownDirectory)
        switch AgentOptions.parsed(arguments) {
        case .options(let options): return await run(socket: options.daemon.socket)
        case .exit(let code): return code
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

struct AgentOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "applocker-agent", abstract: "Show AppLocker in a desktop session.",
        discussion: """
            Shows the icon in the tray and notifications, and locks after inactivity. Runs once in each desktop session \
            and is started at login. It holds no passcode and decides nothing.
            """,
        version: "applocker-agent \(Release.version)")

    @OptionGroup var daemon: SocketOption
}
