import ArgumentParser
import BlockingThread
import ControlAPI
import Foundation
import HostIntegrity
import LocalControl

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Test this computer and the running AppLocker.",
        discussion: """
            ok: nothing here weakens AppLocker. WEAK: protection is reduced; the next line has advice. unknown: the test was not possible. The exit status is 0 if nothing is WEAK, else 1. Some tests need root.

            --fix makes one setting of the kernel safe, now and at each start, by \(KernelSettings.file), and needs root. tracing: a debugger may trace only programs that it starts itself (\(KernelSetting.tracing.key)). core-files: programs that change their user leave no core files (\(KernelSetting.coreFiles.key)). user-namespaces: ordinary users can't create user namespaces (\(KernelSetting.userNamespaces.key)); Flatpak, rootless containers and the sandboxes of some browsers need them and stop working.

              applocker doctor
              sudo applocker doctor --json
              sudo applocker doctor --fix tracing
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: ArgumentHelp(
            "Make a setting of the kernel safe: \(Self.fixes.joined(separator: ", ")).", valueName: "check"),
        completion: .list(Self.fixes))
    var fix: String?

    private static var fixes: [String] { KernelSetting.allCases.map(\.rawValue) }

    func run() async throws {
        guard let fix else { return try await inspect() }
        try await makeSafe(fix)
    }

    private func makeSafe(_ name: String) async throws {
        guard let setting = KernelSetting(rawValue: name) else {
            throw CommandLineError(
                .usage, code: "unknown_fix",
                "\"\(name)\" has no fix. --fix takes \(Self.fixes.joined(separator: ", ")).")
        }
        guard geteuid() == 0 else {
            throw CommandLineError(
                .refused, code: "needs_root",
                "Only root can change settings of the kernel. Run `sudo applocker doctor --fix \(name)`.")
        }
        let outcome = try await runBlocking { try KernelSettings().makeSafe(setting) }
        let value =
            switch outcome {
            case .changed: setting.safeValue
            case .wasSafe(let value): value
            }
        if output.json {
            return try Output.standard.json(
                FixReport(id: name, key: setting.key, value: value, isChanged: outcome == .changed))
        }
        Output.standard.line(
            outcome == .changed
                ? "\(setting.key) is \(value) now, and at each start (\(KernelSettings.file))."
                : "\(setting.key) is \(value) already. Nothing was changed.")
    }

    private func inspect() async throws {
        let status = try? await connection.client.call(\.status)
        let gate = status?.protection == .held ? status?.processes.first { $0.name == "applocker-gate" }?.pid : nil
        let host = await runBlocking {
            let inspection = HostInspection()
            return inspection.findings() + (gate.map { [inspection.descriptorStore(gate: $0)] } ?? [])
        }
        let report = DoctorReport(
            host: host.map(DoctorFinding.init)
                + [await DoctorFinding.ofNotifications(), await DoctorFinding.ofLid()].compactMap { $0 },
            appLocker: await DoctorFinding.ofDaemon(connection.client))
        if output.json {
            try Output.standard.json(report)
        } else {
            Output.standard.lines(report.lines(Paint(.standard)))
        }
        if report.isDegraded { throw ExitStatusError(status: .refused) }
    }
}

/// The output of `doctor --fix CHECK --json`.
struct FixReport: Encodable, Equatable {
    var id: String
    /// The setting as sysctl(8) names it.
    var key: String
    var value: Int
    var isChanged: Bool
}

/// The output of `doctor --json`.
struct DoctorReport: Encodable, Equatable {
    var host: [DoctorFinding]
    var appLocker: [DoctorFinding]

    var isDegraded: Bool { (host + appLocker).contains { $0.state == .weak } }

    func lines(_ paint: Paint) -> [String] {
        let findings = appLocker + host
        let width = findings.map(\.id.count).max() ?? 0
        return findings.flatMap { finding in
            let state =
                switch finding.state {
                case .ok: paint.good("ok     ")
                case .weak: paint.alarm("WEAK   ")
                case .unknown: paint.warning("unknown")
                }
            let line = "\(state)  \(finding.id.padded(to: width))  \(finding.sentence.terminalSafe)"
            let indent = String(repeating: " ", count: 7 + 2 + width + 2)
            return [line] + (finding.advice.map { [indent + $0.terminalSafe] } ?? [])
        }
    }
}

struct DoctorFinding: Encodable, Equatable {
    enum State: String, Encodable {
        case ok, weak, unknown
    }

    /// Stable, because scripts may rely on it.
    var id: String
    var state: State
    var sentence: String
    var advice: String?

    init(_ id: String, _ state: State, _ sentence: String, advice: String? = nil) {
        self.id = id
        self.state = state
        self.sentence = sentence
        self.advice = advice
    }

    init(_ finding: HostFinding) {
        let state: State =
            switch finding.state {
            case .ok: .ok
            case .degraded: .weak
            case .unknown: .unknown
            }
        self.init(finding.id.rawValue, state, finding.sentence, advice: finding.advice)
    }

    /// What the running AppLocker reports about itself, or that none is running.
    static func ofDaemon(_ client: ControlClient) async -> [DoctorFinding] {
        do {
            return of(try await client.call(\.status))
        } catch {
            return [DoctorFinding("daemon", .weak, "AppLocker does not answer: \(Failure(error).message)")]
        }
    }

    static func of(_ status: StatusReport) -> [DoctorFinding] {
        [DoctorFinding("daemon", .ok, "AppLocker \(status.version) answers."), passcode(status), protection(status)]
            + [guardedFiles(status), monitoring(status), prompter(status), inactivity(status)]
    }

    private static func passcode(_ status: StatusReport) -> DoctorFinding {
        status.isSetUp
            ? DoctorFinding("passcode", .ok, "A passcode is set.")
            : DoctorFinding("passcode", .weak, "No passcode is set.", advice: "Run `applocker setup`.")
    }

    private static func protection(_ status: StatusReport) -> DoctorFinding {
        switch status.protection {
        case .held: return DoctorFinding("protection", .ok, "The kernel holds the launches of locked apps.")
        case .weak:
            return DoctorFinding(
                "protection", .weak, "Weak mode: locked apps are detected and stopped only after they start.",
                advice: "Start AppLocker as root, on a kernel with fanotify permission events.")
        case .gateAway:
            return DoctorFinding(
                "protection", .weak, "The gate is not running, or not ready yet.",
                advice: "It restarts by itself; if not, see the output of `applocker up`.")
        }
    }

    private static func guardedFiles(_ status: StatusReport) -> DoctorFinding {
        let apps = status.unguardedApps.joined(separator: ", ")
        return apps.isEmpty
            ? DoctorFinding("guarded-files", .ok, "All existing files of your locked apps are guarded.")
            : DoctorFinding(
                "guarded-files", .weak, "These locked apps can start without a prompt: \(apps).",
                advice: "Check memory and open files on this computer; the gate retries twice a second. In an "
                    + "app's own directory it guards 4,096 directories, 32 levels deep.")
    }

    private static func monitoring(_ status: StatusReport) -> DoctorFinding {
        status.monitoring.isOn
            ? DoctorFinding("monitoring", .ok, "Monitoring is on.")
            : DoctorFinding(
                "monitoring", .weak, "Monitoring is off: every app starts without a prompt.",
                advice: "Run `applocker monitoring on`.")
    }

    private static func inactivity(_ status: StatusReport) -> DoctorFinding {
        let minutes = status.inactivity.limitSeconds / 60
        return status.inactivity.source == .none
            ? DoctorFinding(
                "inactivity", .weak, "Idle time can't be measured: inactivity won't lock this user's apps.",
                advice: "Start `applocker-agent` in the desktop session.")
            : DoctorFinding(
                "inactivity", .ok,
                "After \(minutes) min without input everything is locked (by \(status.inactivity.source.rawValue)).")
    }

    private static func prompter(_ status: StatusReport) -> DoctorFinding {
        if status.prompterConnected {
            return DoctorFinding("prompter", .ok, "A prompter is connected for this user.")
        }
        return status.phoneIsAsked == true
            ? DoctorFinding("prompter", .ok, "No prompter is connected for this user; prompts go to a paired phone.")
            : DoctorFinding(
                "prompter", .weak,
                "No prompter is connected for this user: launches of locked apps are denied at once.",
                advice: "Run `applocker prompt`, or `applocker prompt --tty` without a desktop.")
    }
}
