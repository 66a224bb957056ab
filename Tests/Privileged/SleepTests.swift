import ControlAPI
import Foundation
import Glibc
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// A whole AppLocker on a computer that is going to sleep, with python-dbusmock's logind instead of the real one.
@Suite(
    .serialized,
    .requires(
        .root, .fanotify, .program("dbus-daemon"), .path("/usr/lib/python3/dist-packages/dbusmock/templates/logind.py"))
)
struct SleepTests {
    /// AppLocker with two apps on its list, a logind, and a prompter that leaves every launch waiting.
    private struct Scene {
        let mock: MockLogind
        let logind: ChildProcess
        let applocker: RunningAppLocker
        let diary: String
        let app: String
        let prompter: PromptWatch

        init() async throws {
            mock = try await MockLogind()
            logind = try await mock.start()
            applocker = try await RunningAppLocker(environment: ["DBUS_SYSTEM_BUS_ADDRESS": mock.address])
            diary = applocker.directory.path("Diary")
            try FileManager.default.copyItem(atPath: "/bin/echo", toPath: diary)
            let letter = applocker.directory.path("Letter")
            try FileManager.default.copyItem(atPath: "/bin/echo", toPath: letter)
            app = try await applocker.add(diary).id
            try await applocker.add(letter)
            prompter = try await PromptWatch(applocker.client)
            let (mock, applocker) = (mock, applocker)
            await eventually("the computer waits for AppLocker") { try await mock.inhibitors().count == 2 }
            await eventually("the prompter is connected") { try await applocker.status().prompterConnected }
        }

        var letter: String { applocker.directory.path("Letter") }

        /// Opens an app and the vault, and starts the other app, which waits.
        func open() async throws -> ChildProcess {
            try await applocker.unlock(app)
            try await applocker.client.call(\.openVault, body: PasscodeRequest(passcode: RunningAppLocker.passcode))
            #expect(try await ChildProcess.run(diary, ["hello"]).exit == .code(0))
            return try await startPrompted(letter)
        }

        /// Starts an app that causes a prompt, which requires that the daemon has received the wake-up.
        func startPrompted(_ path: String) async throws -> ChildProcess {
            var child = try ChildProcess(path, ["hello"])
            let prompter = prompter
            await eventually("a launch of \(path) causes a prompt") {
                if !child.isRunning { child = try ChildProcess(path, ["hello"]) }
                return await prompter.hasPrompt(for: child.pid)
            }
            return child
        }

        /// A text of what is not locked.
        func openItems() async throws -> [String] {
            let vault = try await applocker.client.call(\.vault)
            let status = try await applocker.status()
            var open = vault.isOpen ? ["the vault"] : []
            if status.unlockedApps != 0 || status.lockedApps != 2 {
                open.append("\(status.unlockedApps) apps, and \(status.lockedApps) are locked")
            }
            return status.inactivity.isArmed ? open + ["something that an idle time would lock"] : open
        }

        func end() async throws {
            await prompter.cancel()
            try await applocker.stop()
            logind.kill()
        }
    }

    /// 100 times with `APPLOCKER_LONG=1`, which prints how long the computer was kept awake, else twice.
    @Test(.timeLimit(.minutes(60))) func everythingIsLockedBeforeTheComputerSleepsAndAfterItWakes() async throws {
        let scene = try await Scene()
        let rounds = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1" ? 100 : 2
        var waits: [Duration] = []
        let clock = ContinuousClock()
        for _ in 0..<rounds {
            let waiting = try await scene.open()
            let start = clock.now
            try await scene.mock.prepareForSleep(true)
            await eventually(every: .milliseconds(1), "the computer may sleep") {
                try await scene.mock.inhibitors().isEmpty
            }
            waits.append(clock.now - start)
            // From here on the computer sleeps: what is open stays open.
            #expect(try await scene.openItems().isEmpty)
            #expect(try await waiting.wait() == .notStarted(errno: EPERM))
            await eventually("the prompter has received the outcome") { await scene.prompter.waiting == 0 }
            #expect(try await ChildProcess.run(scene.diary).exit == .notStarted(errno: EPERM))
            try await scene.mock.prepareForSleep(false)
            await eventually("the next sleep is delayed, too") { try await scene.mock.inhibitors().count == 2 }
            #expect(try await scene.openItems().isEmpty)
        }
        waits.sort()
        let (median, p99) = (waits[waits.count / 2], waits[min(waits.count - 1, waits.count * 99 / 100)])
        print("From PrepareForSleep to the inhibitor's release, \(rounds) times: median \(median), p99 \(p99)")
        if rounds == 100 { #expect(p99 < .milliseconds(200)) }
        try await scene.end()
    }

    @Test func aFrozenDaemonUnlocksNothingAndLocksWhenItContinues() async throws {
        let scene = try await Scene()
        let waiting = try await scene.open()
        let daemon = try #require(
            try await scene.applocker.status().processes.first { $0.name == "applockerd" }?.pid)
        kill(daemon, SIGSTOP)
        await eventually("it is frozen") { processState(daemon) == "T" }
        try await scene.mock.prepareForSleep(true)
        // The computer sleeps without it after logind's time limit.
        #expect(try await scene.mock.inhibitors().count == 2)
        try await scene.mock.prepareForSleep(false)
        #expect(waiting.isHeldInExecve, "the waiting launch is still held")
        let another = try ChildProcess(scene.letter, ["hello"])
        await eventually("another is held") { another.isHeldInExecve }
        kill(daemon, SIGCONT)
        await eventually("everything is locked") { try await scene.openItems().isEmpty }
        #expect(try await waiting.wait() == .notStarted(errno: EPERM))
        await eventually("the next sleep is delayed, too") { try await scene.mock.inhibitors().count == 2 }
        // The computer is awake: launches cause prompts again.
        let held = try await scene.startPrompted(scene.diary)
        #expect(held.isRunning && held.output.isEmpty)
        held.kill()
        another.kill()
        try await scene.end()
    }
}

/// A prompter that answers nothing and records which launches wait.
private actor PromptWatch {
    /// By prompt.
    private var processes: [String: Int32] = [:]
    private var task: Task<Void, any Error>?

    init(_ client: ControlClient) async throws {
        let events = try await client.prompts()
        task = Task { [weak self] in
            for try await event in events { await self?.handle(event) }
        }
    }

    private func handle(_ event: PromptEvent) {
        switch event {
        case .ask(let report): processes[report.prompt] = report.process
        case .settled(let prompt, _): processes[prompt] = nil
        case .ready, .start: break
        }
    }

    var waiting: Int { processes.count }

    func hasPrompt(for process: Int32) -> Bool { processes.values.contains(process) }

    func cancel() { task?.cancel() }
}
