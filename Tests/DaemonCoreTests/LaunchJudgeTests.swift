import Policy
import Testing
import WireProtocol

@testable import DaemonCore

@Suite struct LaunchJudgeTests {
    private let time = TestTime()

    private func judge(prompters: [UInt32] = [alice.user]) -> LaunchJudge {
        let judge = LaunchJudge(time: time)
        judge.update { view in
            view.policy.add(LockedApp(id: firefox, name: "Firefox"))
            view.policy.add(LockedApp(id: calculator, name: "Calculator"))
            for user in prompters { view.prompters[user] = 1 }
        }
        return judge
    }

    private func launch(
        _ app: AppID = firefox, user: UInt32 = alice.user, login: UInt32? = nil, parent: Int32 = 1
    ) -> HeldLaunch {
        HeldLaunch(
            number: 1, app: app, process: 2, parent: parent, user: user, loginUser: login, deniedAtOnce: false,
            path: "/a")
    }

    @Test func withoutAPrompterOfItsUserALaunchIsDenied() {
        #expect(judge().judge(launch()).verdict == .ask)
        #expect(judge().judge(launch(user: bob.user)) == Decision(verdict: .deny, reason: .nobodyToAsk))
        #expect(judge(prompters: []).judge(launch()) == Decision(verdict: .deny, reason: .nobodyToAsk))
    }

    @Test func withoutAPrompterAPairedPhoneIsAskedWhereItCanBe() {
        let judge = judge(prompters: [])
        func reason() -> Reason { judge.judge(launch()).reason }
        judge.update { $0.isHubConnected = true }
        #expect(reason() == .nobodyToAsk, "no phone is paired")
        judge.update { $0.companions = 1 }
        #expect(reason() == .locked)
        #expect(judge.askee(of: launch(user: 0, login: alice.user)) == alice.user, "whose prompter may still come")
        #expect(judge.askee(of: launch()) == alice.user)
        judge.update { $0.isHubConnected = false }
        #expect(reason() == .nobodyToAsk, "the hub can't be reached")
        judge.update { view in
            view.isHubConnected = true
            try? view.policy.changeSettings { $0.asksPhoneAlone = false }
        }
        #expect(reason() == .nobodyToAsk, "the owner does not want it")
    }

    @Test func launchesThatWaitForAPhoneAreLimitedToo() {
        let judge = judge(prompters: [])
        judge.update { ($0.isHubConnected, $0.companions) = (true, 1) }
        for _ in 0..<64 { #expect(judge.judge(launch()).verdict == .ask) }
        #expect(judge.judge(launch()) == Decision(verdict: .deny, reason: .tooManyWaiting))
        judge.isAsleep = true
        judge.waitingEnded(of: alice.user)
        #expect(judge.judge(launch()) == Decision(verdict: .deny, reason: .relocked))
    }

    @Test func whoLoggedInIsAskedForWhatHeStartsAsSomebodyElse() {
        #expect(judge().judge(launch(user: 0, login: alice.user)).verdict == .ask)
        #expect(judge().askee(of: launch(user: 0, login: alice.user)) == alice.user)
        #expect(judge(prompters: [0, alice.user]).askee(of: launch(user: 0, login: alice.user)) == 0)
        #expect(judge().judge(launch(user: 0, login: bob.user)).reason == .nobodyToAsk)
    }

    @Test func theLaunchBeyondTheLimitIsDeniedUntilOneEnds() {
        let judge = judge(prompters: [alice.user, bob.user])
        for _ in 0..<64 { #expect(judge.judge(launch()).verdict == .ask) }
        #expect(judge.judge(launch()) == Decision(verdict: .deny, reason: .tooManyWaiting))
        #expect(judge.judge(launch(user: bob.user)).verdict == .ask, "another user's limit is his own")
        judge.waitingEnded(of: alice.user)
        #expect(judge.judge(launch()).verdict == .ask)
    }

    @Test func aRestartIsForTheChildOfItsPrompterAndItsAppOnce() {
        let judge = judge()
        judge.allowRestart(of: firefox, by: alice.process, user: alice.user)
        #expect(judge.judge(launch(parent: 1)).verdict == .ask, "not a child of the prompter")
        #expect(judge.judge(launch(calculator, parent: alice.process)).verdict == .ask, "another app")
        #expect(judge.judge(launch(user: bob.user, parent: alice.process)).verdict == .deny, "another user")
        #expect(
            judge.judge(launch(parent: alice.process)) == Decision(verdict: .allow, reason: .passcodeGiven))
        #expect(judge.judge(launch(parent: alice.process)).verdict == .ask, "used up")
    }

    @Test func aRestartIsForTenSeconds() {
        let judge = judge()
        judge.allowRestart(of: firefox, by: alice.process, user: alice.user)
        time.advance(by: .seconds(10))
        #expect(judge.judge(launch(parent: alice.process)).verdict == .ask)
        judge.allowRestart(of: firefox, by: alice.process, user: alice.user)
        time.advance(by: .milliseconds(9_999))
        #expect(judge.judge(launch(parent: alice.process)).verdict == .allow)
    }

    @Test func duringALockoutWhatIsLockedIsDeniedWithoutAQuestion() {
        let judge = judge()
        judge.update { [now = time.now()] view in
            for _ in 0..<5 { view.lockouts.recordFailure(by: alice.user, at: now) }
        }
        #expect(judge.judge(launch()) == Decision(verdict: .deny, reason: .lockedOut))
        // A phone answers without a passcode.
        judge.update { ($0.isHubConnected, $0.companions) = (true, 1) }
        #expect(judge.judge(launch()).verdict == .ask)
        judge.update { $0.isHubConnected = false }
        time.advance(by: .seconds(60))
        #expect(judge.judge(launch()).verdict == .ask)
    }
}
