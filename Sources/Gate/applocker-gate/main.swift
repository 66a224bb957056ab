import Glibc
import LaunchGate

// Exit codes: 0 ended by a signal, 1 could not start or continue, 2 usage error.
do {
    let configuration = try GateConfiguration(arguments: Array(CommandLine.arguments.dropFirst()))
    try Gate(configuration).run()
} catch {
    let line = Array(("applocker-gate: " + error.sentence + "\n").utf8)
    _ = write(2, line, line.count)
    exit(error.code == .usage ? 2 : 1)
}
