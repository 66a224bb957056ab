import ControlAPI
import DesktopModels
import HubAPI
import Synchronization
import TestSupport
import Testing

@MainActor
struct HubModelTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let devices: DevicesModel

    private var model: HubModel { devices.connection }

    init() {
        control.acceptPasscode()
        control.on(\.hubStatus) { _ in Self.status(nil) }
        control.on(\.listDevices) { _ in DeviceList(devices: []) }
        context = makeContext(control)
        devices = DevicesModel(context)
    }

    nonisolated private static func status(_ url: String?) -> HubStatus {
        HubStatus(
            url: url, household: nil, device: "d", connected: url != nil, lastSync: nil, records: 0, waiting: 0,
            problem: nil, refused: 0, misbehaviour: [], conflicts: 0, revoking: nil)
    }

    @Test(
        arguments: [
            ("hub.example", "", "https://hub.example", nil),
            (" http://127.0.0.1:8080 ", " abc\n", "http://127.0.0.1:8080", "abc"),
        ] as [(String, String, String, String?)])
    func connectingNeedsThePasscodeAndTellsTheAddress(
        typed: String, invitation: String, url: String, token: String?
    ) async throws {
        control.on(\.connectHub) { request in
            try FakeControl.requireToken(request)
            return Self.status(try request.body(as: ConnectHubRequest.self).url)
        }
        async let connected = model.connect(to: typed, invitation: invitation)
        await answer(context.prompt)
        #expect(await connected)
        let request = try #require(control.requests(.connectHub).first).body(as: ConnectHubRequest.self)
        #expect(request == ConnectHubRequest(url: url, registrationToken: token))
        #expect(context.announcement == "Connected to the hub at \(url).")
        #expect(!control.requests(.hubStatus).isEmpty, "the list of devices is read again")
    }

    @Test func aHubOnThisComputerIsStartedAfterThePasscodeAndConnected() async throws {
        let started = Mutex(0)
        control.on(\.connectHub) { request in
            try FakeControl.requireToken(request)
            return Self.status(try request.body(as: ConnectHubRequest.self).url)
        }
        model.startHere = { started.withLock { $0 += 1 } }
        async let cancelled: Void = model.setUpHere()
        await eventually("the passcode is asked for") { context.prompt.question != nil }
        context.prompt.cancel()
        await cancelled
        #expect(started.withLock { $0 } == 0, "nothing is started without the passcode")
        async let done: Void = model.setUpHere()
        await answer(context.prompt)
        await done
        #expect(started.withLock { $0 } == 1)
        #expect(context.announcement == "Connected to the hub at http://127.0.0.1:8440.")
        let bodies = try control.requests(.connectHub).map { try $0.body(as: ConnectHubRequest.self) }
        #expect(bodies == [ConnectHubRequest(url: "http://127.0.0.1:8440")])
    }

    @Test(arguments: [ControlError(.failed, "The unit is masked.") as any Error & Sendable, CancellationError()])
    func aHubThatIsNotStartedIsNotConnected(error: any Error & Sendable) async {
        model.startHere = { throw error }
        async let done: Void = model.setUpHere()
        await answer(context.prompt)
        await done
        #expect(control.requests(.connectHub).isEmpty && !model.isConnecting)
        #expect(context.announcement == (error is ControlError ? "The unit is masked." : ""))
    }

    @Test func certificatesAndProxyAreUsedForConnectingAndJoining() async throws {
        control.on(\.connectHub) { request in Self.status(try request.body(as: ConnectHubRequest.self).url) }
        control.on(\.joinHub) { _ in JoiningReport(state: .failed, url: nil, sentence: "Refused.") }
        let network = HubNetwork(certificates: "/etc/hub.pem", proxy: " http://proxy.example:3128 ")
        async let connected = model.connect(to: "hub.example", invitation: "", by: network)
        await answer(context.prompt)
        #expect(await connected)
        let connecting = try #require(control.requests(.connectHub).first).body(as: ConnectHubRequest.self)
        #expect(connecting.certificates == "/etc/hub.pem" && connecting.proxy == "http://proxy.example:3128")
        #expect(await !model.join("https://hub.example/#pair=secret", by: network))
        let joining = try #require(control.requests(.joinHub).first).body(as: JoinHubRequest.self)
        #expect(joining.certificates == "/etc/hub.pem" && joining.proxy == "http://proxy.example:3128")
    }

    @Test func aHubThatRefusesIsAnsweredInItsWords() async {
        control.on(\.connectHub) { _ in throw ControlError(.hub, "The hub needs an invitation.") }
        async let connected = model.connect(to: "hub.example", invitation: "")
        await answer(context.prompt)
        #expect(await !connected)
        #expect(context.announcement == "The hub needs an invitation.")
        #expect(await !model.connect(to: "  ", invitation: ""), "nothing was typed")
    }

    @Test func joiningWaitsForTheOtherComputerAndThenSendsTheKeys() async throws {
        control.on(\.joinHub) { _ in JoiningReport(state: .waiting, url: nil, sentence: "Confirm it there.") }
        control.on(\.joining) { [model = devices.connection] _ in
            await MainActor.run { #expect(model.joining == "Confirm it there." && model.isJoining) }
            return JoiningReport(state: .joined, url: "https://hub.example", sentence: "Joined.")
        }
        control.on(\.sendVaultKeys) { request in
            try FakeControl.check(try request.body(as: PasscodeRequest.self).passcode)
            return DoneReport()
        }
        async let joined = model.join("https://hub.example/#pair=secret ")
        await answer(context.prompt)
        await answer(context.prompt)
        #expect(await joined)
        let request = try #require(control.requests(.joinHub).first).body(as: JoinHubRequest.self)
        #expect(request.link == "https://hub.example/#pair=secret")
        #expect(control.requests(.sendVaultKeys).count == 1 && model.joining.isEmpty && !model.isJoining)
    }

    @Test func aRejectedRequestToJoinSendsNoKeys() async {
        control.on(\.joinHub) { _ in JoiningReport(state: .waiting, url: nil, sentence: "Confirm it there.") }
        control.on(\.joining) { _ in JoiningReport(state: .failed, url: nil, sentence: "The other computer refused.") }
        async let joined = model.join("https://hub.example/#pair=secret")
        await answer(context.prompt)
        #expect(await !joined)
        #expect(context.announcement == "The other computer refused." && control.requests(.sendVaultKeys).isEmpty)
    }

    @Test func leavingTellsWhatItDid() async {
        control.on(\.disconnectHub) { request in
            try FakeControl.requireToken(request)
            return DoneReport(notes: ["The hub's data is deleted."])
        }
        async let left: Void = model.disconnect()
        await answer(context.prompt)
        await left
        #expect(context.announcement == "The hub's data is deleted.")
    }
}
