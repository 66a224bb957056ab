import ControlAPI
import Foundation
import Policy
import SealedFormats
import TestSupport
import Testing

@testable import DaemonCore

/// A week in fast-forward: repeated work leaks nothing.
///
/// The clock is the test's; services, database and disk are real. 1,500 steps in every run; `make soak` takes 100,000.
@Suite struct SoakTests {
    /// Resources of this process, from /proc/self.
    private struct Footprint {
        /// Resident, in bytes.
        var memory = 0
        var descriptors = 0
        var threads = 0

        init() throws {
            let status = try #require(try FileHandle(forReadingAtPath: "/proc/self/status")?.readToEnd())
            for line in String(decoding: status, as: UTF8.self).split(separator: "\n") {
                let number = Int(line.filter(\.isNumber)) ?? 0
                if line.hasPrefix("VmRSS:") { memory = number * 1_024 }
                if line.hasPrefix("Threads:") { threads = number }
            }
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }
    }

    private struct Week {
        let world: World
        var prompter: PromptReader
        var launch: UInt64 = 0
        var sleeps: UInt64 = 0

        mutating func step() async throws {
            switch Int.random(in: 0..<8) {
            case 0: try await unlock(.duration(.seconds(.random(in: 30...3_600))))
            case 1: try await unlock(.untilLocked)
            case 2: _ = try await world.call(.lock, body: LockRequest(all: true))
            case 3: try await sleep()
            case 4:
                _ = try await world.call(
                    .reportIdle, body: IdleReport(source: .mutter, idleSeconds: .random(in: 0...1_200)))
            case 5: try await enterAWrongPasscode()
            case 6: try await start()
            default: world.time.advance(by: .seconds(.random(in: 1...7_200)))
            }
            world.gate.forgetActions()
        }

        private func unlock(_ scope: GrantScope) async throws {
            _ = try await world.apps.unlock([firefox], scope: scope, user: alice.user)
            #expect(await world.state(of: firefox) == .unlocked)
        }

        private mutating func sleep() async throws {
            sleeps += 1
            let number = sleeps
            world.signals.send(.goingToSleep(number))
            await eventually { world.signals.numbers.last == number }
            #expect(await world.state(of: firefox) == .locked)
            world.signals.send(.woke)
            await eventually { !world.authorizer.isAsleep }
        }

        /// Enters the right passcode afterwards, once a lockout is over.
        private func enterAWrongPasscode() async throws {
            let code = await refusal {
                try await world.passcodes.verify(SecretBytes(utf8: "wrong"), user: alice.user)
            }
            #expect(code == .wrongPasscode || code == .lockedOut)
            guard Bool.random() else { return }
            world.time.advance(by: .seconds(3_600))
            try await world.passcodes.verify(SecretBytes(utf8: "right"), user: alice.user)
        }

        /// A launch that causes a prompt if the app is locked, and is cancelled.
        private mutating func start() async throws {
            launch += 1
            guard world.gate.launch(world.launch(launch)).verdict == .ask else { return }
            while let event = await prompter.next() {
                if case .ask(let report) = event {
                    _ = try await world.call(.cancelPrompt, report.prompt)
                    return
                }
            }
        }
    }

    @Test func memoryDescriptorsAndThreadsDoNotGrow() async throws {
        let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil
        let steps = isLong ? 100_000 : 1_500
        let world = try await World()
        var week = Week(world: world, prompter: try await world.join())
        for _ in 0..<(steps / 5) { try await week.step() }
        let before = try Footprint()
        for _ in 0..<(steps - steps / 5) { try await week.step() }
        var after = try Footprint()
        // The test's own ports keep a little; a leak of one kilobyte in each event would be 80 MB.
        #expect(after.memory - before.memory < 24 << 20, "\(before) → \(after)")
        // The system's thread pool shrinks only after a while; leaked threads would stay.
        await eventually("descriptors and threads have not grown") {
            after = try Footprint()
            return after.descriptors <= before.descriptors + 2 && after.threads <= before.threads + 2
        }
        #expect(after.descriptors <= before.descriptors + 2, "\(before) → \(after)")
        #expect(after.threads <= before.threads + 2, "\(before) → \(after)")
        if isLong { print("soak: \(steps) steps, \(week.sleeps) sleeps, \(before) → \(after)") }
    }
}
