import ArgumentParser
import ControlAPI
import LocalControl

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the protection and its state.",
        discussion: """
            Each reason for weaker protection is on a line that begins with DEGRADED.

              applocker status
              applocker status --json
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let status = try await connection.client.call(\.status)
        if output.json { return try Output.standard.json(status) }
        Output.standard.lines(status.lines(Paint(.standard)))
    }
}
