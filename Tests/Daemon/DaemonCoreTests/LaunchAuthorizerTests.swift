import ControlAPI
import Policy
import Synchronization
import Testing

@testable import DaemonCore

@Suite struct LaunchAuthorizerTests {
    private let time = TestTime()

    private func authorizer(prompters: [UInt32] = [alice.user]) -> LaunchAuthorizer {
        let authorizer = LaunchAuthorizer(time: time)
        authorizer.update { snapshot in
            snapshot.policy.add(LockedApp(id: firefox, name: "Firefox"))
            snapshot.policy.add(LockedApp(id: calculator, name: "Calculator"))
            snapshot.promptedUsers = Set(prompters)
        }
        return authorizer
    }

    private func launch(
        _ app: AppID = firefox, user: UInt32 = alice.user, login: UInt32? = nil, parent: Int32 = 1
    ) -> HeldLaunch {
        HeldLaunch(
            connection: 1, number: 1, app: app, process: 2, parent: parent, user: user, loginUser: login,
            deniedAtOnce: false, path: "/a")
    }

    @Test func withoutAPrompterOfItsUserALaunchIsDenied() {
        #expect(authorizer().authorize(launch()).verdict == .ask)
        #expect(authorizer().authorize(launch(user: bob.user)) == Decision(verdict: .deny, reason: .nobodyToAsk))
        #expect(authorizer(prompters: []).authorize(launch()) == Decision(verdict: .deny, reason: .nobodyToAsk))
    }

    @Test func aDenialHoldsForTheNextAttemptsOfTheSameProcess() {
        let authorizer = authorizer()
        var other = launch()
        other.process = 3
        #expect(authorizer.authorize(launch()).verdict == .ask)
        authorizer.remember(denied: launch(), .cancelled)
        #expect(authorizer.authorize(launch()) == Decision(verdict: .deny, reason: .cancelled))
        #expect(authorizer.authorize(other).verdict == .ask, "another process")
        #expect(authorizer.authorize(launch(calculator)).verdict == .ask, "another app")
        time.advance(by: .seconds(4))
        #expect(authorizer.authorize(launch()).verdict == .deny)
        time.advance(by: .seconds(1))
        #expect(authorizer.authorize(launch()).verdict == .ask, "later it is another attempt")
    }

    @Test func anUnlockEndsADenial() {
        let authorizer = authorizer()
        authorizer.remember(denied: launch(), .cancelled)
        let now = time.now()
        authorizer.update { snapshot in
            _ = try? snapshot.policy.unlock([firefox], scope: .untilLocked, at: now, user: alice.user)
        }
        #expect(authorizer.authorize(launch()).verdict == .allow)
    }

