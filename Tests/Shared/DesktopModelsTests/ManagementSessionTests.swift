import ControlAPI
import DesktopModels
import TestSupport
import Testing

@MainActor
struct ManagementSessionTests {
    private let control = FakeControl()
    private let clock = TestClock()
    private let context: DesktopContext

    init() {
        control.acceptPasscode()
        control.on(\.addApp) { request in
            try FakeControl.requireToken(request)
            return AppsChanged(apps: [])
        }
        context = makeContext(control, clock)
    }

    private func change() async throws -> String {
        try await context.session.perform("Change") { [control] token in
            _ =
                try await control.send(
                    \.addApp, parameter: nil, token: token, body: AddAppRequest(app: "a")) as AppsChanged
            return token
        }
    }

    @Test func aPasscodeIsAskedForOnceASession() async throws {
        async let first = change()
        await answer(context.prompt)
        #expect(try await first == "token 1")
        #expect(context.session.secondsLeft == 300)
        #expect(try await change() == "token 1")
        #expect(control.requests(.openSession).count == 1)
        #expect(context.prompt.question == nil)
    }

    @Test func aChangeExtendsTheSessionUpToItsEnd() async throws {
        async let first = change()
        await answer(context.prompt)
        _ = try await first
        for _ in 0..<3 {
            clock.advance(by: .seconds(240))
            _ = try await change()
        }
        // Opened 720 s ago: 180 s are left of 900, although 300 without a change.
        #expect(context.session.secondsLeft == 180)
        clock.advance(by: .seconds(181))
        context.session.refresh()
        #expect(context.session.secondsLeft == nil)
        #expect(context.session.token == nil)
    }

    @Test func aSessionThatTheDaemonEndedIsOpenedAgain() async throws {
        async let first = change()
        await answer(context.prompt)
        _ = try await first
        control.on(\.addApp) { request in
            guard request.token == "token 2" else { throw ControlError(.sessionNeeded, "It has ended.") }
            return AppsChanged(apps: [])
        }
        async let second = change()
        await answer(context.prompt)
        #expect(try await second == "token 2")
    }

    @Test func endingForgetsTheTokenEvenWithoutTheDaemon() async throws {
        async let first = change()
        await answer(context.prompt)
        _ = try await first
        control.on(\.endSession) { _ in throw DaemonUnreachable(isStopped: true, sentence: "Gone.") }
        await context.session.end()
        #expect(context.session.token == nil && context.session.secondsLeft == nil)
        #expect(control.requests(.endSession).map(\.token) == ["token 1"])
    }

    @Test func aCancelledDialogChangesNothingAndIsNoFailure() async throws {
        async let changed: String? = context.attempt { try await change() }
        await eventually("it asks") { context.prompt.question != nil }
        context.prompt.cancel()
        #expect(await changed == nil)
        #expect(context.announcements == 0)
        #expect(control.requests(.addApp).isEmpty)
    }
}

@MainActor
struct PasscodePromptTests {
    @Test func aWrongPasscodeKeepsTheDialogOpenWithTheReason() async throws {
        let control = FakeControl()
        control.acceptPasscode()
        let context = makeContext(control)
        async let token = context.session.open("Change settings")
        await answer(context.prompt, "wrong")
        #expect(context.prompt.question?.title == "Change settings")
        #expect(context.prompt.refusal == "This passcode is wrong.")
        #expect(context.prompt.refusals == 1)
        await answer(context.prompt)
        #expect(try await token == "token 1")
        #expect(context.prompt.question == nil && context.prompt.refusal.isEmpty)
    }

    @Test func anotherFailureClosesTheDialogAndIsReported() async throws {
        let control = FakeControl()
        control.on(\.openSession) { _ in throw DaemonUnreachable(isStopped: true, sentence: "Nothing answers.") }
        let context = makeContext(control)
        async let opened: String? = context.attempt { try await context.session.open() }
        await answer(context.prompt)
        #expect(await opened == nil)
        #expect(context.prompt.question == nil)
        #expect(context.announcement == "Nothing answers.")
    }

    @Test func aSecondQuestionDoesNotReplaceTheFirst() async throws {
        let control = FakeControl()
        control.acceptPasscode()
        let context = makeContext(control)
        async let first = context.session.open("First")
        await eventually("it asks") { context.prompt.question != nil }
        await #expect(throws: CancellationError.self) { try await context.session.open("Second") }
        #expect(context.prompt.question?.title == "First")
        await answer(context.prompt)
        #expect(try await first == "token 1")
    }
}
