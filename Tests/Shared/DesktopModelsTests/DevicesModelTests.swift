import ControlAPI
import DesktopModels
import HubAPI
import TestSupport
import Testing

@MainActor
struct DevicesModelTests {
    private let control = FakeControl()
    private let clock = TestClock()
    private let context: DesktopContext
    private let model: DevicesModel

    init() {
        control.acceptPasscode()
        control.on(\.hubStatus) { _ in
            HubStatus(
                url: "https://hub.example", household: "h", device: "d", connected: true, lastSync: nil, records: 0,
                waiting: 0, problem: nil, refused: 0, misbehaviour: [], conflicts: 0, revoking: nil)
        }
        control.on(\.listDevices) { _ in
            DeviceList(devices: [
                DeviceReport(id: "d", name: "den", role: .computer, isThisComputer: true),
                DeviceReport(
                    id: "p", name: "Ann's phone", role: .companion, isThisComputer: false, lastSeen: TestClock.start,
                    hasPush: true),
            ])
        }
        context = makeContext(control, clock)
        model = DevicesModel(context)
    }

    @Test func whatCannotBeSentToAConnectedHubIsShown() async {
        control.on(\.hubStatus) { _ in
            HubStatus(
                url: "https://hub.example", household: "h", device: "d", connected: true, lastSync: nil, records: 0,
                waiting: 1, problem: "It waits.", refused: 0, misbehaviour: [], conflicts: 0, revoking: nil)
        }
        await model.load()
        #expect(model.hub == "Connected to the hub at https://hub.example. It waits.")
    }

    @Test func devicesAreListedWithWhatTheHubReports() async {
        await model.load()
        #expect(model.hasHub && model.problem.isEmpty)
        #expect(model.devices.map(\.detail) == ["This computer", "Companion · last seen 13:00 · gets notifications"])
    }

