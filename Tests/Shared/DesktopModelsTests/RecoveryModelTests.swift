import ControlAPI
import DesktopModels
import TestSupport
import Testing

@MainActor
struct RecoveryModelTests {
    private let control = FakeControl()
    private let clock = TestClock()
    private let context: DesktopContext
    private let vault: VaultModel
    private let model: RecoveryModel

    init() {
        context = makeContext(control, clock)
        vault = VaultModel(context, user: 1_000)
        model = RecoveryModel(context, vault)
        control.on(\.makeRecovery) { request in
            try FakeControl.check(try request.body(as: PasscodeRequest.self).passcode)
            return RecoveryReply(code: "one two three")
        }
        control.on(\.testRecovery) { request in
            guard try request.body(as: RecoveryRequest.self).code == "one two three" else {
                throw ControlError(.wrongPasscode, "This code is wrong.")
            }
            return DoneReport()
        }
    }

    private func make() async {
        async let done: Void = model.make()
        await answer(context.prompt)
        await done
        #expect(model.code == "one two three" && !model.isVerified)
    }

    @Test func theCodeStaysUntilItWasTypedCorrectly() async {
        await make()
        await model.verify("one two")
        #expect(model.code != nil && model.refusal == "This code is wrong.")
        await model.verify("one two three")
        #expect(model.code == nil && model.isVerified && model.refusal.isEmpty)
    }

    @Test func theCodeLeavesTheWindowWithTheVault() async {
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        await vault.refresh()
        await make()
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: false) }
        await vault.refresh()
        #expect(model.code == nil && !model.isVerified)
    }

    @Test func theCodeIsNotShownForLong() async {
        await make()
        await eventually("the time begins") { clock.sleepers == 1 }
        clock.advance(by: .seconds(599))
        #expect(model.code != nil)
        // A newer code is shown for its own time.
        await make()
        await eventually("the second time begins") { clock.sleepers == 2 }
        clock.advance(by: .seconds(1))
        for _ in 0..<20 { await Task.yield() }
        #expect(model.code != nil)
        clock.advance(by: .seconds(599))
        await eventually("it is hidden") { model.code == nil }
    }
}
