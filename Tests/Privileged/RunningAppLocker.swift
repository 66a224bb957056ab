import ControlAPI
import Foundation
import LocalControl
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// A whole private AppLocker: `applocker up` with the real gate and the real daemon, set up with a passcode, its state
/// in a directory that any user may enter. It ends when the value is released.
final class RunningAppLocker: Sendable {
    static let passcode = "open sesame"

    let directory: TemporaryDirectory
    let client: ControlClient
    private let supervising: Mutex<ChildProcess>
    private let arguments: [String]
    private let environment: [String: String]
    private var supervisor: ChildProcess { supervising.withLock { $0 } }

    var socketPath: String { client.socketPath }
    /// Standard error of gate, daemon and supervisor since the last start.
    var errorOutput: String { supervisor.errorOutput }

    /// Starts it and waits until the gate holds launches and the passcode is set.
    /// - Parameters:
    ///   - environment: variables in addition to the tests' own.
    ///   - promptTimeoutSeconds: how long a launch waits for an answer; nil for the default. A slow machine draws,
    ///     photographs and types for longer than that.
    init(_ arguments: [String] = [], environment: [String: String] = [:], promptTimeoutSeconds: Int? = nil)
        async throws
    {
        directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        let state = directory.path("state")
        client = ControlClient(socketPath: state + "/control.sock")
        self.arguments = ["up", "--state", state, "--no-hub"] + arguments
        self.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        supervising = Mutex(
            try ChildProcess(
                try BuiltProducts.path("applocker"), self.arguments, environment: self.environment))
        await waitUntilUp()
        try await client.call(\.setUp, body: SetUpRequest(passcode: Self.passcode))
        guard let promptTimeoutSeconds else { return }
        _ = try await client.call(
            \.changeSettings, token: try await session(),
            body: ChangeSettingsRequest(promptTimeoutSeconds: promptTimeoutSeconds))
    }

    private func waitUntilUp() async {
        await eventually("AppLocker is up; output: \(errorOutput)") {
            try await client.call(\.status).protection != .gateAway
        }
    }

    /// Ends all of it, and starts it again with the same state.
    /// - Parameter meanwhile: runs while it is stopped.
    func stopAndStart(_ meanwhile: () throws -> Void) async throws {
        let connections = try await events(kind: "gate_connected").count
        try await stop()
        try meanwhile()
        let next = try ChildProcess(try BuiltProducts.path("applocker"), arguments, environment: environment)
        supervising.withLock { $0 = next }
        await waitUntilUp()
        // The gate exists before it has received the apps.
        await eventually("the gate has every app; output: \(errorOutput)") {
            try await events(kind: "gate_connected").count > connections
        }
    }

    /// A gate outlives a killed supervisor, and denies: after a failed test it would deny in the next.
    deinit {
        supervisor.kill()
        ProcessRecord.killAll(mentioning: directory.path)
    }

    /// Ends it as Ctrl-C does and waits until everything has ended.
    func stop() async throws {
        supervisor.kill(SIGINT)
        try await supervisor.wait()
    }

    func status() async throws -> StatusReport { try await client.call(\.status) }

    /// Adds an app to the list, with the setting for its running instances when a grant ends: "keep" by default.
    @discardableResult
    func add(_ app: String, onGrantEnd: String? = nil) async throws -> AppReport {
        let added = try await client.call(\.addApp, token: try await session(), body: AddAppRequest(app: app))
        let report = try #require(added.apps.first)
        guard let onGrantEnd else { return report }
        return try await set(report.id, onGrantEnd: onGrantEnd)
    }

    @discardableResult
    func set(_ app: String, onGrantEnd: String) async throws -> AppReport {
        let changed = try await client.call(
            \.changeApp, parameter: app, token: try await session(), body: ChangeAppRequest(onGrantEnd: onGrantEnd))
        return try #require(changed.apps.first)
    }

    /// The token of a new management session.
    private func session() async throws -> String {
        let report = try await client.call(\.openSession, body: PasscodeRequest(passcode: Self.passcode))
        return report.token
    }

    /// Ids of the apps on the list.
    func apps() async throws -> [String] {
        let list = try await client.call(\.listApps)
        return list.apps.map(\.id)
    }

    func unlock(_ app: String, _ grant: GrantRequest = GrantRequest(.untilLocked)) async throws {
        try await client.call(\.unlock, body: UnlockRequest(apps: [app], grant: grant, passcode: Self.passcode))
    }

    func lock(_ app: String) async throws {
        try await client.call(\.lock, body: LockRequest(apps: [app]))
    }

    /// The newest events, oldest first; of all apps by default.
    func events(of app: String? = nil, kind: String? = nil) async throws -> [EventReport] {
        let list = try await client.call(\.log, query: LogQuery(limit: 1_000, app: app))
        return list.events.filter { kind == nil || $0.kind == kind }
    }

    /// Runs the command line; the passcode is read from descriptor 0.
    func command(
        _ arguments: [String], passcode: String? = nil
    ) async throws -> (exit: ChildProcess.Exit, output: String, errorOutput: String) {
        let words = arguments + ["--socket", socketPath] + (passcode == nil ? [] : ["--passcode-fd", "0"])
        return try await ChildProcess.run(
            try BuiltProducts.path("applocker"), words, input: passcode.map { .text($0 + "\n") } ?? .nothing)
    }

    /// Answers the launches of the tests' own user, as a prompter without a window, for as long as the task runs.
    func prompter(
        answering: @escaping @Sendable (PromptReport) -> PromptAnswerRequest?
    ) async throws -> Task<Void, any Error> {
        let client = client
        let events = try await client.prompts()
        let task = Task {
            for try await event in events {
                guard case .ask(let report) = event, let answer = answering(report) else { continue }
                try await client.call(\.answerPrompt, parameter: report.prompt, body: answer)
            }
        }
        await eventually("the prompter is connected") { try await status().prompterConnected }
        return task
    }
}
