import ControlAPI
import DesktopModels
import TestSupport
import Testing

@MainActor
struct RestoreModelTests {
    private let control = FakeControl()
    private let clock = TestClock()
    private let context: DesktopContext
    private let devices: DevicesModel
    private var model: RestoreModel { devices.restore }

    init() {
        control.acceptPasscode()
        context = makeContext(control, clock)
        devices = DevicesModel(context)
    }

    private func item(_ title: String, _ outcome: RestoredItem.Outcome, state: RestoredItem.State) -> RestoredItem {
        RestoredItem(
            kind: .note, id: title, title: title, state: state, device: "d", deviceName: "Ben's phone",
            time: TestClock.start, outcome: outcome)
    }

    private func find(_ items: [RestoredItem]) {
        control.on(\.restoreChanges) { request in
            try FakeControl.requireToken(request)
            try FakeControl.check(try request.body(as: RestoreRequest.self).passcode)
            var report = RestoreReport()
            for item in items { report.add(item) }
            return report
        }
    }

    private func requests() throws -> [RestoreRequest] {
        try control.requests(.restoreChanges).map { try $0.body(as: RestoreRequest.self) }
    }

    @Test func whatWouldBeRestoredIsShownBeforeItIs() async throws {
        find([
            item("Bank", .restored, state: .removed), item("Car", .copied, state: .changed),
            item("Left", .left, state: .changed),
        ])
        async let done: Void = model.restore(days: 7)
        await answer(context.prompt)
        await eventually("the question is shown") { model.confirmation.question != nil }
        #expect(
            model.confirmation.question
                == """
                “Bank”, removed by Ben's phone
                “Car”, changed by Ben's phone: as a copy beside a newer version
                """)
        #expect(try requests().map(\.isTrial) == [true])
        #expect(try requests()[0].before == TestClock.start - 7 * 86_400 && requests()[0].device == nil)
        model.confirmation.answer(true)
        await done
        #expect(try requests().map(\.isTrial) == [true, false])
        #expect(try requests()[0].before == requests()[1].before, "the same time, however long the question was open")
        #expect(model.confirmation.question == nil && context.announcement == "Restored 2 items.")
    }

    @Test func aDismissedQuestionRestoresNothing() async throws {
        find([item("Bank", .restored, state: .removed)])
        async let done: Void = model.restore(days: 1)
        await answer(context.prompt)
        await eventually("the question is shown") { model.confirmation.question != nil }
        model.confirmation.answer(false)
        await done
        #expect(try requests().map(\.isTrial) == [true] && context.announcement.isEmpty)
    }

    @Test func nothingToRestoreIsNoQuestion() async throws {
        find([item("Left", .left, state: .changed)])
        async let done: Void = model.restore(days: 1)
        await answer(context.prompt)
        await done
        #expect(model.confirmation.question == nil && context.announcement.hasPrefix("Nothing to restore"))
    }

    @Test func manyItemsAreCounted() async {
        find((1...12).map { item("Note \($0)", .restored, state: .removed) })
        async let done: Void = model.restore(days: 1)
        await answer(context.prompt)
        await eventually("the question is shown") { model.confirmation.question != nil }
        #expect(
            model.confirmation.question?.split(separator: "\n").count == 9
                && model.confirmation.question?.hasSuffix("and 4 more") == true)
        model.confirmation.answer(false)
        await done
    }
}
