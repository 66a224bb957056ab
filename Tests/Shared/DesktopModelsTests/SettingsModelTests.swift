import ControlAPI
import DesktopModels
import Foundation
import Synchronization
import TestSupport
import Testing

@MainActor
struct SettingsModelTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let model: SettingsModel

    init() {
        control.acceptPasscode()
        control.on(\.status) { _ in status() }
        control.on(\.settings) { _ in
            SettingsReport(promptTimeoutSeconds: 45, defaultGrantSeconds: 300, holdsRoot: true)
        }
        context = makeContext(control)
        model = SettingsModel(context)
    }

    @Test func aValueThatIsNotUsualIsAChoiceOfItsOwn() async {
        await model.load()
        let choices = model.choices(.promptTimeout)
        #expect(choices?.titles[choices?.selected ?? 0] == "45 seconds")
        #expect(choices?.values == [15, 30, 45, 60, 120, 300])
    }

    @Test func eachSettingChangesItsOwnFieldAlone() async throws {
        await model.load()
        control.on(\.changeSettings) { request in
            try FakeControl.requireToken(request)
            var report = SettingsReport(promptTimeoutSeconds: 45, defaultGrantSeconds: 300, holdsRoot: true)
            report.alertDays = try request.body(as: ChangeSettingsRequest.self).alertDays ?? report.alertDays
            return report
        }
        async let first: Void = model.set(.alertDays, to: 90)
        await answer(context.prompt)
        await first
        #expect(model.report?.alertDays == 90)
        for setting in NumberSetting.allCases where setting != .alertDays { await model.set(setting, to: 7_777) }
        for setting in SwitchSetting.allCases { await model.set(setting, to: !model.isOn(setting)) }
        let keys = try control.requests(.changeSettings).map { request in
            try #require(JSONSerialization.jsonObject(with: request.body) as? [String: Any]).keys.sorted()
        }
        #expect(Set(keys.flatMap { $0 }).count == 11 && keys.allSatisfy { $0.count == 1 })
        #expect(control.requests(.openSession).count == 1)
    }

    @Test func theRecoveryCodeSetsANewPasscodeAndAWrongOneSaysWhy() async {
        await model.load()
        control.on(\.useRecovery) { request in
            let body = try request.body(as: RecoveryRequest.self)
            guard body.code == "one two" else { throw ControlError(.wrongPasscode, "This code is wrong.") }
            #expect(body.newPasscode == "new passcode")
            return DoneReport()
        }
        #expect(await model.recover(code: "two one", newPasscode: "new passcode") == "This code is wrong.")
        #expect(await model.recover(code: "one two", newPasscode: "new passcode") == nil)
        #expect(context.announcement == "The passcode is changed. The recovery sheet stays valid.")
    }

    @Test func aRefusedChangeReturnsToWhatIsSet() async {
        await model.load()
        control.on(\.changeSettings) { _ in throw ControlError(.badRequest, "Out of range.") }
        async let done: Void = model.set(.inactivity, to: 60)
        await answer(context.prompt)
        await done
        #expect(model.refusals == 1 && model.report?.inactivitySeconds == 600)
        #expect(context.announcement == "Out of range.")
    }

    @Test func aChangedPasscodeEndsTheSession() async throws {
        await model.load()
        async let opened = context.session.open()
        await answer(context.prompt)
        _ = try await opened
        control.on(\.changePasscode) { request in
            try FakeControl.check(try request.body(as: ChangePasscodeRequest.self).old)
            return DoneReport()
        }
        #expect(await model.changePasscode(from: "wrong", to: "new one") == "This passcode is wrong.")
        #expect(context.session.token != nil)
        #expect(await model.changePasscode(from: FakeControl.passcode, to: "new one") == nil)
        #expect(context.session.token == nil)
    }
}

struct SpokenDurationTests {
    @Test(arguments: [
        (-1, "0 seconds"), (1, "1 second"), (60, "1 minute"), (3_601, "1 hour"), (5_400, "1 hour 30 minutes"),
        (90_061, "1 day 1 hour"), (172_800, "2 days"),
    ])
    func aDurationHasAtMostTwoUnits(seconds: Int, text: String) {
        #expect(SpokenDuration.text(seconds: seconds) == text)
    }
}

struct PasscodeStrengthTests {
    @Test(arguments: [
        ("", false), ("abc", false), ("1234", true), ("k7x!", true), ("correct horse battery", true),
        ("a\u{0}bcd", false),
    ])
    func onlyWhatTheDaemonAcceptsIsAccepted(passcode: String, isAccepted: Bool) {
        #expect(PasscodeStrength(passcode).isAccepted == isAccepted)
    }

    @Test func aWeakPasscodeHasTheReason() {
        #expect(PasscodeStrength("1999").sentence == "Easy to guess. It looks like a year.")
    }

    @Test func aLongerPasscodeIsStronger() {
        let fractions = ["abc", "1234", "k7x!", "k7x!qp3z", "k7x!qp3zm9w#"].map { PasscodeStrength($0).fraction }
        #expect(fractions == fractions.sorted() && Set(fractions).count == 5)
    }
}
