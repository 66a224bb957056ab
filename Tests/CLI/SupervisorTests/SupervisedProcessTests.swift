import Foundation
import TestSupport
import Testing

@testable import Supervisor

@Suite("A supervised process")
struct SupervisedProcessTests {
    private func launch(_ script: String) -> ChildLaunch {
        ChildLaunch(
            executable: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"],
            standardDescriptors: [NullDevice.descriptor, NullDevice.descriptor, NullDevice.descriptor])
    }

    private func supervise(_ launch: ChildLaunch, _ policy: RestartPolicy, _ log: ReportLog) -> SupervisedProcess {
        SupervisedProcess(
            .init(name: "child", policy: policy, launch: { () throws(SupervisorError) in try launch.start() }),
            report: log.report)
    }

    /// Waits until the child has ended seven times right after its start: from the fourth time on a delay follows.
    private func expectDelays(_ log: ReportLog, since start: ContinuousClock.Instant) async {
        await eventually("seven ends: \(log.lines)") { log.lines.count >= 7 }
        // Real time is what is tested: 50 ms, 100 ms and 200 ms pass after the fourth, fifth and sixth end.
        #expect(start.duration(to: .now) >= .milliseconds(350))
        #expect(log.lines.prefix(3).allSatisfy { $0.hasSuffix("; restarting it.") }, "\(log.lines)")
        #expect(log.lines.dropFirst(3).allSatisfy { $0.contains("; restarting it in ") }, "\(log.lines)")
    }

    @Test func isRestartedAtOnceAfterBeingKilled() async throws {
        let log = ReportLog()
        let process = supervise(launch("exec sleep 60"), .gate, log)
        for round in 1...20 {
            var killed: pid_t = 0
            await eventually("it runs: \(log.lines)") { process.pid != nil }
            killed = try #require(process.pid)
            #expect(kill(killed, SIGKILL) == 0)
            await eventually("round \(round)") { process.pid != nil && process.pid != killed }
        }
        await process.stop(grace: .seconds(60))
        #expect(process.pid == nil)
        #expect(log.lines.count == 20)
        #expect(log.lines.allSatisfy { $0.hasSuffix("was killed by signal 9; restarting it.") })
    }

    @Test func aChildThatEndsAtOnceIsRestartedWithADelay() async throws {
        let log = ReportLog()
        let start = ContinuousClock.now
        let process = supervise(launch("exit 3"), .daemon, log)
        await expectDelays(log, since: start)
        await process.stop(grace: .seconds(60))
        #expect(log.lines.allSatisfy { $0.contains("ended with code 3") }, "\(log.lines)")
    }

    @Test func aMissingProgramIsReportedAndRetriedWithADelay() async throws {
        let log = ReportLog()
        var missing = launch("")
        missing.executable = "/nonexistent/applocker-gate"
        let start = ContinuousClock.now
        let process = supervise(missing, .gate, log)
        await expectDelays(log, since: start)
        await process.stop(grace: .seconds(60))
        #expect(log.lines.allSatisfy { $0.contains("could not run") })
    }

    @Test func stopsOnRequestAndIsNotRestarted() async throws {
        let log = ReportLog()
        let process = supervise(launch("exec sleep 60"), .gate, log)
        await eventually("it runs: \(log.lines)") { process.pid != nil }
        let pid = try #require(process.pid)
        await process.stop(grace: .seconds(60))
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
        #expect(log.lines.isEmpty)
    }

    @Test func aChildThatIgnoresTheRequestToStopIsKilled() async throws {
        let directory = try TemporaryDirectory()
        let log = ReportLog()
        let process = supervise(
            launch("trap '' TERM; touch \(directory.path("ready")); while :; do sleep 0.05; done"), .daemon, log)
        await eventually("it runs: \(log.lines)") { access(directory.path("ready"), F_OK) == 0 }
        let start = ContinuousClock.now
        await process.stop(grace: .milliseconds(300))
        #expect(start.duration(to: .now) >= .milliseconds(300))
        #expect(log.lines == ["The child did not stop on request; killed."])
    }

    @Test func stoppingDuringADelayDoesNotWaitForIt() async throws {
        let log = ReportLog()
        let minute = RestartPolicy(
            patience: 0, shortLife: .seconds(60), forgivesKills: false, firstDelay: .seconds(60),
            longestDelay: .seconds(60))
        let process = supervise(launch("exit 1"), minute, log)
        await eventually("it has ended: \(log.lines)") { log.lines.last?.contains("; restarting it in 60") == true }
        // A stop that waits for its whole grace period reports it.
        await process.stop(grace: .seconds(20))
        #expect(log.lines.count == 1, "\(log.lines)")
    }

    @Test func inheritsOnlyItsStandardDescriptors() async throws {
        let directory = try TemporaryDirectory()
        let leaky = open("/dev/null", O_RDONLY)  // without close-on-exec
        defer { close(leaky) }
        let (new, list) = (directory.path("new"), directory.path("list"))
        let process = supervise(
            launch("ls /proc/self/fd > \(new); mv \(new) \(list); exec sleep 60"), .gate, ReportLog())
        await eventually("its list is written") { access(list, F_OK) == 0 }
        await process.stop(grace: .seconds(60))
        let text = try String(contentsOfFile: list, encoding: .utf8)
        // `ls` itself holds the fourth: the directory it lists.
        #expect(text.split(separator: "\n") == ["0", "1", "2", "3"], "\(text)")
    }
}