    @Test func anAlertThatNoPhoneConfirmedIsNamedWithWhatToDo() async {
        await model.load()
        #expect(model.alertNotice.isEmpty)
        control.on(\.listDevices) { _ in DeviceList(devices: [], unconfirmedAlert: TestClock.start) }
        await model.load()
        #expect(
            model.alertNotice == "No phone has confirmed the alert of 13:00. On the phone, open Settings, "
                + "Notifications, and send a test notification.")
        control.on(\.listDevices) { _ in throw ControlError(.sessionNeeded, "Enter the passcode.") }
        await model.load()
        #expect(model.alertNotice.isEmpty, "a list that can't be read leaves no old notice")
    }

    @Test func theListIsReadAgainOnlyIfTheHubHasSomethingNew() async {
        await model.refresh()
        #expect(control.requests(.hubStatus).isEmpty, "nothing is shown yet")
        await model.load()
        await model.refresh()
        #expect(control.requests(.listDevices).count == 1)
        control.on(\.hubStatus) { _ in
            HubStatus(
                url: "https://hub.example", household: "h", device: "d", connected: false, lastSync: nil, records: 0,
                waiting: 0, problem: "It does not answer.", refused: 0, misbehaviour: [], conflicts: 0, revoking: nil)
        }
        await model.refresh()
        #expect(control.requests(.listDevices).count == 2)
        #expect(model.hub == "The hub at https://hub.example is not reached. It does not answer.")
    }

    @Test func aUserWhoNeverEnteredThePasscodeSeesWhyAndCanEnterIt() async {
        let devices = DeviceList(devices: [])
        control.on(\.listDevices) { request in
            try FakeControl.requireToken(request)
            return devices
        }
        await model.load()
        #expect(model.problem == "Open a session first." && model.devices.isEmpty)
        async let done: Void = model.showDevices()
        await answer(context.prompt)
        await done
        #expect(model.problem.isEmpty)
    }

    @Test func aRevocationSendsSessionAndPasscodeAfterOneQuestion() async throws {
        control.on(\.revokeDevice) { request in
            try FakeControl.requireToken(request)
            try FakeControl.check(try request.body(as: PasscodeRequest.self).passcode)
            return DoneReport(notes: ["It is revoked."])
        }
        await model.load()
        async let done: Void = model.revoke("p")
        await answer(context.prompt, "wrong")
        #expect(context.prompt.refusals == 1 && control.requests(.revokeDevice).isEmpty)
        await answer(context.prompt)
        await done
        #expect(control.requests(.revokeDevice).map(\.parameter) == ["p"])
        #expect(context.announcement == "It is revoked.")
    }

    @Test func aPhoneIsAdmittedOnlyAfterItsWordsWereConfirmed() async {
        control.on(\.makePairing) { request in
            try FakeControl.requireToken(request)
            return PairingReport(id: "i", state: .waiting, link: "https://hub.example/#secret", expiresInSeconds: 300)
        }
        control.on(\.pairing) { _ in
            PairingReport(
                id: "i", state: .joined, expiresInSeconds: 290, name: "Phone", words: ["one", "two", "three"])
        }
        control.on(\.confirmPairing) { request in
            try FakeControl.check(try request.body(as: PasscodeRequest.self).passcode)
            return DeviceReport(id: "p", name: "Phone", role: .companion, isThisComputer: false)
        }
        async let started: Void = model.pairing.start()
        await answer(context.prompt)
        await started
        await eventually("it joins") { model.pairing.state == .joined(name: "Phone", words: "one two three") }
        #expect(control.requests(.confirmPairing).isEmpty)
        async let confirmed: Void = model.pairing.confirm()
        await answer(context.prompt)
        await confirmed
        #expect(model.pairing.state == .paired(name: "Phone"))
    }

    private func pairing(with report: PhoneWaysReport?) -> PairingModel {
        control.on(\.makePairing) { request in
            let address = try request.body(as: NewPairingRequest.self).address ?? "https://own.example"
            return PairingReport(id: "i", state: .waiting, link: "\(address)/#secret", expiresInSeconds: 300)
        }
        control.on(\.pairing) { _ in
            try await Task.sleep(for: .seconds(60))
            throw CancellationError()
        }
        return DevicesModel(context, checkWays: { _ in report }).pairing
    }

    @Test func noCodeIsShownThatNoPhoneCanUse() async {
        let pairing = pairing(
            with: PhoneWaysReport(
                hub: "http://127.0.0.1:8440", address: nil, problem: "Only this computer reaches it.",
                ways: ["1. A name."]))
        await pairing.start()
        #expect(pairing.state == .unreachable(problem: "Only this computer reaches it.", ways: ["1. A name."]))
        #expect(control.requests(.makePairing).isEmpty)
        async let anyway: Void = pairing.start(isChecked: false)
        await answer(context.prompt)
        await anyway
        #expect(pairing.state == .waiting(link: "https://own.example/#secret"))
        await pairing.cancel()
    }

    @Test func anAddressThatWorksIsUsedForTheCode() async {
        let pairing = pairing(
            with: PhoneWaysReport(
                hub: "http://127.0.0.1:8440", address: "https://den.example", problem: "Only this computer reaches it.")
        )
        async let started: Void = pairing.start()
        await answer(context.prompt)
        await started
        #expect(pairing.state == .waiting(link: "https://den.example/#secret"))
        await pairing.cancel()
    }

    @Test func theResultOfACancelledCheckIsNotShown() async {
        let (checks, finish) = AsyncStream<Void>.makeStream()
        let pairing = DevicesModel(
            context,
            checkWays: { address in
                if address == "https://slow.example" { for await _ in checks {} }
                return PhoneWaysReport(hub: "h", address: nil, problem: address, ways: ["1."])
            }
        ).pairing
        async let slow: Void = pairing.start(address: "https://slow.example")
        await eventually("it is checked") { pairing.state == .checking }
        await pairing.cancel()
        await pairing.start(address: "https://other.example")
        finish.finish()
        await slow
        #expect(pairing.state == .unreachable(problem: "https://other.example", ways: ["1."]))
    }

    @Test func aComputerNeedsNoAddressForPhones() async {
        let pairing = pairing(with: PhoneWaysReport(hub: "h", address: nil, problem: "No.", ways: ["1."]))
        async let started: Void = pairing.start(forComputer: true)
        await answer(context.prompt)
        await started
        #expect(pairing.state == .waiting(link: "https://own.example/#secret") && pairing.isForComputer)
        await pairing.cancel()
    }

    /// A pairing whose session ends while it waits.
    private func startPairingUntilTheSessionEnds() async {
        control.on(\.makePairing) { _ in
            PairingReport(id: "i", state: .waiting, link: "https://hub.example/#secret", expiresInSeconds: 300)
        }
        control.on(\.pairing) { request in
            guard request.token == "token 2" else { throw ControlError(.sessionNeeded, "It has ended.") }
            return PairingReport(id: "i", state: .joined, expiresInSeconds: 290, name: "Phone", words: ["one", "two"])
        }
        control.on(\.endPairing) { _ in DoneReport() }
        async let started: Void = model.pairing.start()
        await answer(context.prompt)
        await started
        await eventually("it asks again") {
            context.prompt.question != nil && control.requests(.pairing).map(\.token) == ["token 1"]
        }
    }

    @Test func aPairingOutlastsItsSession() async {
        await startPairingUntilTheSessionEnds()
        #expect(model.pairing.state == .waiting(link: "https://hub.example/#secret"), "the code is still shown")
        #expect(context.prompt.question?.title == "Pair a phone")
        await answer(context.prompt)
        await eventually("it joins") { model.pairing.state == .joined(name: "Phone", words: "one two") }
    }

    @Test func withoutThePasscodeAPairingEndsAndIsWithdrawnByTheNextOne() async {
        await startPairingUntilTheSessionEnds()
        context.prompt.cancel()
        await eventually("it ends") { model.pairing.state == .ended("Pairing needs the passcode.") }
        async let opened: String? = context.attempt { try await context.session.open() }
        await answer(context.prompt)
        _ = await opened
        await model.pairing.start()
        #expect(control.requests(.endPairing).map(\.parameter) == ["i"])
        await model.pairing.cancel()
    }

    @Test func aCancelledPairingIsWithdrawn() async {
        control.on(\.makePairing) { _ in
            PairingReport(id: "i", state: .waiting, link: "https://hub.example/#secret", expiresInSeconds: 300)
        }
        control.on(\.pairing) { _ in
            try await Task.sleep(for: .seconds(3_600))
            throw CancellationError()
        }
        control.on(\.endPairing) { _ in DoneReport() }
        async let started: Void = model.pairing.start()
        await answer(context.prompt)
        await started
        #expect(model.pairing.state == .waiting(link: "https://hub.example/#secret"))
        await model.pairing.cancel()
        #expect(model.pairing.state == .idle)
        #expect(control.requests(.endPairing).map(\.parameter) == ["i"])
    }

    @Test func aPairingIsWithdrawnAlsoAfterTheSessionEnded() async {
        let pairing = pairing(with: nil)
        control.on(\.endPairing) { request in
            try FakeControl.requireToken(request)
            return DoneReport()
        }
        async let started: Void = pairing.start()
        await answer(context.prompt)
        await started
        await context.session.end()
        await pairing.cancel()
        #expect(control.requests(.endPairing).map(\.parameter) == ["i"])
        #expect(
            context.announcement
                == "Without the passcode the link is not withdrawn. It stops working after five minutes.")
    }

    @Test func anInvitationThatIsReplacedWhileItIsMadeIsWithdrawn() async {
        let pairing = pairing(with: nil)
        let making = FakeControl.Hold()
        let control = control
        control.on(\.makePairing) { request in
            let count = control.requests(.makePairing).count
            if count == 1 { try await making.wait() }
            return PairingReport(
                id: "i\(count)", state: .waiting, link: "https://hub.example/#\(count)", expiresInSeconds: 300)
        }
        control.on(\.endPairing) { _ in DoneReport() }
        async let first: Void = pairing.start(forComputer: true)
        await answer(context.prompt)
        await eventually("the first is being made") { control.requests(.makePairing).count == 1 }
        #expect(pairing.state == .starting)
        await pairing.start(forComputer: true)
        making.end()
        await first
        #expect(pairing.state == .waiting(link: "https://hub.example/#2"))
        #expect(control.requests(.endPairing).map(\.parameter) == ["i1"])
        await pairing.cancel()
        #expect(control.requests(.endPairing).map(\.parameter) == ["i1", "i2"])
    }
}
