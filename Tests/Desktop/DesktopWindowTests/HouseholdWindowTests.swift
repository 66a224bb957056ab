import ControlAPI
import Foundation
import HubAPI
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Hub and household in the window, with a real hub and a second computer.
@Suite(.windowSession) struct HouseholdWindowTests {
    private let directory: TemporaryDirectory
    private let hub: WindowHub
    private var url: String { "http://\(hub.address)" }

    init() async throws {
        directory = try TemporaryDirectory()
        hub = try await WindowHub(state: directory.path("hub"))
    }

    /// A computer without a window, which has a passcode.
    private func otherComputer() async throws -> (process: ChildProcess, client: ControlClient) {
        let state = directory.path("other")
        let process = try ChildProcess(
            BuiltProducts.path("applocker"), ["up", "--state", state, "--no-hub", "--user-mode"])
        let client = ControlClient(socketPath: state + "/control.sock")
        await eventually("the other computer is up: \(process.errorOutput)") {
            try await !client.call(\.status).isSetUp
        }
        try await client.call(\.setUp, body: SetUpRequest(passcode: WindowSession.passcode))
        return (process, client)
    }

    private func session(of client: ControlClient) async throws -> String {
        try await client.call(\.openSession, body: PasscodeRequest(passcode: WindowSession.passcode)).token
    }

    @Test(arguments: WindowScreenKind.usual)
    func aHubIsConnectedAndAComputerAdded(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.press(keys: "alt+8")
        try await session.awaitWords("There is no hub yet.")
        try await session.photograph("devices-without-hub")
        try await session.fill("Address, for example hub.example.org", "http://127.0.0.1:9")
        try await session.press("Connect")
        try await session.enterPasscode()
        try await session.awaitWords("127.0.0.1:9 can't be reached")
        #expect(try await session.client.call(\.hubStatus).url == nil)
        try await session.fill("Address, for example hub.example.org", url)
        try await session.press("Connect")
        try await session.awaitWords("Connected to the hub at \(url).")
        try await session.awaiting("the list follows") { try await !session.isShown("Connect to a hub") }
        try await session.awaiting("its state follows") { try await !session.shows("is not reached") }

        try await session.press("Show Code")
        try await session.awaitWords("only this computer reaches it")
        try await session.awaitWords("A domain name with a certificate")
        try await session.photograph("devices-ways")
        let (process, other) = try await otherComputer()
        defer { process.kill(SIGINT) }
        try await session.press("Add a Computer")
        try await session.awaitWords("Copy this link to the other computer")
        try await session.photograph("devices-add-computer")
        var shown: String?
        try await session.awaiting("the link is shown") {
            shown = try await session.parts().map(\.text).first { $0.hasPrefix(url + "/#") }
            return shown != nil
        }
        let link = try #require(shown)
        let joined = try await other.call(
            \.joinHub, token: try await self.session(of: other), body: JoinHubRequest(link: link))
        #expect(joined.state == .waiting)
        try await session.awaitWords("shows three words")
        try await session.press("They Are the Same")
        try await session.enterPasscode(verb: "Pair")
        try await session.awaiting("it has joined") {
            try await other.call(\.joining, query: WaitQuery()).state == .joined
        }
        try await session.awaiting("both are listed") {
            try await session.client.call(\.listDevices).devices.count == 2
        }
        try await session.awaitWords("is paired.")
    }

    /// Pairs another computer with one that is connected to the hub.
    private func pair(_ other: ControlClient, with client: ControlClient, token: String) async throws {
        let pairing = try await client.call(\.makePairing, token: token, body: NewPairingRequest(role: .computer))
        let link = try #require(pairing.link)
        _ = try await other.call(
            \.joinHub, token: try await session(of: other), body: JoinHubRequest(link: link))
        await eventually("it has asked") {
            try await client.call(\.pairing, parameter: pairing.id, query: WaitQuery(), token: token).state == .joined
        }
        _ = try await client.call(
            \.confirmPairing, parameter: pairing.id, token: token,
            body: PasscodeRequest(passcode: WindowSession.passcode))
        await eventually("it has joined") { try await other.call(\.joining, query: WaitQuery()).state == .joined }
    }

