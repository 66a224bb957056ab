import ControlAPI
import Foundation
import Policy
import SealedFormats
import SealedStore
import Sync
import SystemTestSupport
import TestSupport
import Testing

@testable import DaemonCore

/// The refusals of concurrent attempts, in the order of the answers.
private actor Answers {
    private(set) var codes: [ControlError.Code?] = []

    func add(_ code: ControlError.Code?) { codes.append(code) }
}

@Suite struct PasscodeServiceTests {
    private let right = SecretBytes(utf8: "right")
    private let wrong = SecretBytes(utf8: "wrong")

    private func lockout(_ world: World) async throws -> LockoutLadder {
        let bytes = try #require(try await world.database.document(PasscodeService.documentName))
        return try JSONDecoder().decode(PasscodeService.Stored.self, from: Data(bytes)).lockouts
            .ladder(of: alice.user)
    }

    /// One wrong passcode; returns the refusal.
    @discardableResult
    private func fail(_ world: World, app: AppID? = nil) async throws -> ControlError {
        try await #require(throws: ControlError.self) {
            try await world.passcodes.verify(wrong, app: app, user: alice.user)
        }
    }

    // MARK: Counted before compared

    @Test func anAttemptIsOnDiskBeforeItIsCompared() async throws {
        let world = try await World()
        await world.documents.hold()
        let attempt = Task { [wrong] in try await world.passcodes.verify(wrong, user: alice.user) }
        await eventually { await world.documents.waitingWrites == 1 }
        #expect(try await world.events(.passcodeWrong).isEmpty, "no passcode is compared before the count is written")
        await world.documents.release()
        await #expect(throws: ControlError.self) { try await attempt.value }
        #expect(try await lockout(world).failures == 1)
    }

    @Test func anAttemptIsCountedEvenIfItsComparisonFails() async throws {
        var stored = World.passcodes()
        stored.owner = "what no version has written"
        let world = try await World(passcodes: stored)
        await #expect(throws: (any Error).self) { try await world.passcodes.verify(right, user: 1) }
        #expect(try await lockout(world).failures == 1)
    }

    @Test func powerLostAfterTheCountLeavesEvenARightAttemptCounted() async throws {
        let world = try await World()
        await world.documents.fail(after: 1)
        #expect(await refusal { try await world.passcodes.verify(right, user: alice.user) } == .failed)
        let next = try await World(after: world)
        #expect(await next.passcodes.lockoutState().failures == 1)
        #expect(try await lockout(next).failures == 1)
    }

    @Test func anAttemptThatCannotBeCountedIsRefusedWithoutComparison() async throws {
        let world = try await World()
        await world.documents.fail()
        for passcode in [right, wrong] {
            #expect(await refusal { try await world.passcodes.verify(passcode, user: alice.user) } == .failed)
        }
        #expect(try await world.events(.passcodeWrong).isEmpty)
        await world.documents.fail(after: nil)
        #expect(try await world.passcodes.verify(right, user: alice.user) == .owner)
    }

    @Test(.requires(.root, .program("mount"))) func aFullDiskRefusesAndLosesNothing() async throws {
        let directory = try TemporaryDirectory()
        let mounted = try await ChildProcess.run("mount", ["-t", "tmpfs", "-o", "size=1m", "none", directory.path])
        try #require(mounted.exit == .code(0))
        do {
            let database = try StateDatabase(path: directory.path("state.sqlite"))
            let stored = try JSONEncoder().encode(World.passcodes())
            try await database.save([UInt8](stored), as: PasscodeService.documentName)
            let time = TestTime()
            let service = PasscodeService(
                documents: database, machineSecret: World.machineSecret, cost: World.noCost, time: time,
                authorizer: LaunchAuthorizer(time: time), events: DaemonEvents(),
                log: ActivityLog(store: database, time: time))
            try await service.load()
            #expect(await refusal { try await service.verify(wrong, user: 1) } == .wrongPasscode)
            // Fill the disk until a write is refused: the database's log may still have free pages.
            let filler = try #require(FileHandle(forWritingAtPath: try directory.write("", to: "filler")))
            while (try? filler.write(contentsOf: Data(repeating: 1, count: 4_096))) != nil {}
            var codes: [ControlError.Code?] = []
            for _ in 0..<3 { codes.append(await refusal { try await service.verify(wrong, user: 1) }) }
            while codes.last != .failed, codes.count < 4 {
                codes.append(await refusal { try await service.verify(right, user: 1) })
            }
            #expect(codes.last == .failed)
            let counted = codes.count { $0 == .wrongPasscode } + 1
            try filler.truncate(atOffset: 0)
            #expect(await service.lockoutState().failures == counted)
            let again = PasscodeService(
                documents: database, machineSecret: World.machineSecret, cost: World.noCost, time: time,
                authorizer: LaunchAuthorizer(time: time), events: DaemonEvents(),
                log: ActivityLog(store: database, time: time))
            try await again.load()
            #expect(await again.lockoutState().failures == counted)
            #expect(try await again.verify(right, user: 1) == .owner)
        }
        await eventually { try await ChildProcess.run("umount", [directory.path]).exit == .code(0) }
    }

    @Test func concurrentAttemptsAreSerializedAndAllCounted() async throws {
        let world = try await World()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { _ = try? await self.fail(world) } }
        }
        #expect(await world.passcodes.lockoutState() == LockoutState(failures: 4, remainingSeconds: 0))
        let saved = try await world.documents.saved.filter { $0.name == PasscodeService.documentName }.map {
            try JSONDecoder().decode(PasscodeService.Stored.self, from: Data($0.bytes)).lockouts
                .ladder(of: alice.user).failures
        }
        #expect(saved == [1, 2, 3, 4])
    }

    @Test func aFloodOfAttemptsGetsNoMoreComparisonsThanTheLadderAllows() async throws {
        let world = try await World()
        // Held until one is refused, so that the attempts are concurrent on a slow machine too.
        await world.documents.hold()
        let answers = Answers()
        let attempts = (0..<40).map { _ in
            Task { [wrong] in
                await answers.add(await refusal { try await world.passcodes.verify(wrong, user: alice.user) })
            }
        }
        await eventually("one is refused") { await !answers.codes.isEmpty }
        await world.documents.release()
        for attempt in attempts { await attempt.value }
        let codes = await answers.codes
        #expect(codes.count { $0 == .wrongPasscode } == 4, "the fifth is answered with the lockout it starts")
        #expect(codes.allSatisfy { [.wrongPasscode, .lockedOut, .busy].contains($0) })
        #expect(codes.contains(.busy))
        #expect(try await lockout(world).failures == 5)
    }

    // MARK: The ladder

    @Test func everyStepOfTheLadderHoldsThroughRestarts() async throws {
        var world = try await World()
        let steps = [5: 60, 8: 120, 10: 300, 15: 900, 20: 3_600, 21: 3_600]
        for failure in 1...21 {
            let error = try await fail(world)
            #expect(error.code == (steps[failure] == nil ? .wrongPasscode : .lockedOut))
            #expect(error.retryAfterSeconds == steps[failure])
            // The database, which is all that a restart keeps.
            world = try await World(isGatePresent: false, after: world)
            #expect(
                await world.passcodes.lockoutState()
                    == LockoutState(failures: failure, remainingSeconds: steps[failure] ?? 0))
            guard let seconds = steps[failure] else { continue }
            world.time.advance(by: .seconds(seconds) - .milliseconds(1))
            let still = try await fail(world)
            #expect(still.code == .lockedOut)
            #expect(still.retryAfterSeconds == 1)
            #expect(await refusal { try await world.passcodes.verify(right, user: 1) } == .lockedOut)
            #expect(await world.passcodes.lockoutState().failures == failure, "a refused attempt is not counted")
            world.time.advance(by: .milliseconds(1))
        }
    }

    @Test func aRightPasscodeResetsTheCountPermanently() async throws {
        let world = try await World()
        for _ in 0..<4 { try await fail(world) }
        #expect(try await world.passcodes.verify(right, user: alice.user) == .owner)
        #expect(try await lockout(world) == LockoutLadder())
        #expect(try await World(isGatePresent: false, after: world).passcodes.lockoutState().failures == 0)
    }

    @Test func aRebootStartsALockoutAgainInFull() async throws {
        let world = try await World()
        for _ in 0..<5 { try await fail(world) }
        world.time.advance(by: .seconds(59))
        #expect(await world.passcodes.lockoutState().remainingSeconds == 1)
        world.time.set(boot: "boot-2", elapsed: .seconds(5))
        let next = try await World(isGatePresent: false, after: world)
        #expect(await next.passcodes.lockoutState() == LockoutState(failures: 5, remainingSeconds: 60))
        next.time.advance(by: .seconds(30))
        let third = try await World(isGatePresent: false, after: next)
        #expect(await third.passcodes.lockoutState().remainingSeconds == 30, "a restart in the same boot adds nothing")
        third.time.advance(by: .seconds(30))
        #expect(try await third.passcodes.verify(right, user: alice.user) == .owner)
    }

    @Test func afterARebootTheLockoutStartsAgainEvenIfItCannotBeWritten() async throws {
        let world = try await World()
        for _ in 0..<5 { try await fail(world) }
        world.time.set(boot: "boot-2", elapsed: .seconds(5))
        let time = world.time
        let store = BreakableStore(world.database)
        await store.fail()
        let service = PasscodeService(
            documents: store, machineSecret: World.machineSecret, cost: World.noCost, time: time,
            authorizer: LaunchAuthorizer(time: time), events: DaemonEvents(),
            log: ActivityLog(store: world.database, time: time))
        try await service.load()
        #expect(await service.lockoutState() == LockoutState(failures: 5, remainingSeconds: 60))
    }

    @Test func settingTheClockNeitherEndsNorLengthensALockout() async throws {
        let world = try await World()
        for _ in 0..<5 { try await fail(world) }
        world.time.advance(by: .seconds(10))
        for (civil, wall) in [
            (CivilTime(weekday: .sunday, secondOfDay: 86_399), 4_000_000_000.0),
            (CivilTime(weekday: .monday, secondOfDay: 0), 0.0),
        ] {
            world.time.set(civil: civil, wall: wall)
            #expect(await world.passcodes.lockoutState().remainingSeconds == 50)
            let next = try await World(isGatePresent: false, after: world)
            #expect(await next.passcodes.lockoutState().remainingSeconds == 50)
        }
    }

    @Test func timeSinceBootThatRunsBackwardsDoesNotEndALockout() async throws {
        let world = try await World()
        for _ in 0..<5 { try await fail(world) }
        world.time.set(elapsed: .seconds(1))
        #expect(await refusal { try await world.passcodes.verify(right, user: 1) } == .lockedOut)
        let next = try await World(isGatePresent: false, after: world)
        #expect(await refusal { try await next.passcodes.verify(right, user: 1) } == .lockedOut)
        #expect(await next.passcodes.lockoutState().remainingSeconds == 60)
    }

    // MARK: Lockouts by user

    /// Wrong passcodes of an unknown user lock out unknown users.
    @Test func otherUsersWrongPasscodesDoNotLockOutKnownUsers() async throws {
        let world = try await World()
        var prompter = try await world.join()
        #expect(try await world.passcodes.verify(right, user: alice.user) == .owner)
        for user in UInt32(65_534)..<65_539 {
            await #expect(throws: ControlError.self) { try await world.passcodes.verify(wrong, user: user) }
        }
        #expect(await refusal { try await world.passcodes.verify(right, user: bob.user) } == .lockedOut)
        #expect(world.gate.launch(world.launch(1, user: bob.user)).reason == .lockedOut)
        #expect(await world.passcodes.lockoutState(of: alice.user).failures == 0)
        let prompt = try await world.prompt(for: world.launch(2), &prompter)
        _ = try await world.launches.answer(prompt.prompt, with: right, scope: .thisLaunch, by: alice)
        #expect(world.gate.answer(to: 2) == true)
        #expect(try await world.passcodes.verify(right, user: 0) == .owner, "nor root")
        // A restart changes nothing, and the owner's passcode does not reset the unknown users' count.
        let next = try await World(isGatePresent: false, after: world)
        #expect(try await next.passcodes.verify(right, user: alice.user) == .owner)
        #expect(await refusal { try await next.passcodes.verify(right, user: bob.user) } == .lockedOut)
    }

    @Test func aKnownUserIsLockedOutByTheirOwnWrongPasscodes() async throws {
        let world = try await World()
        #expect(try await world.passcodes.verify(right, user: alice.user) == .owner)
        for _ in 0..<5 { try await fail(world) }
        #expect(await refusal { try await world.passcodes.verify(right, user: alice.user) } == .lockedOut)
        #expect(try await world.passcodes.verify(right, user: bob.user) == .owner)
    }

    @Test func aUserWhoSetsUpThroughSudoIsNotLockedOutByOtherUsers() async throws {
        let world = try await World(passcodes: nil, cost: { .minimum })
        _ = try await world.call(
            .setUp, by: ControlPeer(user: 0, process: 7), body: SetUpRequest(passcode: "right"))
        await #expect(throws: ControlError.self) { try await world.passcodes.verify(wrong, user: bob.user) }
        #expect(await world.passcodes.lockoutState(of: bob.user).failures == 1)
        #expect(await world.passcodes.lockoutState(of: 77).failures == 1, "unknown users count together")
        #expect(await world.passcodes.lockoutState(of: alice.user).failures == 0)
    }

    // MARK: Passcodes of the owner and of apps

    @Test func anAppsOwnPasscodeUnlocksThatAppAlone() async throws {
        let world = try await World(passcodes: World.passcodes(apps: [firefox: "foxy"]))
        let foxy = SecretBytes(utf8: "foxy")
        #expect(try await world.passcodes.verify(foxy, app: firefox, user: 1) == .app)
        #expect(await refusal { try await world.passcodes.verify(foxy, app: calculator, user: 1) } == .wrongPasscode)
        #expect(await refusal { try await world.passcodes.verify(foxy, user: 1) } == .wrongPasscode)
        #expect(try await world.passcodes.verify(right, app: firefox, user: 1) == .owner)
    }

    @Test func anAppsOwnPasscodeResetsItsOwnCountAlone() async throws {
        let world = try await World(passcodes: World.passcodes(apps: [firefox: "foxy"]))
        for _ in 0..<3 { try await fail(world) }
        #expect(try await world.passcodes.verify(SecretBytes(utf8: "foxy"), app: firefox, user: 1) == .app)
        #expect(await world.passcodes.lockoutState().failures == 3)
        #expect(try await lockout(world).failures == 3)
    }

    @Test func aRemovedAppLosesItsPasscode() async throws {
        let world = try await World(passcodes: World.passcodes(apps: [firefox: "foxy"]))
        try await world.passcodes.forget(firefox)
        let next = try await World(isGatePresent: false, after: world)
        #expect(
            await refusal { try await next.passcodes.verify(SecretBytes(utf8: "foxy"), app: firefox, user: 1) }
                == .wrongPasscode)
    }

    // MARK: Setting up, changing, upgrading

    @Test func withoutAPasscodeNothingIsComparedOrCounted() async throws {
        let world = try await World(passcodes: nil)
        #expect(await world.passcodes.isSetUp == false)
        #expect(await refusal { try await world.passcodes.verify(right, user: 1) } == .notSetUp)
        #expect(await world.passcodes.lockoutState().failures == 0)
    }

    @Test func aPasscodeThatIsTooShortOrNotTextIsRefusedFirst() async throws {
        let world = try await World(passcodes: nil)
        #expect(
            await refusal { _ = try await world.passcodes.setUp(SecretBytes(utf8: "abc")) } == .passcodeTooShort)
        var notText: [UInt8] = [0xff, 0xfe, 0xfd, 0xfc, 0xfb]
        #expect(
            await refusal { _ = try await world.passcodes.setUp(SecretBytes(wiping: &notText)) } == .badRequest)
        #expect(await world.passcodes.isSetUp == false)
    }

    @Test func setUpStoresThePasscode() async throws {
        let world = try await World(passcodes: nil, cost: { .minimum })
        let notes = try await world.passcodes.setUp(SecretBytes(utf8: "password"))
        #expect(notes.count == 1, "a note about a weak passcode")
        #expect(await refusal { _ = try await world.passcodes.setUp(SecretBytes(utf8: "another")) } == .alreadySetUp)
        let next = try await World(isGatePresent: false, after: world)
        #expect(try await next.passcodes.verify(SecretBytes(utf8: "password"), user: 1) == .owner)
    }

    @Test(arguments: ["sha256", "pbkdf2-sha256"]) func anOlderVerifierIsReplacedAtTheNextRightPasscode(_ kind: String)
        async throws
    {
        var stored = World.passcodes()
        if kind == "pbkdf2-sha256" {
            let salt = [UInt8](repeating: 9, count: 32)
            let key = try KeyDerivation.pbkdf2(right, salt: salt, rounds: 200_000, count: 32)
            stored.owner = try PasscodeVerifier(olderPBKDF2: key.withUnsafeBytes { Array($0) }, salt: salt).text
        }
        let world = try await World(passcodes: stored, cost: { .minimum })
        func owner() async throws -> String {
            let bytes = try #require(try await world.database.document(PasscodeService.documentName))
            return try #require(try JSONDecoder().decode(PasscodeService.Stored.self, from: Data(bytes)).owner)
        }
        try await fail(world)
        #expect(try await owner().hasPrefix("applocker-passcode:1:\(kind):"))
        #expect(try await world.passcodes.verify(right, user: 1) == .owner)
        let usual = "applocker-passcode:1:scrypt:ln=\(ScryptCost.minimum.logarithm),r=8,p=1:machine:"
        #expect(try await owner().hasPrefix(usual))
        let next = try await World(isGatePresent: false, after: world)
        #expect(try await next.passcodes.verify(right, user: 1) == .owner)
    }

    @Test func aFailedUpgradeOfTheVerifierStillAcceptsThePasscode() async throws {
        let world = try await World()
        #expect(try await world.passcodes.verify(right, user: 1) == .owner)
        #expect(try await world.passcodes.verify(right, user: 1) == .owner)
        #expect(await world.passcodes.lockoutState().failures == 0)
    }

    @Test func changingNeedsTheOldPasscodeAndCountsAWrongOne() async throws {
        let world = try await World(cost: { .minimum })
        let new = SecretBytes(utf8: "a fine new one")
        #expect(
            await refusal { _ = try await world.passcodes.change(from: wrong, to: new, user: 1) } == .wrongPasscode)
        #expect(await world.passcodes.lockoutState().failures == 1)
        #expect(
            await refusal { _ = try await world.passcodes.change(from: right, to: SecretBytes(utf8: "x"), user: 1) }
                == .passcodeTooShort)
        #expect(try await world.passcodes.change(from: right, to: new, user: 1).isEmpty)
        let next = try await World(isGatePresent: false, after: world)
        #expect(await refusal { try await next.passcodes.verify(right, user: 1) } == .wrongPasscode)
        #expect(try await next.passcodes.verify(new, user: 1) == .owner)
    }

    @Test func anUnreadablePasscodeDocumentPreventsTheStart() async throws {
        for document in [PasscodeService.documentName, AppService.documentName] {
            let world = try await World()
            try await world.database.save(Array("{".utf8), as: document)
            let error = await #expect(throws: UnreadableState.self) { _ = try await World(after: world) }
            #expect(error?.description.contains("\"\(document)\"") == true)
        }
    }
}
