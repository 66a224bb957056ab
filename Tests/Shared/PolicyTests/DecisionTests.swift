import Policy
import TestSupport
import Testing

@Suite struct DecisionTests {
    private func facts(
        _ app: AppID = calculator, isRoot: Bool = false, hasPrompter: Bool = true, waiting: Int = 0,
        lockout: LockoutLadder = LockoutLadder()
    ) -> LaunchFacts {
        LaunchFacts(
            app: app, uid: isRoot ? 0 : 1000, isRoot: isRoot, hasPrompter: hasPrompter, waitingForUser: waiting,
            lockout: lockout)
    }

    private func policy(_ schedule: Schedule? = nil) -> LockPolicy {
        var policy = LockPolicy()
        policy.add(LockedApp(id: calculator, name: "Calculator", schedule: schedule))
        return policy
    }

    @Test func aLaunchOfALockedAppCausesAPrompt() {
        #expect(policy().decide(facts(), at: moment(1)) == Decision(verdict: .ask, reason: .locked))
        #expect(policy().isGuarded(calculator, at: moment(1)))
    }

    @Test func anAppThatIsNotOnTheListIsAllowed() {
        #expect(policy().decide(facts(firefox), at: moment(1)) == Decision(verdict: .allow, reason: .notLocked))
        #expect(!policy().isGuarded(firefox, at: moment(1)))
    }

    @Test func outsideItsScheduleAnAppIsAllowed() throws {
        let policy = policy(try Schedule(mode: .blockInside, text: "mon 13:00-14:00"))
        #expect(policy.decide(facts(), at: moment(1)) == Decision(verdict: .allow, reason: .outsideSchedule))
        #expect(!policy.isGuarded(calculator, at: moment(1)))
        let later = moment(2, civil: civil(.monday, 13, 0))
        #expect(policy.decide(facts(), at: later).verdict == .ask)
        #expect(policy.isGuarded(calculator, at: later))
    }

    @Test func aGrantAllowsTheAppUntilItEnds() throws {
        var policy = policy()
        try policy.unlock([calculator], scope: .duration(.seconds(60)), at: moment(10))
        #expect(policy.decide(facts(), at: moment(69.9)) == Decision(verdict: .allow, reason: .granted))
        #expect(!policy.isGuarded(calculator, at: moment(69.9)))
        #expect(policy.decide(facts(), at: moment(70)) == Decision(verdict: .ask, reason: .locked))
        #expect(policy.isGuarded(calculator, at: moment(70)))
        #expect(policy.isGuarded(calculator, at: moment(20, boot: nextBoot)))
        #expect(policy.isGuarded(calculator, at: moment(9)))
    }

    @Test func aGrantForThisLaunchKeepsTheMarksAndIsUsedOnce() throws {
        var policy = policy()
        try policy.unlock([calculator], scope: .thisLaunch, at: moment(10))
        #expect(policy.isGuarded(calculator, at: moment(11)))
        let first = policy.admit(facts(), at: moment(11))
        let second = policy.admit(facts(), at: moment(11))
        #expect(first == Decision(verdict: .allow, reason: .grantedOnce))
        #expect(second == Decision(verdict: .ask, reason: .locked))
    }

    @Test func anUnusedGrantForThisLaunchExpires() throws {
        var policy = policy()
        try policy.unlock([calculator], scope: .thisLaunch, at: moment(10))
        #expect(policy.decide(facts(), at: moment(309)).reason == .grantedOnce)
        #expect(policy.decide(facts(), at: moment(310)).reason == .locked)
    }

    @Test func duringALockoutEverythingLockedIsDenied() {
        var lockout = LockoutLadder()
        for _ in 0..<5 { lockout.recordFailure(at: moment(100)) }
        let during = facts(lockout: lockout)
        #expect(policy().decide(during, at: moment(159)) == Decision(verdict: .deny, reason: .lockedOut))
        #expect(policy().decide(during, at: moment(160)).verdict == .ask)
        #expect(policy().decide(during, at: moment(5000, boot: nextBoot)).reason == .lockedOut)
    }

    @Test func aLockoutDoesNotEndExistingGrants() throws {
        var lockout = LockoutLadder()
        for _ in 0..<5 { lockout.recordFailure(at: moment(100)) }
        var policy = policy()
        try policy.unlock([calculator], scope: .untilLocked, at: moment(90))
        #expect(policy.decide(facts(lockout: lockout), at: moment(101)).reason == .granted)
    }