    @Test(arguments: WindowScreenKind.usual)
    func aDeviceIsRenamedAndRevokedAfterTheWordsOfWhatThatDoes(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let (client, token) = (session.client, try await session.token())
        let (process, other) = try await otherComputer()
        defer { process.kill(SIGINT) }
        _ = try await client.call(\.connectHub, token: token, body: ConnectHubRequest(url: url))
        try await pair(other, with: client, token: token)
        let devices = try await client.call(\.listDevices, token: token).devices
        let device = try #require(devices.first { !$0.isThisComputer })
        // Both have the name of this machine.
        _ = try await client.call(
            \.renameDevice, parameter: device.id, token: token, body: RenameDeviceRequest(name: "Laptop"))

        await eventually("the other computer is connected") { try await other.call(\.hubStatus).connected }

        try await session.startWindow()
        try await session.press(keys: "alt+8")
        try await session.openMenu("Actions for Laptop")
        try await session.press("Rename…")
        try await session.awaitWords("Rename Laptop")
        try await session.fill("Name", "Study")
        try await session.photograph("devices-rename")
        try await session.press("Rename")
        try await session.enterPasscode()
        try await session.awaitWords("Actions for Study")
        let renamed = try await client.call(\.listDevices, token: token).devices.first { $0.id == device.id }
        #expect(renamed?.name == "Study")

        try await session.openMenu("Actions for Study")
        try await session.press("Revoke…")
        try await session.awaitWords("Revoke Study?")
        try await session.awaitWords(
            "It loses access for good. Every key that it had is replaced, on all other devices.")
        try await session.photograph("devices-revoke")
        try await session.press("Cancel")
        try await session.awaiting("the question is closed") { try await !session.isShown("Revoke Study?") }
        #expect(try await client.call(\.listDevices, token: token).devices.count == 2)

        try await session.openMenu("Actions for Study")
        try await session.press("Revoke…")
        try await session.press("Revoke")
        // Also while changes need no passcode.
        try await session.awaitWords("It can't read anything new. Every key that it had is replaced.")
        try await session.enterPasscode(verb: "Revoke")
        try await session.awaiting("it is revoked") {
            try await client.call(\.listDevices, token: token).devices.map(\.isThisComputer) == [true]
        }
        try await session.awaiting("the list follows") { try await !session.isShown("Actions for Study") }
        await eventually("the other computer has left") {
            let status = try await other.call(\.hubStatus)
            return status.url == nil && !status.connected
        }
    }

    @Test(.requires(.program("openssl")), arguments: WindowScreenKind.usual)
    func aHubWithACertificateOfItsOwnIsConnected(on screen: WindowScreenKind) async throws {
        let (certificate, key) = (directory.path("hub.pem"), directory.path("hub.key"))
        let made = try await ChildProcess.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key,
                "-out", certificate,
            ])
        #expect(made.exit == .code(0), "\(made.errorOutput)")
        let hub = try await WindowHub(
            state: directory.path("own"), ["--certificate", certificate, "--key", key])
        let port = try #require(hub.address.split(separator: ":").last)

        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.press(keys: "alt+8")
        try await session.awaitWords("Those of the system")
        let address = "Address, for example hub.example.org"
        try await session.fill(address, "localhost:\(port)")
        try await session.press("Connect")
        try await session.enterPasscode()
        try await session.awaitWords("The hub's certificate is not trusted. If")
        #expect(try await session.client.call(\.hubStatus).url == nil)
        try await session.press("Choose…")
        try await session.chooseInFileChooser(certificate, accepting: "alt+o")
        try await session.awaitWords(certificate)
        try await session.photograph("devices-certificate")
        try await session.fill(address, "127.0.0.1:\(port)")
        try await session.press("Connect")
        try await session.awaitWords("is for another name than 127.0.0.1.")
        try await session.fill(address, url.replacing("http://", with: ""))
        try await session.press("Connect")
        try await session.awaitWords("is not served by TLS.")
        try await session.fill(address, "localhost:\(port)")
        try await session.press("Connect")
        try await session.awaitWords("Connected to the hub at https://localhost:\(port).")
        try await session.awaiting("it is reached") {
            try await session.client.call(\.hubStatus).connected
        }
    }

    @Test(arguments: WindowScreenKind.usual)
    func aComputerJoinsTheHouseholdOfAnotherByItsLink(on screen: WindowScreenKind) async throws {
        let (process, other) = try await otherComputer()
        defer { process.kill(SIGINT) }
        let token = try await self.session(of: other)
        _ = try await other.call(\.connectHub, token: token, body: ConnectHubRequest(url: url))
        let pairing = try await other.call(\.makePairing, token: token, body: NewPairingRequest(role: .computer))

        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.press(keys: "alt+8")
        try await session.fill("Link of the other computer", try #require(pairing.link))
        try await session.press("Join")
        try await session.enterPasscode()
        try await session.awaiting("it has asked") {
            try await other.call(\.pairing, parameter: pairing.id, query: WaitQuery(), token: token).state == .joined
        }
        try await session.photograph("devices-joining")
        _ = try await other.call(
            \.confirmPairing, parameter: pairing.id, token: token,
            body: PasscodeRequest(passcode: WindowSession.passcode))
        try await session.awaitWords("Joined the household")
        try await session.enterPasscode(verb: "Allow")
        try await session.awaitWords("Your phones see this computer")
        try await session.photograph("devices-joined")
        #expect(try await session.client.call(\.listDevices).devices.count == 2)
        #expect(try await session.parts().allSatisfy { !$0.text.contains("/#") }, "the link is not shown any more")
    }
}
