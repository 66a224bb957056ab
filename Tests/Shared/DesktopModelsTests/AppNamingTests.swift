import ControlAPI
import DesktopModels
import TestSupport
import Testing

/// Apps have their names in the person's language on every page.
@MainActor
struct AppNamingTests {
    private let control = FakeControl()
    private let context: DesktopContext

    init() {
        context = makeContext(control) { id, name in id == "calculator" && name == "Calculator" ? "Rechner" : name }
        control.acceptPasscode()
        control.on(\.listApps) { _ in
            AppList(apps: [app("calculator", "Calculator", .unlocked, seconds: 60), app("chess", "Schach")])
        }
        control.on(\.listInstalled) { _ in
            InstalledList(
                apps: [
                    InstalledReport(
                        id: "calculator", name: "Calculator", icon: nil, kind: "desktop", isListed: true, state: nil)
                ])
        }
        control.on(\.listCategories) { _ in CategoryList(categories: []) }
    }

    @Test func theListSortsAndFindsAppsByTheseNames() async {
        let model = AppsModel(context) { _ in [] }
        await model.refresh()
        #expect(model.listed.map(\.name) == ["Rechner", "Schach"])
        model.search = "rechner"
        #expect(model.listed.map(\.id) == ["calculator"])
        control.on(\.lock) { _ in AppsChanged(apps: []) }
        control.on(\.removeApp) { _ in AppsChanged(apps: []) }
        await model.lock("calculator")
        async let removed: Void = model.remove("calculator")
        await answer(context.prompt)
        await removed
        #expect(context.announcement == "Rechner is no longer locked.")
    }

    @Test func theOverviewHasThem() async {
        control.on(\.status) { _ in status(unlocked: 1, waiting: 1) }
        control.on(\.waitingPrompts) { _ in
            PromptList(prompts: [
                PromptReport(
                    prompt: "p", app: "calculator", name: "Calculator", icon: nil, path: "/usr/bin/c", process: 7,
                    parentName: nil, user: 1_000, userName: nil, expiresInSeconds: 30, defaultGrantSeconds: 300,
                    hasOwnPasscode: false, startsAgain: false, lockout: LockoutState(failures: 0, remainingSeconds: 0))
            ])
        }
        let model = OverviewModel(context, VaultModel(context, user: 1_000))
        await model.refresh()
        #expect(model.openApps.map(\.name) == ["Rechner"])
        #expect(model.waitingLaunches.map(\.name) == ["Rechner"])
    }

    @Test func theChartOfAppsHasThem() async {
        control.on(\.log) { _ in EventList(events: []) }
        control.on(\.statistics) { _ in
            StatisticsReport(
                since: nil,
                apps: [
                    AppStatistics(
                        app: "calculator", name: "Calculator", asked: 2, allowed: 1, denied: 1, wrongPasscodes: 0,
                        unlocks: 1)
                ], byDay: [])
        }
        let model = ActivityModel(context) { "user \($0)" }
        await model.load()
        #expect(model.bars.map(\.name) == ["Rechner"])
    }
}