    @Test func aLaunchWithoutAPrompterIsDenied() {
        #expect(
            policy().decide(facts(hasPrompter: false), at: moment(1)) == Decision(verdict: .deny, reason: .nobodyToAsk))
    }

    @Test func theSixtyFifthWaitingLaunchIsDenied() {
        #expect(policy().decide(facts(waiting: 63), at: moment(1)).verdict == .ask)
        #expect(policy().decide(facts(waiting: 64), at: moment(1)) == Decision(verdict: .deny, reason: .tooManyWaiting))
    }

    @Test func rootIsHeldLikeOtherUsersUnlessASettingExemptsIt() throws {
        var policy = policy()
        #expect(policy.decide(facts(isRoot: true), at: moment(1)).verdict == .ask)
        try policy.changeSettings { $0.holdsRoot = false }
        #expect(policy.decide(facts(isRoot: true), at: moment(1)) == Decision(verdict: .allow, reason: .rootExempt))
        #expect(policy.decide(facts(), at: moment(1)).verdict == .ask)
    }

    @Test func monitoringOffAllowsEverythingUntilItsEndOrTheNextBoot() throws {
        var policy = policy()
        try policy.turnMonitoringOff(for: .seconds(600), at: moment(100))
        #expect(policy.decide(facts(), at: moment(699)) == Decision(verdict: .allow, reason: .monitoringOff))
        #expect(!policy.isGuarded(calculator, at: moment(699)))
        for over in [moment(700), moment(99), moment(200, boot: nextBoot)] {
            #expect(policy.decide(facts(), at: over).verdict == .ask)
            #expect(policy.isGuarded(calculator, at: over))
        }
        try policy.turnMonitoringOff(for: nil, at: moment(100))
        #expect(policy.isMonitoringOff(at: moment(10_000_000)))
        #expect(!policy.isMonitoringOff(at: moment(200, boot: nextBoot)))
        policy.turnMonitoringOn()
        #expect(policy.isGuarded(calculator, at: moment(200)))
    }

    @Test func anAppsOwnScheduleWinsOverItsCategories() throws {
        var policy = policy(try Schedule(mode: .blockInside, text: "mon 13:00-14:00"))
        policy.setCategory(
            try Category(
                name: "games", apps: [calculator], schedule: Schedule(mode: .blockInside, text: "daily 00:00-24:00")))
        #expect(!policy.isGuarded(calculator, at: moment(1)))
    }

    @Test func anyCategoryThatLocksAnAppLocksIt() throws {
        var policy = policy()
        policy.setCategory(
            try Category(
                name: "games", apps: [calculator], schedule: Schedule(mode: .blockInside, text: "mon 08:00-09:00")))
        #expect(!policy.isGuarded(calculator, at: moment(1)))
        policy.setCategory(
            try Category(
                name: "work", apps: [calculator], schedule: Schedule(mode: .blockInside, text: "mon 12:00-13:00")))
        #expect(policy.isGuarded(calculator, at: moment(1)))
        try policy.removeCategory(named: "work")
        #expect(!policy.isGuarded(calculator, at: moment(1)))
        policy.setCategory(try Category(name: "plain", apps: [calculator]))
        #expect(policy.isGuarded(calculator, at: moment(1)))
    }

    @Test func aCategoryAloneLocksNothing() throws {
        var policy = policy()
        policy.setCategory(try Category(name: "web", apps: [firefox]))
        #expect(policy.decide(facts(firefox), at: moment(1)).reason == .notLocked)
    }

    @Test func anAppIsGuardedUnlessItIsAllowedWithoutAOneLaunchGrant() throws {
        var random = RepeatableRandom(seed: 3)
        for _ in 0..<2000 {
            var policy = policy(Bool.random(using: &random) ? .random(using: &random) : nil)
            if Bool.random(using: &random) {
                try policy.unlock(
                    [calculator],
                    scope: [.untilLocked, .duration(.seconds(60))].randomElement(using: &random) ?? .untilLocked,
                    at: moment(50))
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                try policy.turnMonitoringOff(for: .seconds(60), at: moment(60))
            }
            let now = moment(
                Double(Int.random(in: 0..<200, using: &random)), boot: Bool.random(using: &random) ? boot : nextBoot,
                civil: civil(secondOfWeek: Int.random(in: 0..<604_800, using: &random)))
            #expect(policy.isGuarded(calculator, at: now) == (policy.decide(facts(), at: now).verdict != .allow))
        }
    }

    @Test func everyReasonIsOneSentence() {
        for reason in Reason.allCases {
            #expect(reason.description.hasSuffix(".") && reason.description.filter { $0 == "." }.count == 1)
        }
        #expect(Set(Reason.allCases.map(\.description)).count == Reason.allCases.count)
    }
}
