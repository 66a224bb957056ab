import BlockingThread
import DesktopModels
import Foundation
import Glibc
import Localization

/// What only an administrator may do, by polkit's own dialog: set the first passcode of an AppLocker that a system service
/// runs, start and enable the service, and change settings of this computer that weaken AppLocker. Changes of AppLocker
/// need the passcode.
struct Administrator: Sendable {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// The daemon starts the gate only as it starts itself.
    private static let services = ["applocker-gate.service", "applockerd.service"]
    private static let hub = "applocker-hub.service"

    /// Absolute paths.
    let pkexec: String
    let commandLine: String
    let systemctl: String
    let aptGet: String
    let units: String
    let socket: String

    /// - Returns: nil where polkit's program or the command line is not installed.
    init?(
        pkexec: String = "/usr/bin/pkexec", systemctl: String = "/usr/bin/systemctl",
        aptGet: String = "/usr/bin/apt-get",
        units: String = "/usr/lib/systemd/system", directory: String, socket: String
    ) {
        (self.pkexec, self.systemctl, self.aptGet, self.units, self.socket) = (pkexec, systemctl, aptGet, units, socket)
        commandLine = directory + "/applocker"
        guard [pkexec, commandLine].allSatisfy(FileManager.default.isExecutableFile) else { return nil }
    }

    /// - Parameter passcode: it reaches the command line through a pipe.
    /// - Throws: `CancellationError` if the dialog was cancelled; `Refused`.
    func set(_ passcode: String) async throws {
        try await perform([commandLine, "setup", "--socket", socket, "--passcode-fd", "0"], input: passcode + "\n")
    }

    var canStartService: Bool { canStart(Self.services) }

    private func canStart(_ services: [String]) -> Bool {
        FileManager.default.isExecutableFile(atPath: systemctl)
            && services.allSatisfy { FileManager.default.fileExists(atPath: "\(units)/\($0)") }
    }

    /// Returns once the services answer.
    /// - Throws: as `set`.
    func startService() async throws { try await perform([systemctl, "start"] + Self.services) }

    /// Needs no password.
    func isHubActive() throws -> Bool {
        try ProgramRun.run(systemctl, ["is-active", "--quiet", Self.hub], input: "").status == 0
    }

    func canMake(_ fix: HostFix) -> Bool {
        switch fix {
        case .restrictTracing, .restrictCoreFiles: true
        case .enableServices: canStartService
        case .installFfmpeg: FileManager.default.isExecutableFile(atPath: aptGet)
        case .startHub: canStart([Self.hub])
        }
    }

    /// Each change is a fixed command: nothing of it is the user's text.
    /// - Throws: as `set`.
    func make(_ fix: HostFix) async throws {
        switch fix {
        case .restrictTracing: try await perform([commandLine, "doctor", "--fix", "tracing"])
        case .restrictCoreFiles: try await perform([commandLine, "doctor", "--fix", "core-files"])
        case .enableServices: try await enable(Self.services)
        case .startHub: try await enable([Self.hub])
        case .installFfmpeg: try await perform([aptGet, "install", "--yes", "--no-remove", "ffmpeg"])
        }
    }

    /// Without --quiet the first line is about a link that was made, whatever fails then.
    private func enable(_ services: [String]) async throws {
        try await perform([systemctl, "enable", "--quiet", "--now"] + services)
    }

    private func perform(_ command: [String], input: String = "") async throws {
        let (status, problem) = try await runBlocking { [pkexec] in
            // pkexec's own agent asks on the terminal, from which a window reads nothing.
            try ProgramRun.run(pkexec, ["--disable-internal-agent"] + command, input: input)
        }
        switch status {
        case 0: return
        // pkexec(1): dismissed.
        case 126: throw CancellationError()
        // pkexec(1): not authorized, or it could not ask. It prints several lines.
        case 127 where problem.contains("No authentication agent"):
            throw Refused(
                description: localized(
                    "This desktop has no polkit agent, so that no administrator's password can be entered."))
        case 127: throw Refused(description: localized("The administrator's password was not accepted."))
        default:
            throw Refused(
                description: Self.sentence(in: problem) ?? localized("The change failed with status \(status)."))
        }
    }

    /// The one that has the reason, of all that the command printed.
    private static func sentence(in problem: String) -> String? {
        let lines = problem.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        // apt-get prints its warnings first.
        guard let line = lines.first(where: { $0.hasPrefix("E: ") }) ?? lines.first(where: { !$0.isEmpty }) else {
            return nil
        }
        return localized(written: String(line.trimmingPrefix("applocker: ").trimmingPrefix("E: ")))
    }
}
