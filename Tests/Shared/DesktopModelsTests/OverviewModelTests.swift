import ControlAPI
import DesktopModels
import Synchronization
import TestSupport
import Testing

@MainActor
struct OverviewModelTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let model: OverviewModel

    init() {
        control.acceptPasscode()
        context = makeContext(control)
        model = OverviewModel(context, VaultModel(context, user: 1_000))
    }

    private func show(_ report: StatusReport, _ apps: [AppReport] = [app("a", "A")]) async {
        control.on(\.status) { _ in report }
        control.on(\.listApps) { _ in AppList(apps: apps) }
        await model.refresh()
    }

    @Test func aProtectedComputerIsOneSentence() async {
        await show(status(locked: 1, unlocked: 1))
        #expect(model.summary.level == .good)
        #expect(model.summary.title == "Protected")
        #expect(model.summary.detail.hasPrefix("1 app locked, 1 unlocked now."))
        #expect(model.problems.isEmpty && model.waiting.isEmpty)
    }

    @Test(arguments: [
        (status(isSetUp: false, locked: 0), Remedy.setUp), (status(locked: 0), .chooseApps),
        (status(monitoring: MonitoringState(isOn: false)), .turnMonitoringOn), (status(.gateAway), nil),
    ])
    func anUnprotectedComputerHasItsRemedy(report: StatusReport, remedy: Remedy?) async {
        await show(report)
        #expect(model.summary.level == .off)
        #expect(model.summary.remedy == remedy)
    }

    @Test func theWeakModeIsNeverShownAsProtected() async {
        await show(status(.weak, degraded: ["Weak mode: no permission."]))
        #expect(model.summary.level == .incomplete)
        #expect(model.problems.map(\.sentence) == ["Weak mode: no permission."])
    }

    @Test func aMissingPrompterIsOneProblemThatCanBeFixed() async {
        await show(
            status(
                degraded: ["No prompter is connected for you: launches of your locked apps are denied."],
                prompter: false))
        #expect(model.problems.map(\.remedy) == [.startPrompter])
    }

    @Test(arguments: [
        (1, "1 wrong passcode: no passcode is accepted for 1 minute 30 seconds."),
        (5, "5 wrong passcodes in a row: no passcode is accepted for 1 minute 30 seconds."),
    ])
    func aLockoutHasTheTimeThatIsLeft(failures: Int, sentence: String) async {
        await show(status(lockout: LockoutState(failures: failures, remainingSeconds: 90)))
        #expect(model.problems.map(\.sentence) == [sentence])
    }

    @Test func openAppsHaveTheTimeUntilWhenTheyAreOpen() async {
        await show(
            status(unlocked: 3),
            [
                app("a", "A", .unlocked, seconds: 300), app("b", "B", .unlocked), app("c", "C", .outsideSchedule),
                app("d", "D"),
            ])
        // 12:00 UTC is 13:00 here.
        #expect(model.openApps.map(\.until) == ["Until 13:05", "Until it is locked", "By its schedule"])
        #expect(model.openApps.map(\.canLock) == [true, true, false])
    }

    @Test func waitingLaunchesHaveTheTimeThatIsLeftAndCanBeDenied() async {
        control.on(\.waitingPrompts) { _ in
            PromptList(prompts: [
                PromptReport(
                    prompt: "1-2", app: "a", name: "A", icon: "a-icon", path: "/a", process: 7, parentName: "bash",
                    user: 1_000, userName: "ann", expiresInSeconds: 20, defaultGrantSeconds: 300, hasOwnPasscode: false,
                    startsAgain: false, lockout: LockoutState(failures: 0, remainingSeconds: 0))
            ])
        }
        await show(status(waiting: 2))
        #expect(
            model.waiting
                == "2 launches wait for the passcode. Without an answer the first is denied in 20 seconds.")
        #expect(
            model.waitingLaunches.map { [$0.name, $0.icon ?? "", $0.detail] }
                == [["A", "a-icon", "Started by bash. Denied in 20 seconds without an answer."]])
        control.on(\.cancelPrompt) { _ in DoneReport() }
        control.on(\.status) { _ in status(waiting: 0) }
        await model.deny("1-2")
        #expect(control.requests(.cancelPrompt).count == 1)
        #expect(model.waiting.isEmpty && model.waitingLaunches.isEmpty)
    }

    @Test func aStoppedDaemonIsNotShownAsProtected() async {
        await show(status())
        control.on(\.status) { _ in throw DaemonUnreachable(isStopped: true, sentence: "Nothing answers.") }
        await model.refresh()
        #expect(model.summary.level == .off)
        #expect(model.summary.title == "AppLocker is not running")
        #expect(model.summary.detail == "Nothing answers.")
        #expect(model.summary.remedy == nil)
    }

    @Test func aStoppedServiceIsStarted() async {
        control.on(\.status) { _ in throw DaemonUnreachable(isStopped: true, sentence: "Nothing answers.") }
        model.canStartService = { true }
        model.startService = { throw ControlError(.failed, "Job for applockerd.service failed.") }
        await model.refresh()
        #expect(model.summary.remedy == .startService)
        await model.start()
        #expect(context.announcement == "Job for applockerd.service failed." && model.summary.remedy == .startService)
        model.startService = {}
        control.on(\.status) { _ in status() }
        control.on(\.listApps) { _ in AppList(apps: [app("a", "A")]) }
        await model.start()
        #expect(model.summary.remedy == nil && model.summary.level == .good)
        control.on(\.status) { _ in throw DaemonUnreachable(isStopped: false, sentence: "No answer.") }
        await model.refresh()
        #expect(model.summary.remedy == nil, "it runs")
    }

    private let tracing = HostProblem(
        sentence: "Programs can be traced.", advice: "Run it.", remedy: .fix(.restrictTracing))

    @Test func aProblemOfTheComputerIsAnExceptionWithItsFix() async {
        model.readHost = { [tracing] in
            [
                tracing, HostProblem(sentence: "No Yama.", advice: "Use another kernel."),
                HostProblem(sentence: "No photos.", remedy: .fix(.installFfmpeg), weakensProtection: false),
            ]
        }
        await show(status(locked: 1))
        #expect(model.summary.title == "Protected, with exceptions")
        #expect(model.problems.map(\.sentence) == ["Programs can be traced.", "No Yama.", "No photos."])
        #expect(model.problems.map(\.remedy?.title) == ["Fix…", nil, "Fix…"])
        #expect(model.problems.map(\.advice) == ["", "Use another kernel.", ""], "words where there is no button")
    }

    @Test func adviceAloneLeavesTheComputerProtected() async {
        model.readHost = { [HostProblem(sentence: "No photos.", weakensProtection: false)] }
        await show(status(locked: 1))
        #expect(model.summary.title == "Protected" && model.problems.count == 1)
    }

    @Test func everyFixStatesWhatItChangesBefore() {
        for fix in [HostFix.restrictTracing, .restrictCoreFiles] {
            #expect(fix.question.explanation.contains("/etc/sysctl.d/60-applocker.conf"))
        }
        #expect(HostFix.restrictTracing.question.explanation.contains("kernel.yama.ptrace_scope to 1"))
        #expect(HostFix.restrictCoreFiles.question.explanation.contains("fs.suid_dumpable to 0"))
        #expect(HostFix.enableServices.question.explanation.contains("applocker-gate and applockerd"))
        #expect(HostFix.installFfmpeg.question.explanation.contains("the package ffmpeg"))
    }

    @Test func aFixedProblemDisappearsAtOnce() async {
        let found = Mutex([tracing])
        var made: [HostFix] = []
        model.readHost = { found.withLock { $0 } }
        model.fixHost = { fix in
            made.append(fix)
            found.withLock { $0 = [] }
        }
        await show(status(locked: 1))
        await model.fix(.restrictTracing)
        #expect(made == [.restrictTracing])
        #expect(model.problems.isEmpty && model.summary.title == "Protected")
        #expect(context.announcement == "The problem is fixed.")
    }

    @Test func aProblemThatRemainsOrAFailureIsOneSentenceAndACancelledDialogIsNone() async {
        model.readHost = { [tracing] in [tracing] }
        await show(status(locked: 1))
        model.fixHost = { _ in throw CancellationError() }
        await model.fix(.restrictTracing)
        #expect(context.announcements == 0 && model.problems.count == 1)
        model.fixHost = { _ in throw ControlError(.failed, "This kernel has none.") }
        await model.fix(.restrictTracing)
        #expect(context.announcement == "This kernel has none." && model.problems.count == 1)
        model.fixHost = { _ in }
        await model.fix(.restrictTracing)
        #expect(context.announcement == "The problem remains: Programs can be traced.")
    }

    @Test func theComputerIsReadAgainOnceTheDaemonStopsOrAnswers() async {
        let reads = Mutex(0)
        model.readHost = {
            reads.withLock { $0 += 1 }
            return []
        }
        await show(status())
        await model.refresh()
        #expect(reads.withLock { $0 } == 1)
        control.on(\.status) { _ in throw DaemonUnreachable(isStopped: true, sentence: "Nothing answers.") }
        await model.refresh()
        #expect(reads.withLock { $0 } == 2)
        await show(status())
        #expect(reads.withLock { $0 } == 3)
    }

    @Test func aSecondFixWaitsForTheFirst() async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        var made = 0
        model.fixHost = { _ in
            made += 1
            for await _ in ends { break }
        }
        await show(status(locked: 1))
        async let first: Void = model.fix(.installFfmpeg)
        await eventually("it is being made") { made == 1 }
        await model.fix(.restrictTracing)
        #expect(made == 1 && context.announcement == "Another change is still being made.")
        end.yield()
        await first
        #expect(context.announcement == "The problem is fixed.")
    }

    @Test func aStoppedServiceIsOneProblemAndAServiceThatIsNotEnabledAnother() async {
        let stopped = HostProblem(sentence: "It does not run.", remedy: .startService)
        let disabled = HostProblem(sentence: "It does not start.", remedy: .fix(.enableServices))
        model.canStartService = { true }
        model.readHost = { [stopped, disabled] }
        control.on(\.status) { _ in throw DaemonUnreachable(isStopped: true, sentence: "Nothing answers.") }
        await model.refresh()
        #expect(model.summary.remedy == .startService)
        #expect(model.problems.map(\.sentence) == ["It does not start."], "the summary has the other one")
    }

    @Test func lockingEverythingNeedsNoPasscode() async throws {
        control.on(\.lock) { _ in AppsChanged(apps: []) }
        await show(status())
        await model.lockAll()
        #expect(try control.requests(.lock).map { try $0.body(as: LockRequest.self).all } == [true])
        #expect(context.announcement == "All apps are locked.")
        #expect(context.prompt.question == nil)
    }

    @Test func lockingEverythingEndsTheSession() async throws {
        control.on(\.lock) { _ in AppsChanged(apps: []) }
        await show(status())
        async let opened = context.session.open()
        await answer(context.prompt)
        _ = try await opened
        await model.lockAll()
        #expect(context.session.token == nil && context.session.secondsLeft == nil)
        #expect(control.requests(.endSession).map(\.token) == ["token 1"])
    }

    @Test func lockingWhatAPhoneUnlockedAsksForThePasscode() async throws {
        control.refuseToLockWithoutToken()
        await show(status(unlocked: 1), [app("a", "A", .unlocked)])
        async let done: Void = model.lock("a")
        await eventually("it asks") { context.prompt.question != nil }
        #expect(context.prompt.question?.title == "Lock A")
        await answer(context.prompt)
        await done
        #expect(control.requests(.lock).map(\.token) == [nil, "token 1"])
        #expect(context.announcements == 0)
    }

    @Test func unlockingEverythingSendsThePasscodeWithTheGrant() async throws {
        control.on(\.unlock) { request in
            try FakeControl.check(try request.body(as: UnlockRequest.self).passcode)
            return AppsChanged(apps: [], notes: ["2 apps are unlocked."])
        }
        await show(status())
        async let done: Void = model.unlockAll(GrantRequest(.duration, seconds: 60))
        await answer(context.prompt)
        await done
        let request = try #require(control.requests(.unlock).first).body(as: UnlockRequest.self)
        #expect(request.all && request.grant == GrantRequest(.duration, seconds: 60))
        #expect(context.announcement == "2 apps are unlocked.")
    }
}
