import ControlAPI
import DesktopModels
import Observation
import Synchronization
import TestSupport
import Testing

@MainActor
struct FirstRunModelTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let model: FirstRunModel

    init() {
        control.acceptPasscode()
        control.on(\.setUp) { _ in DoneReport() }
        control.on(\.status) { _ in status() }
        control.on(\.settings) { _ in
            SettingsReport(promptTimeoutSeconds: 30, defaultGrantSeconds: 300, holdsRoot: true)
        }
        control.on(\.listInstalled) { _ in
            InstalledList(
                apps: [("chess", "Chess"), ("firefox-esr", "Firefox"), ("firefoxy", "Other")].map { id, name in
                    InstalledReport(id: id, name: name, icon: nil, kind: "desktop", isListed: false, state: nil)
                })
        }
        control.on(\.addApp) { request in
            try FakeControl.requireToken(request)
            return AppsChanged(apps: [])
        }
        context = makeContext(control)
        model = FirstRunModel(
            context, settings: SettingsModel(context), devices: DevicesModel(context),
            recovery: RecoveryModel(context, VaultModel(context, user: 1_000)))
    }

    private func choosePasscode() async {
        await model.choose(passcode: FakeControl.passcode, repeated: FakeControl.passcode)
    }

    @Test func thePasscodeCannotBeSkipped() async {
        await model.skip()
        #expect(model.step == .passcode)
        await model.choose(passcode: "abc", repeated: "abc")
        #expect(model.step == .passcode && !model.refusal.isEmpty)
        await model.choose(passcode: "correct horse", repeated: "correct house")
        #expect(model.step == .passcode && model.refusal == "The two passcodes differ. Type them again.")
        #expect(control.requests(.setUp).isEmpty)
    }

    @Test func theNextStepsNeedNoSecondPasscode() async {
        await choosePasscode()
        #expect(model.step == .apps && context.session.token != nil)
        model.toggle("firefox-esr")
        await model.next()
        #expect(model.step == .absence && context.prompt.question == nil)
        #expect(model.trial?.name == "Firefox")
        #expect(control.requests(.openSession).count == 1)
    }

    @Test func suggestedAppsAreFirst() async {
        await choosePasscode()
        #expect(model.choices.map(\.id) == ["firefox-esr", "chess", "firefoxy"])
        model.search = "chess"
        #expect(model.choices.map(\.id) == ["chess"])
        model.toggle("chess")
        model.search = ""
        #expect(model.chosenCount == 1)
    }

    @Test func theWindowIsInformedOfEachChosenApp() async {
        await choosePasscode()
        let isInformed = Mutex(false)
        withObservationTracking {
            _ = model.chosenCount
        } onChange: {
            isInformed.withLock { $0 = true }
        }
        model.toggle("chess")
        #expect(isInformed.withLock { $0 } && model.chosenCount == 1)
    }

    @Test func everyOtherStepCanBeSkipped() async {
        await choosePasscode()
        for step in [FirstRunModel.Step.apps, .absence, .phone, .recovery] {
            #expect(model.step == step)
            await model.skip()
        }
        #expect(model.step == .done && model.trial == nil)
        #expect(control.requests(.addApp).isEmpty)
    }

    @Test func anAppThatCannotBeLockedDoesNotKeepTheOthersFromIt() async throws {
        control.on(\.addApp) { request in
            if try request.body(as: AddAppRequest.self).app == "chess" {
                throw ControlError(.essential, "Chess can't be locked.")
            }
            return AppsChanged(apps: [])
        }
        await choosePasscode()
        model.toggle("chess")
        model.toggle("firefox-esr")
        await model.next()
        #expect(model.step == .absence && context.announcement == "Chess can't be locked.")
        #expect(control.requests(.addApp).count == 2)
    }

    @Test func whereOnlyAnAdministratorMayTheAdministratorIsAsked() async {
        control.on(\.setUp) { _ in throw ControlError(.notYours, "Only root may choose the first passcode.") }
        await choosePasscode()
        #expect(model.step == .passcode && model.refusal == "Only root may choose the first passcode.")
        let passcodes = Mutex<[String]>([])
        model.setUpAsAdministrator = { passcode in passcodes.withLock { $0.append(passcode) } }
        await choosePasscode()
        #expect(passcodes.withLock { $0 } == [FakeControl.passcode] && model.step == .apps)
    }
}
