import ControlAPI
import DesktopModels
import Policy
import Synchronization
import TestSupport
import Testing

@MainActor
struct AppsModelTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let model: AppsModel

    init() {
        control.acceptPasscode()
        control.on(\.listInstalled) { _ in
            InstalledList(
                apps: ["firefox": "Firefox", "mail": "Mail", "chess": "Chess", "org.applocker.AppLocker": "AppLocker"]
                    .map { id, name in
                        InstalledReport(id: id, name: name, icon: nil, kind: "desktop", isListed: false, state: nil)
                    })
        }
        control.on(\.settings) { _ in
            SettingsReport(promptTimeoutSeconds: 30, defaultGrantSeconds: 600, holdsRoot: true)
        }
        control.on(\.listApps) { _ in
            AppList(apps: [
                app(
                    "mail", "Mail", .unlocked, seconds: 60, categories: ["work"], hasOwnPasscode: true),
                app("gone", "Gone", schedule: "block daily 22:00-07:00"),
            ])
        }
        control.on(\.listCategories) { _ in
            CategoryList(categories: [CategoryReport(name: "work", apps: ["mail"])])
        }
        context = makeContext(control)
        model = AppsModel(context) { _ in ["chess", "mail"] }
    }

    @Test func lockedAppsAreApartFromTheOthersAndAppearOnce() async {
        await model.load()
        #expect(model.listed.map(\.id) == ["gone", "mail"])
        #expect(model.running.map(\.id) == ["chess"], "and not mail, which is on the list")
        #expect(model.others.map(\.id) == ["firefox"])
        #expect(
            model.listed.map(\.stateText) == [
                "Locked now · block daily 22:00-07:00", "Unlocked until 13:01 · own passcode · work",
            ])
        #expect(model.grants.contains { $0.grant.seconds == 600 && $0.title == "10 minutes" })
    }

    @Test(arguments: ["allow mon-fri 09:00-17:00, sat,sun 10:00-24:00", "a later version's"])
    func inEnglishAScheduleIsAsTheDaemonWritesIt(schedule: String) async {
        control.on(\.listApps) { _ in AppList(apps: [app("mail", "Mail", schedule: schedule)]) }
        await model.load()
        #expect(model.listed.map(\.stateText) == ["Locked now · \(schedule)"])
    }

    @Test func aSearchFindsNamesAndIdsWithAllWords() async {
        await model.load()
        model.search = "FIRE"
        #expect(model.listed.isEmpty && model.others.map(\.id) == ["firefox"])
        model.search = "mail chess"
        #expect(model.findsNothing)
        model.search = ""
        #expect(model.listed.count == 2 && model.running.count == 1 && model.others.count == 1)
    }

    @Test func aSearchThatFindsOnlyARunningAppFindsSomething() async {
        await model.load()
        model.search = "chess"
        #expect(model.running.map(\.id) == ["chess"] && !model.findsNothing)
    }

    @Test func whatRunsIsLookedUpAgainAmongTheAppsThatAreNotListed() async {
        let asked = Mutex<[[String]]>([])
        let running = Mutex<Set<String>>([])
        let model = AppsModel(context) { apps in
            asked.withLock { $0.append(apps.map(\.id).sorted()) }
            return running.withLock { $0 }
        }
        await model.load()
        #expect(model.running.isEmpty)
        running.withLock { $0 = ["firefox"] }
        await model.refresh()
        #expect(model.running.map(\.id) == ["firefox"] && model.others.map(\.id) == ["chess"])
        #expect(asked.withLock { $0 } == [["chess", "firefox"], ["chess", "firefox"]])
    }

    @Test func aRunningAppIsLockedWithTheChoiceForItsInstances() async throws {
        control.on(\.addApp) { _ in AppsChanged(apps: [app("chess", "Chess")]) }
        await model.load()
        async let done: Void = model.add("chess", running: "close")
        await answer(context.prompt)
        await done
        await model.add("firefox")
        // Also in the session that this opened: the choice ends or stops what runs.
        async let asked: Void = model.add("firefox", running: "freeze")
        await eventually("it asks") { context.prompt.question?.title == "Lock Firefox" }
        context.prompt.cancel()
        await asked
        #expect(
            try control.requests(.addApp).map { try $0.body(as: AddAppRequest.self).running } == ["close", nil])
    }

    @Test func anAddedAppIsAnnouncedWithTheDaemonsName() async throws {
        control.on(\.addApp) { request in
            try FakeControl.requireToken(request)
            return AppsChanged(apps: [app("firefox", "Firefox ESR")])
        }
        await model.load()
        async let done: Void = model.add("firefox")
        await answer(context.prompt)
        await done
        #expect(context.announcement == "Firefox ESR is locked.")
        #expect(try control.requests(.addApp).map { try $0.body(as: AddAppRequest.self).app } == ["firefox"])
    }

    @Test func droppedEntriesAreNamedByTheirIdAndProgramsByTheirPath() async throws {
        control.on(\.addApp) { _ in AppsChanged(apps: []) }
        async let done: Void = model.add(dropped: ["/usr/share/applications/org.x.Y.desktop", "/opt/x/run"])
        await answer(context.prompt)
        await done
        #expect(
            try control.requests(.addApp).map { try $0.body(as: AddAppRequest.self).app } == ["org.x.Y", "/opt/x/run"])
    }

    @Test func aRefusalIsAnnouncedAndTheListIsReadAgain() async {
        control.on(\.addApp) { _ in throw ControlError(.essential, "The desktop needs this program.") }
        await model.load()
        let reads = control.requests(.listApps).count
        async let done: Void = model.add("chess")
        await answer(context.prompt)
        await done
        #expect(context.announcement == "The desktop needs this program.")
        #expect(control.requests(.listApps).count == reads + 1)
    }

    @Test func anAppWithItsOwnPasscodeAsksForEither() async throws {
        control.on(\.unlock) { _ in AppsChanged(apps: []) }
        await model.load()
        async let done: Void = model.unlock("mail", GrantRequest(.untilLocked))
        await eventually("it asks") { context.prompt.question != nil }
        #expect(context.prompt.question?.explanation == "Enter its own passcode, or the owner's.")
        await answer(context.prompt)
        await done
        let request = try #require(control.requests(.unlock).first).body(as: UnlockRequest.self)
        #expect(request.apps == ["mail"] && request.grant.kind == .untilLocked)
    }

    @Test func lockingWhatAPhoneUnlockedAsksForThePasscode() async throws {
        control.refuseToLockWithoutToken()
        await model.load()
        async let done: Void = model.lock("mail")
        await eventually("it asks") { context.prompt.question != nil }
        #expect(context.prompt.question?.title == "Lock Mail")
        await answer(context.prompt)
        await done
        #expect(control.requests(.lock).map(\.token) == [nil, "token 1"])
        #expect(context.announcements == 0)
    }

    @Test func whatOpensAnAppAsksForThePasscodeInAnOpenSessionToo() async throws {
        control.on(\.removeApp) { _ in AppsChanged(apps: []) }
        control.on(\.changeApp) { _ in AppsChanged(apps: []) }
        await model.load()
        async let opened: String? = context.attempt { try await context.session.open() }
        await answer(context.prompt)
        _ = await opened
        async let changed: Void = model.change("mail", ChangeAppRequest(schedule: "allow daily 00:00-24:00"))
        await eventually("it asks") { context.prompt.question?.title == "Change Mail" }
        context.prompt.cancel()
        await changed
        #expect(control.requests(.changeApp).isEmpty && context.session.token == "token 1")
        async let removed: Void = model.remove("mail")
        await eventually("it asks") { context.prompt.question?.title == "Stop locking Mail" }
        await answer(context.prompt)
        await removed
        #expect(control.requests(.removeApp).map(\.token) == ["token 2"])
        #expect(control.requests(.endSession).map(\.token) == ["token 1"] && context.session.token == "token 2")
    }

    @Test func aCategoryKeepsItsOtherApps() async throws {
        control.on(\.setCategory) { _ in CategoryReport(name: "work", apps: []) }
        await model.load()
        async let done: Void = model.setCategory("work", of: "gone", contains: true)
        await answer(context.prompt)
        await done
        let request = try #require(control.requests(.setCategory).first)
        #expect(try request.body(as: SetCategoryRequest.self).apps == ["mail", "gone"])
        await model.setCategory("work", of: "mail", contains: true)
        #expect(control.requests(.setCategory).count == 1)
    }

    @Test func aCategoryIsFoundByItsNameAndShownWithItsSchedule() async {
        control.on(\.listCategories) { _ in
            CategoryList(categories: [
                CategoryReport(name: "games", apps: ["gone", "mail"], schedule: "allow sat,sun 14:00-18:00"),
                CategoryReport(name: "work", apps: ["mail"]),
            ])
        }
        await model.load()
        #expect(model.shownCategories.map(\.text) == ["2 apps · allow sat,sun 14:00-18:00", "1 app"])
        model.search = "games"
        #expect(model.shownCategories.map(\.id) == ["games"] && model.listed.isEmpty && !model.findsNothing)
        #expect(model.locked.map(\.id) == ["gone", "mail"], "those that a category can have")
    }

    @Test func aCategorysScheduleIsChangedAndItIsRemoved() async throws {
        control.on(\.setCategory) { _ in CategoryReport(name: "work", apps: []) }
        control.on(\.removeCategory) { _ in DoneReport() }
        await model.load()
        async let changed: Void = model.setSchedule("block daily 22:00-07:00", ofCategory: "work")
        await answer(context.prompt)
        await changed
        let request = try #require(control.requests(.setCategory).first)
        let body = try request.body(as: SetCategoryRequest.self)
        #expect(body.schedule == "block daily 22:00-07:00" && body.apps == nil, "its apps stay")
        async let removed: Void = model.removeCategory("work")
        await answer(context.prompt)
        await removed
        #expect(control.requests(.removeCategory).count == 1)
        #expect(context.announcement == "The category work is removed.")
    }
}

