import ControlAPI
import Foundation
import LocalControl
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// One user starts locked apps as fast as the computer can, without delaying other users.
@Suite(.requires(.root, .fanotify, .program("cc")))
struct FloodTests {
    /// The limit for nine of ten prompts of another user, whatever this one does.
    static let longestWait = Duration.milliseconds(500)

    /// 3,000 processes at once, twice; with `APPLOCKER_LONG=1` repeatedly for five minutes, with everything else that the
    /// same user can do.
    @Test(.timeLimit(.minutes(10)))
    func aBurstByOneUserDelaysNoOtherUsersPrompt() async throws {
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
                try await client.call(\.cancelPrompt, parameter: report.prompt)
            }
        }
        defer { prompter.cancel() }
        await eventually("the prompter is connected") { try await applocker.status().prompterConnected }

        let others = isLong ? try Self.attacks(applocker, program) : []
        defer { for other in others { other.kill() } }
        let before = try await Self.use(applocker)
        var waits: [Duration] = []
        var shortestBurst = Duration.seconds(600)
        let end = ContinuousClock.now + .seconds(isLong ? 300 : 0)
        var bursts = 0
        repeat {
            // At a low priority, as the system divides the processor between users: only AppLocker's part is measured.
            let burst = try ChildProcess(
                "nice", ["-n", "15", try CompiledPrograms.launcher(), "3000", "1", program.path], user: 65534)
            while burst.isRunning {
                let start = ContinuousClock.now
                let launch = try ChildProcess(program.path)
                #expect(try await launch.wait() == .notStarted(errno: EPERM))
                waits.append(try #require(asked.withLock { $0[launch.pid] }, "no prompt") - start)
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
        let after = try await Self.use(applocker)
        print(
            "Disk \(before.disk) → \(after.disk) bytes, memory of the daemon \(before.memory) → \(after.memory) bytes")
        #expect(after.disk < before.disk + 128 << 20 && after.memory < before.memory + 128 << 20)
        for other in others { #expect(other.isRunning, "it ran to the end") }
        // Without turns each launch waits for most of a burst. One of many may be late because the processor is busy.
        #expect(waits[waits.count * 9 / 10] < max(Self.longestWait, shortestBurst / 3))
        try await applocker.unlock(try #require(await applocker.apps().first))
        #expect(try await ChildProcess.run(program.path, ["seven"]).exit == .code(7))
        try await applocker.stop()
    }

    /// Reads the locked program, requests the log and its proof, guesses passcodes, locks everything, in endless loops.
    private static func attacks(_ applocker: RunningAppLocker, _ program: TestProgram) throws -> [ChildProcess] {
        let ask = "while :; do curl -s --unix-socket '\(applocker.socketPath)' -o /dev/null http://applocker"
        let guess = #" -d '{"apps":["Diary"],"passcode":"wrong","grant":{"scope":"untilLocked"}}'"#
        let loops =
            ["while :; do cat '\(program.path)' > /dev/null; done", "\(ask)/v1/log?limit=1000; done"]
            + ["\(ask)/v1/unlock -H 'Content-Type: application/json'\(guess); done"]
            + ["\(ask)/v1/lock -H 'Content-Type: application/json' -d '{\"apps\":[],\"all\":true}'; done"]
            + Array(repeating: "\(ask)/v1/log/verify; done", count: 12)
        return try loops.map {
            try ChildProcess("nice", ["-n", "15", "sh", "-c", $0 + " 2> /dev/null"], user: 65534)
        }
    }

    /// Bytes of the state on disk, and the daemon's resident memory.
    private static func use(_ applocker: RunningAppLocker) async throws -> (disk: Int, memory: Int) {
        let state = applocker.directory.path("state")
        let names = try #require(FileManager.default.enumerator(atPath: state))
        let disk = names.compactMap { name in
            try? FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")[.size] as? Int
        }
        let daemon = try #require(try await applocker.status().processes.first { $0.name == "applockerd" })
        let pages = try String(contentsOfFile: "/proc/\(daemon.pid)/statm", encoding: .utf8).split(separator: " ")[1]
        return (disk.reduce(0, +), try #require(Int(pages)) * Int(getpagesize()))
    }
}
