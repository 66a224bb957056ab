import Foundation
import LocalControl
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// One user starts locked apps as fast as the computer can; nobody else may notice.
@Suite(.serialized, .requires(.root, .fanotify, .program("cc")))
struct FloodTests {
    /// How soon another user is asked, whatever this one does, on a computer that has nothing else to do.
    static let longestWait = Duration.milliseconds(500)

    /// 3,000 processes at once, again and again for five minutes with `APPLOCKER_LONG=1`, otherwise twice.
    @Test(.timeLimit(.minutes(10)))
    func aBurstByOneUserDelaysNobodyElsesPrompt() async throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1"
        let applocker = try await RunningAppLocker()
        let program = try TestProgram(at: applocker.directory.path("Diary"))
        try await applocker.add(program.path)
        let asked = Mutex<[Int32: ContinuousClock.Instant]>([:])
        let prompts = try await applocker.client.prompts()
        let prompter = Task { [client = applocker.client] in
            for try await event in prompts {
                guard case .ask(let report) = event else { continue }
                asked.withLock { $0[report.process] = .now }
                let _: DoneReport = try await client.call(.cancelPrompt, parameter: report.prompt)
            }
        }
        defer { prompter.cancel() }
        await eventually("the prompter is known") { try await applocker.status().prompterConnected }

        var waits: [Duration] = []
        var shortestBurst = Duration.seconds(600)
        let end = ContinuousClock.now + .seconds(isLong ? 300 : 0)
        var bursts = 0
        repeat {
            // Below other processes, as the system divides the processor between users: what is measured is who waits
            // for AppLocker.
            let burst = try ChildProcess(
                "nice", ["-n", "15", try CompiledPrograms.launcher(), "3000", "1", program.path], user: 65534)
            while burst.isRunning {
                let start = ContinuousClock.now
                let launch = try ChildProcess(program.path)
                #expect(try await launch.wait() == .notStarted(errno: EPERM))
                waits.append(try #require(asked.withLock { $0[launch.pid] }, "nobody was asked") - start)
            }
            #expect(try await burst.wait() == .code(0))
            #expect(burst.output == "3000 0 0\n")
            let (began, ended) = (try #require(burst.startInstant), try #require(burst.exitInstant))
            shortestBurst = min(shortestBurst, ended - began)
            bursts += 1
        } while bursts < 2 || ContinuousClock.now < end
        #expect(!program.hasRun)
        waits.sort()
        try #require(!waits.isEmpty)
        print(
            "\(bursts) bursts of 3,000 launches by another user: asked \(waits.count) times, median "
                + "\(waits[waits.count / 2]), longest \(waits[waits.count - 1])")
        // Who has to wait for the others' turns waits for most of a burst, however slow the computer is.
        #expect(waits[waits.count - 1] < max(Self.longestWait, shortestBurst / 3))
        try await applocker.unlock(try #require(await applocker.apps().first))
        #expect(try await ChildProcess.run(program.path, ["seven"]).exit == .code(7))
        try await applocker.stop()
    }
}
