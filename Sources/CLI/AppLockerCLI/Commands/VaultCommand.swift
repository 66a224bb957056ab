import ArgumentParser
import ControlAPI
import LocalControl

struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Open and lock the vault: notes, files and intruder photos.",
        discussion: """
            While it is open its keys are in memory, for you alone: until you lock it, the computer sleeps, or it is \
            not used for a time (`applocker settings set --vault-idle`).
            """,
        subcommands: [Status.self, Unlock.self, Lock.self], defaultSubcommand: Status.self)

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show whether the vault is open, and for which user.",
            discussion: """
                  applocker vault status
                  applocker vault status --json
                """)

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try (try await connection.client.call(\.vault)).print(output)
        }
    }

    struct Unlock: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open the vault with the passcode.",
            discussion: """
                  applocker vault unlock
                  applocker vault unlock --passcode-fd 3 3< passcode
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await vault.open().print(output)
        }
    }

    struct Lock: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lock the vault now.",
            discussion: """
                Needs the passcode only if the vault is open for another user.

                  applocker vault lock
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await owner.whereNeeded { try await client.call(\.closeVault, token: $0) }.print(output)
        }
    }
}

extension VaultStatus {
    func print(_ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        guard isOpen else { return Output.standard.line("The vault is locked.") }
        let end = locksInSeconds.map { " It locks itself after \(TimeText.spoken(seconds: $0)) without use." } ?? ""
        Output.standard.line("The vault is open.\(end)")
    }
}