    @Test func withoutAPrompterAReachablePairedPhoneIsAsked() {
        let authorizer = authorizer(prompters: [])
        func reason() -> Reason { authorizer.authorize(launch()).reason }
        authorizer.update { $0.isHubConnected = true }
        #expect(reason() == .nobodyToAsk, "no phone is paired")
        authorizer.update { $0.companions = 1 }
        #expect(reason() == .locked)
        #expect(
            authorizer.promptedUser(of: launch(user: 0, login: alice.user)) == alice.user,
            "until its prompter connects")
        #expect(authorizer.promptedUser(of: launch()) == alice.user)
        authorizer.update { $0.isHubConnected = false }
        #expect(reason() == .nobodyToAsk, "the hub can't be reached")
        authorizer.update { snapshot in
            snapshot.isHubConnected = true
            try? snapshot.policy.changeSettings { $0.asksPhoneAlone = false }
        }
        #expect(reason() == .nobodyToAsk, "the setting is off")
    }

    @Test func launchesThatWaitForAPhoneAreLimited() {
        let authorizer = authorizer(prompters: [])
        authorizer.update { ($0.isHubConnected, $0.companions) = (true, 1) }
        for _ in 0..<64 { #expect(authorizer.authorize(launch()).verdict == .ask) }
        #expect(authorizer.authorize(launch()) == Decision(verdict: .deny, reason: .tooManyWaiting))
        authorizer.update { $0.isAsleep = true }
        authorizer.waitingEnded(of: alice.user)
        #expect(authorizer.authorize(launch()) == Decision(verdict: .deny, reason: .relocked))
    }

    @Test func theUserWhoLoggedInIsPromptedForLaunchesAsAnotherUser() {
        #expect(authorizer().authorize(launch(user: 0, login: alice.user)).verdict == .ask)
        #expect(authorizer().promptedUser(of: launch(user: 0, login: alice.user)) == alice.user)
        #expect(authorizer(prompters: [0, alice.user]).promptedUser(of: launch(user: 0, login: alice.user)) == 0)
        #expect(authorizer().authorize(launch(user: 0, login: bob.user)).reason == .nobodyToAsk)
    }

    @Test func theLaunchBeyondTheLimitIsDeniedUntilOneEnds() {
        let authorizer = authorizer(prompters: [alice.user, bob.user])
        for _ in 0..<64 { #expect(authorizer.authorize(launch()).verdict == .ask) }
        #expect(authorizer.authorize(launch()) == Decision(verdict: .deny, reason: .tooManyWaiting))
        #expect(authorizer.authorize(launch(user: bob.user)).verdict == .ask, "another user has a limit of their own")
        authorizer.waitingEnded(of: alice.user)
        #expect(authorizer.authorize(launch()).verdict == .ask)
    }

    @Test func aRestartIsAllowedOnceForAChildOfThePrompter() {
        let authorizer = authorizer()
        authorizer.allowRestart(of: firefox, by: alice.process, user: alice.user)
        #expect(authorizer.authorize(launch(parent: 1)).verdict == .ask, "not a child of the prompter")
        #expect(authorizer.authorize(launch(calculator, parent: alice.process)).verdict == .ask, "another app")
        #expect(authorizer.authorize(launch(user: bob.user, parent: alice.process)).verdict == .deny, "another user")
        #expect(authorizer.authorize(launch(parent: alice.process)) == Decision(verdict: .allow, reason: .restarted))
        #expect(authorizer.authorize(launch(parent: alice.process)).verdict == .ask, "used up")
    }

    @Test func aRestartIsAllowedForTenSeconds() {
        let authorizer = authorizer()
        authorizer.allowRestart(of: firefox, by: alice.process, user: alice.user)
        time.advance(by: .seconds(10))
        #expect(authorizer.authorize(launch(parent: alice.process)).verdict == .ask)
        authorizer.allowRestart(of: firefox, by: alice.process, user: alice.user)
        time.advance(by: .milliseconds(9_999))
        #expect(authorizer.authorize(launch(parent: alice.process)).verdict == .allow)
    }

    @Test func duringALockoutLockedAppsAreDeniedWithoutAPrompt() {
        let authorizer = authorizer()
        authorizer.update { [now = time.now()] snapshot in
            for _ in 0..<5 { snapshot.lockouts.recordFailure(by: alice.user, at: now) }
        }
        #expect(authorizer.authorize(launch()) == Decision(verdict: .deny, reason: .lockedOut))
        // A phone answers without a passcode.
        authorizer.update { ($0.isHubConnected, $0.companions) = (true, 1) }
        #expect(authorizer.authorize(launch()).verdict == .ask)
        authorizer.update { $0.isHubConnected = false }
        time.advance(by: .seconds(60))
        #expect(authorizer.authorize(launch()).verdict == .ask)
    }

    @Test func theGateDeniesByItselfOnlyWhileNobodyCanBeAsked() {
        let authorizer = authorizer(prompters: [])
        let values = Mutex<[UnaskedUsers]>([])
        func last() -> UnaskedUsers? { values.withLock(\.last) }
        authorizer.follow { value in values.withLock { $0.append(value) } }
        authorizer.notifyFollower()
        #expect(last() == .all)
        authorizer.update { $0.promptedUsers = [alice.user] }
        #expect(last() == UnaskedUsers.none, "a prompter")
        authorizer.update { $0.promptedUsers = [] }
        #expect(last() == .all)
        authorizer.update { ($0.isHubConnected, $0.companions) = (true, 1) }
        #expect(last() == UnaskedUsers.none, "a phone")
        authorizer.update { $0.isHubConnected = false }
        #expect(last() == .all)

        authorizer.allowRestart(of: firefox, by: alice.process, user: alice.user)
        #expect(last() == UnaskedUsers.none, "the prompter that was answered starts the app again")
        #expect(authorizer.authorize(launch(parent: alice.process)).verdict == .allow)
        #expect(last() == .all)
        authorizer.allowRestart(of: firefox, by: alice.process, user: alice.user)
        authorizer.endRestarts(of: nil)
        #expect(last() == .all)
        authorizer.allowRestart(of: firefox, by: alice.process, user: alice.user)
        time.advance(by: .seconds(10))
        authorizer.update { $0.companions = 2 }
        #expect(last() == .all, "the time for the restart is over")

        authorizer.update { [now = time.now()] snapshot in
            _ = try? snapshot.policy.unlock([firefox], scope: .thisLaunch, at: now, user: alice.user)
        }
        #expect(last() == UnaskedUsers.none, "a grant for one launch")
        authorizer.update { snapshot in
            _ = try? snapshot.policy.lock([firefox])
            try? snapshot.policy.changeSettings { $0.holdsRoot = false }
        }
        #expect(last() == .allButRoot, "root is exempt")
        let count = values.withLock(\.count)
        authorizer.update { $0.companions = 3 }
        #expect(values.withLock(\.count) == count, "nothing has changed")
    }

    @Test func aLaunchThatTheGateDeniedHasItsReason() {
        let authorizer = authorizer(prompters: [])
        #expect(authorizer.decisionWithoutAsking(launch()) == Decision(verdict: .deny, reason: .nobodyToAsk))
        authorizer.update { $0.promptedUsers = [alice.user] }
        #expect(
            authorizer.decisionWithoutAsking(launch()) == Decision(verdict: .deny, reason: .nobodyToAsk),
            "the prompter came too late")
        authorizer.update { [now = time.now()] snapshot in
            for _ in 0..<5 { snapshot.lockouts.recordFailure(by: alice.user, at: now) }
        }
        #expect(authorizer.decisionWithoutAsking(launch()) == Decision(verdict: .deny, reason: .lockedOut))
    }
}
