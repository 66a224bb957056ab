import ControlAPI
import Dispatch
import Foundation
import Glibc
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// The daemon as a process: how it starts, refuses to start, and ends.
struct ControlDaemonTests {
    @Test(arguments: [SIGTERM, SIGINT]) func itStopsAtOnceEvenWhileAPrompterIsConnected(_ signal: Int32) async throws {
        let state = try TemporaryDirectory()
        let daemon = try await ControlDaemon(state: state)
        var events = try await daemon.client.prompts().makeAsyncIterator()
        #expect(try await events.next() == .ready)
        let clock = ContinuousClock()
        let start = clock.now
        daemon.process.kill(signal)
        #expect(try await daemon.process.wait() == .code(0))
        #expect(clock.now - start < .seconds(28), "before the prompter's connection would be closed")
        #expect((try? await events.next()) == nil, "the stream ends with the daemon")
        #expect(daemon.process.errorOutput.isEmpty)
    }

    @Test func aSecondDaemonOnTheSameStateIsRefusedAndTheFirstContinues() async throws {
        let state = try TemporaryDirectory()
        let daemon = try await ControlDaemon(state: state)
        let second = try await ChildProcess.run(BuiltProducts.path("applockerd"), ["--state", state.path])
        #expect(second.exit == .code(1))
        #expect(second.errorOutput.contains("Another AppLocker already serves"))
        #expect(try await daemon.status().isSetUp == false)
    }

    @Test func anUnreadableStateIsRefusedInOneSentence() async throws {
        let damages: [(String, String)] = [
            ("applocker.sqlite", String(repeating: "no database ", count: 1_000)), ("machine-secret", "short"),
        ]
        for (name, text) in damages {
            let state = try TemporaryDirectory()
            try state.write(text, to: name, permissions: 0o600)
            let daemon = try await ChildProcess.run(BuiltProducts.path("applockerd"), ["--state", state.path])
            #expect(daemon.exit == .code(1))
            #expect(daemon.errorOutput.hasPrefix("applockerd: ") && daemon.errorOutput.contains(state.path(name)))
            #expect(daemon.errorOutput.split(separator: "\n").count == 1)
            #expect(try String(contentsOfFile: state.path(name), encoding: .utf8) == text, "unchanged")
        }
    }

    @Test func aLostMachineSecretIsNotReplacedWhereAPasscodeNeedsIt() async throws {
        let state = try TemporaryDirectory()
        do {
            let daemon = try await ControlDaemon(state: state)
            try await daemon.setUp()
            try await daemon.killNow()
        }
        try FileManager.default.removeItem(atPath: state.path("machine-secret"))
        let daemon = try await ChildProcess.run(BuiltProducts.path("applockerd"), ["--state", state.path])
        #expect(daemon.exit == .code(1))
        #expect(daemon.errorOutput.contains("\(state.path)/machine-secret"))
        #expect(!FileManager.default.fileExists(atPath: state.path("machine-secret")))
    }

    @Test func onlyItsUserMayReadWhatItStores() async throws {
        let state = try TemporaryDirectory()
        let daemon = try await ControlDaemon(state: state)
        for name in ["applocker.sqlite", "applocker.sqlite-wal", "applocker.sqlite-shm", "machine-secret"] {
            #expect(try permissions(state.path(name)) == 0o600, "\(name)")
        }
        await eventually { try permissions(daemon.socket) == 0o666 }
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test(arguments: [["--state"], ["--state", "relative"], [], ["--port", "80"]])
    func wrongUsageIsReportedInOneSentence(_ arguments: [String]) async throws {
        let daemon = try await ChildProcess.run(BuiltProducts.path("applockerd"), arguments)
        #expect(daemon.exit == .code(1))
        #expect(daemon.errorOutput.contains("Usage: applockerd --state DIR"))
    }

    @Test func theMemoryOfAPasscodeCheckIsReturnedToTheSystem() async throws {
        let state = try TemporaryDirectory()
        let daemon = try await ControlDaemon(state: state, hasRealCost: true)
        let first = try daemon.residentMemory()
        try await daemon.setUp()
        let before = try daemon.residentMemory()
        #expect(before - first < 64 << 20, "\(first >> 20) MiB before the passcode was set, \(before >> 20) MiB after")
        for _ in 0..<2 { _ = try await daemon.session() }
        let after = try daemon.residentMemory()
        #expect(after - before < 16 << 20, "\(before >> 20) MiB before, \(after >> 20) MiB after")
        #expect(try daemon.peakMemory() - after > 64 << 20, "a check uses 128 MiB")
    }
}
