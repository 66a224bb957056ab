import ControlAPI
import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// Many launches at once while AppLocker's own processes are killed.
@Suite(.serialized, .requires(.root, .fanotify, .program("cc")))
struct LaunchRaceTests {
    enum Victim: String, Sendable, CaseIterable {
        case gate = "applocker-gate"
        case daemon = "applockerd"
        case both
    }

    /// 8 processes, 8,000 launches (20,000 with `APPLOCKER_LONG=1`), a kill each 250 ms: four times as often as
    /// promised, because the race itself takes only some seconds.
    @Test(.timeLimit(.minutes(5)), arguments: Victim.allCases)
    func notOneInstructionRunsWhilePartsOfAppLockerAreKilled(victim: Victim) async throws {
        let applocker = try await RunningAppLocker()
        let program = try TestProgram(at: applocker.directory.path("Diary"))
        try await applocker.add(program.path)

        let kills = Mutex(0)
        let killer = Task {
            while true {
                do { try await Task.sleep(for: .milliseconds(250)) } catch { return }
                // The status may be requested while the daemon is restarting; then the next round kills.
                guard let processes = try? await applocker.status().processes else { continue }
                for process in processes where victim == .both || process.name == victim.rawValue {
                    if kill(process.pid, SIGKILL) == 0 { kills.withLock { $0 += 1 } }
                }
            }
        }
        let each = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1" ? 2_500 : 1_000
        #expect(
            try await launch(program.path, workers: 8, each: each) == Launches(denied: 8 * each, failed: 0, ran: 0))
        // A restart may take longer than all these launches.
        while kills.withLock({ $0 }) < 4 {
            #expect(try await launch(program.path, workers: 8, each: 100) == Launches(denied: 800, failed: 0, ran: 0))
        }
        killer.cancel()
        await killer.value
        #expect(!program.hasRun, "an instruction of the locked program ran")
        await eventually("AppLocker has recovered") {
            try await applocker.status().protection == .held
        }
        #expect(try await launch(program.path, workers: 1, each: 10) == Launches(denied: 10, failed: 0, ran: 0))
        #expect(!program.hasRun)
        try await applocker.stop()
    }

    /// 100,000 launches with `APPLOCKER_LONG=1`, otherwise 10,000.
    @Test(.timeLimit(.minutes(10)))
    func manyLaunchesLeakNoDescriptorAndLeaveNoZombie() async throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1"
        let applocker = try await RunningAppLocker()
        let program = try TestProgram(at: applocker.directory.path("Diary"))
        try await applocker.add(program.path)
        // The first launches open what stays open, for example the log's connections.
        _ = try await launch(program.path, workers: 8, each: 25)
        let processes = try await applocker.status().processes
        #expect(processes.count == 2)
        let before = processes.map { descriptors(of: $0.pid) }

        let each = isLong ? 12_500 : 1_250
        let result = try await launch(program.path, workers: 8, each: each)
        #expect(result == Launches(denied: 8 * each, failed: 0, ran: 0))

        await eventually(
            "the descriptors are the same as before: \(before), now \(processes.map { descriptors(of: $0.pid) })"
        ) {
            // One that was open only at the first look need not exist.
            zip(processes, before).allSatisfy { process, before in
                descriptors(of: process.pid).allSatisfy { $0.value <= before[$0.key, default: 0] }
            }
        }
        #expect(try await applocker.status().processes == processes, "one of them was restarted meanwhile")
        await eventually("no zombie is left") {
            try processes.allSatisfy { try !childProcesses(of: $0.pid).values.contains("Z") }
        }
        try await applocker.stop()
    }

    struct Launches: Equatable {
        var denied: Int
        var failed: Int
        var ran: Int
    }

    private func launch(_ program: String, workers: Int, each: Int) async throws -> Launches {
        let launcher = try ChildProcess(
            try CompiledPrograms.launcher(), [String(workers), String(each), program])
        #expect(try await launcher.wait(timeout: .seconds(280)) == .code(0))
        let numbers = launcher.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 3, "the launcher printed \(launcher.output)")
        return Launches(denied: numbers[0], failed: numbers[1], ran: numbers[2])
    }

    /// The target of each descriptor. Idle connections of the control socket open and close with our own requests.
    private func descriptors(of process: pid_t) -> [String: Int] {
        let folder = "/proc/\(process)/fd"
        var counts: [String: Int] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)") else {
                continue
            }
            let kind = target.hasPrefix("socket:") ? "socket" : target
            if kind != "socket" { counts[kind, default: 0] += 1 }
        }
        return counts
    }
}