struct ScheduleDraftTests {
    @Test(arguments: [
        "block mon-fri 22:00-07:00, sat,sun 23:00-09:00", "allow daily 18:00-21:00", "block daily 00:00-24:00",
    ])
    func theDaemonsTextIsReadAndWrittenUnchanged(text: String) throws {
        #expect(try ScheduleDraft(text: text).text() == text)
    }

    @Test func noScheduleIsAlwaysLocked() throws {
        #expect(ScheduleDraft(text: nil).kind == .always)
        #expect(try ScheduleDraft(kind: .always, times: [ScheduleDraft.usual]).text() == "")
        #expect(try ScheduleDraft(kind: .allow).text() == "", "without times nothing is unlocked")
    }

    @Test(
        arguments: [
            ([], "22:00", "07:00", "at least one day"), ([.monday], "", "07:00", "not a time of day"),
            ([.monday], "", "", "not a time of day"),
            ([.monday], "25:00", "07:00", "\"25:00\" is not a time of day"),
            ([.monday], "noon", "8", "is not a time of day"),
            ([.monday], "22:00-23:00", "07:00", "not a time range"),
            ([.monday], "22:00", "07:00, sun 10:00-11:00", "is not a time range"),
        ] as [(Set<Weekday>, String, String, String)])
    func whatCannotBeReadIsRefusedWithASentence(days: Set<Weekday>, start: String, end: String, words: String) {
        let times = ScheduleDraft.Times(days: days, start: start, end: end)
        let error = #expect(throws: PolicyError.self) {
            try ScheduleDraft(kind: .block, times: [ScheduleDraft.usual, times]).text()
        }
        #expect(error?.sentence.contains(words) == true, "\(error.debugDescription)")
    }

    @Test func daysAndTimesAreChosenWithoutKnowingTheTextForm() throws {
        var draft = ScheduleDraft(text: "block mon-thu,sun 20:00-07:00")
        #expect(
            draft.times == [
                .init(days: [.monday, .tuesday, .wednesday, .thursday, .sunday], start: "20:00", end: "07:00")
            ])
        draft.times.append(.init(days: [.saturday], start: " 9:05 ", end: "24:00"))
        draft.times.append(.init(days: [.sunday], start: "7", end: "8:30"))
        #expect(try draft.text() == "block mon-thu,sun 20:00-07:00, sat 09:05-00:00, sun 07:00-08:30")
    }

    @Test func inEnglishTheTemplatesAreThoseOfThePolicy() {
        #expect(ScheduleDraft.templates.map(\.title) == Schedule.templates.map(\.summary))
    }

    @Test func eachTemplateCanBeSaved() throws {
        #expect(!ScheduleDraft.templates.isEmpty)
        for template in ScheduleDraft.templates { #expect(try template.draft.text().contains(":")) }
    }
}
