public import ArgumentParser
import Foundation
import HubAPI

public struct AppLockerCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "applocker",
        abstract: "Locks apps on this computer behind your passcode.",
        discussion: """
            A first session:

              applocker up &                  start AppLocker (as root: sudo applocker up)
              applocker setup                 choose the passcode
              applocker lock firefox-esr      add an app to the list
              firefox-esr                     the launch is held until you answer the prompt
              applocker status                see the protection and its state

            An APP is an app id (`applocker apps` lists them), a name, or an executable's path.
            The passcode is read from the terminal or a file descriptor (--passcode-fd), never \
            from an argument or the environment.

            Exit status: 0 done, 1 refused (wrong passcode, locked out), 2 usage error, 3 AppLocker is not running,
            4 no such app.
            """,
        version: Release.version,
        groupedSubcommands: [
            CommandGroup(name: "Start and inspect:", subcommands: startingCommands),
            CommandGroup(
                name: "Lock and unlock:",
                subcommands: [LockCommand.self, UnlockCommand.self, PromptCommand.self, MonitoringCommand.self]),
            CommandGroup(
                name: "App list:",
                subcommands: [
                    AppsCommand.self, AddCommand.self, RemoveCommand.self, AppCommand.self, ScheduleCommand.self,
                    CategoryCommand.self,
                ]),
            CommandGroup(
                name: "Sealed:",
                subcommands: [
                    VaultCommand.self, NoteCommand.self, FileCommand.self, MomentsCommand.self, IntrudersCommand.self,
                    BackupCommand.self, RecoveryCommand.self,
                ]),
            CommandGroup(
                name: "Other devices:",
                subcommands: [
                    HubCommand.self, PairCommand.self, PanelCommand.self, DevicesCommand.self, HouseholdCommand.self,
                    SyncCommand.self,
                ]),
            CommandGroup(
                name: "Owner:",
                subcommands: [
                    PasscodeCommand.self, SettingsCommand.self, LogCommand.self, StatisticsCommand.self,
                    ResetCommand.self,
                ]),
        ])

    private static let startingCommands: [any ParsableCommand.Type] = [
        UpCommand.self, StopCommand.self, SetupCommand.self, StatusCommand.self, DoctorCommand.self, DemoCommand.self,
        HoldGateSubcommand.self,
    ]

    public init() {}
}

extension AppLockerCommand {
    /// Parses the arguments (without the program's name), runs the command and returns the exit status. Output goes to
    /// standard output. A failure is one sentence on standard error, and with `--json` also an object on standard
    /// output.
    public static func execute(_ arguments: [String]) async -> ExitStatus {
        do {
            if let topic = unknownTopic(arguments) {
                throw CommandLineError(
                    .usage, code: "usage", "There is no command \"\(topic)\". `applocker help` lists them.")
            }
            var command = try parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            let failure = Output.failureCode
            guard failure == 0 else {
                throw CommandLineError(
                    .refused, code: "not_written",
                    "The output could not be written (\(String(cString: strerror(failure)))). Nothing was undone.")
            }
            return .done
        } catch {
            return report(error, asJSON: arguments.contains("--json"))
        }
    }

    /// What `help` is to explain and is no command: ArgumentParser would show the help of everything instead.
    private static func unknownTopic(_ arguments: [String]) -> String? {
        guard arguments.first == "help" else { return nil }
        var command: any ParsableCommand.Type = Self.self
        for name in arguments.dropFirst() where !name.hasPrefix("-") {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == name }) else {
                return name
            }
            command = next
        }
        return nil
    }

    private static func report(_ error: any Error, asJSON: Bool) -> ExitStatus {
        if let ended = error as? ExitStatusError { return ended.status }
        if error is CleanExit || exitCode(for: error) == .success {
            Output.standard.line(fullMessage(for: error))
            return .done
        }
        guard isOfParser(error) else { return report(Failure(error), asJSON: asJSON) }
        if asJSON {
            return report(
                Failure(CommandLineError(.usage, code: "usage", message(for: error))), asJSON: true)
        }
        Output.errors.line(fullMessage(for: error))
        return .usage
    }

    private static func report(_ failure: Failure, asJSON: Bool) -> ExitStatus {
        Output.errors.line("applocker: \(failure.message.terminalSafe)")
        if asJSON { try? Output.standard.json(FailureDocument(failure)) }
        return failure.status
    }

    /// ArgumentParser exits with 64 (EX_USAGE) for every mistake in the arguments.
    private static func isOfParser(_ error: any Error) -> Bool { exitCode(for: error) == .validationFailure }
}

/// Ends the command with this status and prints nothing: everything was already printed.
struct ExitStatusError: Error {
    let status: ExitStatus
}
