import ArgumentParser
import LocalControl
import WireProtocol

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what is protected right now, and how well.",
        discussion: """
            Everything that makes the protection weaker than it should be is on a line that begins with DEGRADED.

              applocker status
              applocker status --json
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let status: StatusReport = try await connection.client.call(.status)
        if output.json { return try Output.standard.json(status) }
        Output.standard.lines(status.lines(Paint(.standard)))
    }
}
