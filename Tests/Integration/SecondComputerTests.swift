import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Two computers of one household, each with its own programs, one hub, one phone.
@Suite struct SecondComputerTests {
    private func word(_ output: String, _ key: String) throws -> String {
        let line = try #require(output.split(separator: "\n").first)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?[key] as? String)
    }

    @Test func aSecondComputerJoinsIsListedOnThePhoneAcceptsItsCommandAndIsRevoked() async throws {
        let (first, second) = (try await CommandLineFixture(), try await CommandLineFixture())
        let hub = try await RunningHub(in: first.directory)
        let (passcode, phone) = ([CommandLineFixture.passcode], first.directory.path("phone"))
        #expect(try await first.run("hub", "connect", hub.url, passcodes: passcode).status == 0)
        let pairing = try first.start(["pair", "--unchecked", "--json", "--yes"], passcodes: passcode)
        await eventually { pairing.output.contains("\n") }
        let forPhone = try word(pairing.output, "link")
        let refused = try await second.run("hub", "join", forPhone, passcodes: passcode)
        #expect(refused.status != 0 && refused.errors.contains("pair --computer"), "\(refused.errors)")
        _ = try await Companion.join(
            forPhone, name: "Anna's phone", directory: phone, connect: Companion.overHTTP)
        #expect(try await pairing.wait() == .code(0))

        let inviting = try first.start(["pair", "--computer", "--unchecked", "--json", "--yes"], passcodes: passcode)
        await eventually { inviting.output.contains("\n") }
        let link = try word(inviting.output, "link")
        let joined = try await second.run("hub", "join", link, passcodes: passcode)
        #expect(joined.status == 0, "\(joined.output)\(joined.errors)")
        #expect(joined.output.contains("This computer is in the household at \(hub.url)."))
        #expect(try await inviting.wait() == .code(0))
        let used = try await second.run("hub", "join", link, passcodes: passcode)
        #expect(used.status == 1 && used.errors.contains("already in that household"), "\(used.errors)")
        for fixture in [first, second] {
            await eventually { try await fixture.run("hub", "status", "--json").json()["connected"] as? Bool == true }
        }
        let devices = try await second.run("devices", "list", "--json").json()["devices"] as? [[String: Any]]
        #expect(devices?.compactMap { $0["role"] as? String } == ["computer", "companion", "computer"])

        // A note of the second computer is synced to the phone, and a launch held there waits for the phone.
        #expect(try await second.run("vault", "unlock", passcodes: passcode).status == 0)
        try await ControlClient(socketPath: second.socket).call(
            \.addNote, body: NoteRequest(title: "Attic", body: "behind the boiler"))
        let companion = try Companion(directory: phone, connect: Companion.overHTTP)
        await eventually("the note is received") {
            try await companion.sync()
            return try await companion.notes().map(\.title) == ["Attic"]
        }
        let diary = try second.copy(of: "/usr/bin/true", as: "diary")
        #expect(try await second.run("add", diary, passcodes: passcode).status == 0)
        let launch = try ChildProcess(diary)
        await eventually("the request is received") {
            try await companion.sync()
            return await companion.requests().first?.appName == "diary"
        }
        let request = try #require(await companion.requests().first)
        #expect(launch.isRunning)
        let approved = try await companion.command(
            .approve(prompt: request.prompt, grant: GrantRequest(.thisLaunch)), to: request.computer)
        #expect(approved.state == .done && approved.computer == request.computer)
        #expect(try await launch.wait() == .code(0))
        await eventually("both have sent their status") {
            try await companion.sync()
            return await companion.report().computers.count == 2
        }
        #expect(await companion.report().misbehaviour.isEmpty)

        let id = request.computer.description
        let revoked = try await first.run("devices", "revoke", id, "--yes", passcodes: passcode)
        #expect(revoked.status == 0, "\(revoked.errors)")
        await eventually("its revocation is reported") {
            try await second.run("hub", "status").output.contains("Another device removed this one")
        }
        #expect(try await second.run("note", "list").output.contains("Attic"))
        await eventually("the log has it, too") {
            try await second.run("log").output.contains("Another device removed this one")
        }
        try await first.end()
        try await second.end()
    }

    /// kill -9 of the joining computer: once it has asked, while the owner confirms it, and then over and
    /// over until it is connected.
    @Test func theSecondComputerJoinsDespiteKills() async throws {
        let directories = (try TemporaryDirectory(), try TemporaryDirectory())
        let hub = try await RunningHub(in: directories.0)
        let first = try await ControlDaemon(state: directories.0)
        try await first.setUp()
        try await first.client.connect(hub.url, passcode: ControlDaemon.passcode)
        var second = try await ControlDaemon(state: directories.1)
        try await second.setUp()
        let owner = try await first.session()
        let pairing = try await first.client.call(\.makePairing, token: owner, body: NewPairingRequest(role: .computer))
        let link = try #require(pairing.link)
        let session = try await second.session()
        try await second.client.call(\.joinHub, token: session, body: JoinHubRequest(link: link))
        try await second.killNow()
        // The hub has the request.
        let joined = await eventually {
            let query = WaitQuery(wait: 5)
            return try await first.client.call(\.pairing, parameter: pairing.id, query: query, token: owner).state
                == .joined
        }
        try #require(joined)
        second = try await ControlDaemon(state: directories.1)
        #expect(try await second.client.call(\.hubStatus).joining != nil, "it continues to ask")
        // It asks, and sees nothing of the confirmation before it is killed, however long that takes.
        try await second.suspend()
        async let confirmed = first.client.call(
            \.confirmPairing, parameter: pairing.id, token: owner,
            body: PasscodeRequest(passcode: ControlDaemon.passcode))
        try await second.killNow()

        #expect(try await confirmed.role == .computer)
        #expect(try await first.client.call(\.listDevices).devices.count == 2)
        await eventually("its keys are at the hub") { try await first.client.call(\.hubStatus).waiting == 0 }
        let kills = try await killUntilConnected(directories.1)
        #expect(kills > 2)
        let again = try await ControlDaemon(state: directories.1)
        await eventually("it is connected") { try await again.client.call(\.hubStatus).connected }
        #expect(try await again.client.call(\.listDevices).devices.count == 2)
        #expect(try await first.client.call(\.listDevices).devices.count == 2)
    }

    /// Starts the daemon and kills it, each time after a third longer, until it was connected.
    ///
    /// - Returns: how often it was killed before it was connected.
    private func killUntilConnected(_ state: TemporaryDirectory) async throws -> Int {
        let client = ControlClient(socketPath: state.path("control.sock"))
        var (kills, pause) = (0, Duration.milliseconds(20))
        while pause < .seconds(60) {
            let daemon = try ChildProcess(BuiltProducts.path("applockerd"), ["--state", state.path, "--no-hub"])
            // Real time is what is tested: at which step of joining it is killed.
            try await Task.sleep(for: pause)
            #expect(daemon.isRunning, "\(daemon.errorOutput)")
            // While it starts, the socket is that of the one that was killed.
            let isConnected = (try? await client.call(\.hubStatus).connected) ?? false
            daemon.kill()
            _ = try await daemon.wait()
            if isConnected { return kills }
            kills += 1
            pause = pause * 1.3
        }
        Issue.record("it was never connected")
        return kills
    }
}
