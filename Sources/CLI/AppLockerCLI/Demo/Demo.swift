import ControlAPI
import Foundation
import LocalControl

/// A separate AppLocker for the demo, and the program that it locks.
struct Demo: Sendable {
    let narrator: Narrator
    let client: ControlClient
    let program: DemoProgram
    let passcode: Passcode
    private let supervisor: DemoProcess

    /// The time limit of each expected event.
    static let patience = Duration.seconds(15)

    /// - Throws: `CommandLineError` if it can't be created.
    static func makeDirectory() throws -> String {
        var template = Array("/tmp/applocker-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandLineError(
                .refused, code: "demo_failed",
                "No temporary directory could be created in /tmp: \(String(cString: strerror(errno))).")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Starts AppLocker in `directory` and sets a passcode.
    ///
    /// - Throws: `CommandLineError` if it doesn't start; its last lines are part of the sentence.
    static func start(in directory: String, _ narrator: Narrator) async throws -> Demo {
        let state = directory + "/state"
        let log = directory + "/applocker.log"
        narrator.step("1. Start AppLocker, in \(state)")
        let logDescriptor = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let supervisor = try await DemoProcess.start(
            OwnExecutable.path, ["up", "--state", state, "--no-hub"], log: logDescriptor)
        close(logDescriptor)
        let client = ControlClient(socketPath: state + "/control.sock")
        let isUp = await holds(within: patience) {
            let status = try? await client.call(\.status)
            return status.map { $0.protection != .gateAway } ?? false
        }
        guard isUp, let status = try? await client.call(\.status) else {
            supervisor.send(SIGTERM)
            let words = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            let last = words.split(separator: "\n").last.map(String.init) ?? "no output"
            throw CommandLineError(
                .refused, code: "demo_failed", "AppLocker did not start here: \(last.terminalSafe)")
        }
        let isHeld = status.protection == .held
        narrator.print(
            isHeld
                ? "The kernel holds the launches of locked apps."
                : "WEAK MODE: locked apps are detected and stopped only after they start.")
        for sentence in status.degraded { narrator.print("DEGRADED: \(sentence.terminalSafe)") }
        let passcode = Passcode((0..<4).map { _ in String(Int.random(in: 100...999)) }.joined(separator: "-"))
        try await client.call(\.setUp, body: SetUpRequest(passcode: passcode.text))
        narrator.print("The passcode of this demo is \(try passcode.text).")
        return Demo(
            narrator: narrator, client: client, program: try DemoProgram(in: directory, isHeld: isHeld),
            passcode: passcode, supervisor: supervisor)
    }

    /// Stops it as Ctrl-C would.
    func stop() async {
        narrator.step("8. Stop AppLocker")
        supervisor.send(SIGINT)
        var end = await supervisor.end(within: Self.patience)
        narrator.check(
            end?.exitCode == 0, "AppLocker stopped normally.",
            otherwise: "AppLocker did not stop normally: \(Self.words(end))")
        if end == nil {
            supervisor.send(SIGKILL)
            end = await supervisor.end(within: .seconds(5))
        }
        let launch = try? await program.launch()
        let after = await launch?.end(within: Self.patience)
        narrator.check(
            after.map(program.ran) ?? false, "Without AppLocker the program starts as before.",
            otherwise: "The program did not start after AppLocker had ended: \(Self.words(after))")
    }

    /// Checks a condition repeatedly. False if it isn't true in time.
    static func holds(
        within limit: Duration, isolation: isolated (any Actor)? = #isolation, _ condition: () async -> Bool
    ) async -> Bool {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if await condition() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return await condition()
    }

    static func words(_ end: DemoProcess.End?) -> String {
        guard let end else { return "the process has not ended" }
        let output = end.output.isEmpty ? "it wrote nothing" : "it wrote \(end.output.debugDescription)"
        if let error = end.startError {
            return "the start was refused (\(String(cString: strerror(error)))), \(output)"
        }
        if let signal = end.signal { return "it was killed by signal \(signal), \(output)" }
        return "exit code \(end.exitCode ?? -1), \(output)"
    }
}

/// The program that the demo locks: a copy of a small system program.
struct DemoProgram: Sendable {
    let path: String
    let isHeld: Bool

    /// - Throws: `CommandLineError` if the system's program can't be copied.
    init(in directory: String, isHeld: Bool) throws {
        // A held launch needs a program that prints its process number at once. The weak mode needs one that is still
        // running when it is noticed, and prints nothing before.
        let original = isHeld ? "/usr/bin/readlink" : "/bin/sleep"
        path = directory + "/Diary"
        self.isHeld = isHeld
        do {
            try Data(contentsOf: URL(fileURLWithPath: original)).write(to: URL(fileURLWithPath: path))
        } catch {
            throw CommandLineError(
                .refused, code: "demo_failed", "\(original) could not be copied to \(path): \(error)")
        }
        chmod(path, 0o755)
    }

    var description: String { isHeld ? "a copy of readlink, which prints its process number" : "a copy of sleep" }

    func launch() async throws -> DemoProcess {
        try await DemoProcess.start(path, isHeld ? ["/proc/self"] : ["2"])
    }

    func ran(_ end: DemoProcess.End) -> Bool { end.exitCode == 0 }

    /// Whether the launch was denied: with held launches not one instruction ran.
    func wasRefused(_ end: DemoProcess.End) -> Bool {
        isHeld ? end.startError != nil && end.output.isEmpty : end.signal == SIGKILL
    }
}
