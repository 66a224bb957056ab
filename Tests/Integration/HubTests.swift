import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import LocalControl
import SealedFormats
import SystemTestSupport
import TestSupport
import Testing

/// Computer, hub and companion as three programs that are connected by HTTP.
@Suite struct HubTests {
    private func word(_ line: Substring?, _ key: String) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data((line ?? "").utf8)) as? [String: Any]
        return try #require(object?[key] as? String)
    }

    @Test(.requires(.root, .fanotify)) func aPhoneIsPairedShowsAnAlertApprovesALaunchAndIsRevoked() async throws {
        let fixture = try await CommandLineFixture()
        let hub = try await RunningHub(in: fixture.directory)
        let (passcode, phone) = ([CommandLineFixture.passcode], fixture.directory.path("phone"))
        let early = try await fixture.run("pair", "--json", passcodes: passcode)
        #expect(early.status == 1 && early.code == "hub", "without a hub: \(early.output)\(early.errors)")
        let connected = try await fixture.run("hub", "connect", hub.url, "--json", passcodes: passcode)
        #expect(connected.status == 0, "\(connected.errors)")
        await eventually { try await fixture.run("hub", "status", "--json").json()["connected"] as? Bool == true }
        let diary = try fixture.copy(of: "/usr/bin/true", as: "diary")
        #expect(try await fixture.run("add", diary, passcodes: passcode).status == 0)

        let pairing = try fixture.start(["pair", "--unchecked", "--json", "--yes"], passcodes: passcode)
        await eventually { pairing.output.contains("\n") }
        let link = try word(pairing.output.split(separator: "\n").first, "link")
        let companion = try await Companion.join(
            link, name: "Anna's phone", directory: phone, connect: Companion.overHTTP)
        #expect(try await pairing.wait() == .code(0))
        #expect(try await fixture.run("devices").output.contains("Anna's phone"))

        // The PIN and the push subscription of the phone, which its revocation ends.
        try await companion.hub.setPush(
            PushSubscriptionRequest(
                endpoint: "https://push.example/x", keys: .init(p256dh: key(65), auth: key(16))))
        let share = try await companion.setPIN(SecretBytes(utf8: "123456"))
        #expect(await refusal { _ = try await companion.tryPIN(SecretBytes(utf8: "000000")) } == .wrongPIN)
        #expect(try await companion.tryPIN(SecretBytes(utf8: "123456")) == share)

        // Nobody answers at the computer: the phone does.
        let events = try await ControlClient(socketPath: fixture.socket).prompts()
        let prompter = Task { for try await _ in events {} }
        await eventually { try await fixture.run("status", "--json").output.contains("\"prompterConnected\" : true") }
        await eventually("the status is received") {
            try await companion.sync()
            return await !companion.report().computers.isEmpty
        }
        let report = try #require(await companion.report().computers.first)
        #expect(report.status.integrity?.contains { $0.id == "root-access" && !$0.sentence.isEmpty } == true)
        await eventually("the list of apps is received") {
            try await companion.sync()
            let list = await companion.lists()[report.id]
            return list?.apps.count == 1 && list?.others != nil
        }
        let launch = try ChildProcess(diary)
        await eventually("the request is received") {
            try await companion.sync()
            return await companion.requests().first?.appName == "diary"
        }
        #expect(launch.isRunning && launch.exit == nil)
        let prompt = try #require(await companion.requests().first?.prompt)
        let computer = try await companion.computer(nil)
        let approved = try await companion.command(
            .approve(prompt: prompt, grant: GrantRequest(.duration)), to: computer)
        #expect(approved.state == .done, "\(approved)")
        #expect(try await launch.wait() == .code(0))
        prompter.cancel()

        // No prompter is connected: only the phone is asked, unless the owner turned that off.
        await eventually { try await fixture.run("status", "--json").output.contains("\"prompterConnected\" : false") }
        #expect(try await companion.command(.lockAll, to: computer).state == .done)
        let second = try ChildProcess(diary)
        await eventually("the second request is received") {
            try await companion.sync()
            // The phone may not have received yet that the first one is settled.
            let requests = await companion.requests()
            return requests.count == 1 && requests.first?.prompt != prompt
        }
        #expect(second.isRunning && second.exit == nil)
        let other = try #require(await companion.requests().first?.prompt)
        let once = try await companion.command(
            .approve(prompt: other, grant: GrantRequest(.thisLaunch)), to: computer)
        #expect(once.state == .done, "\(once)")
        #expect(try await second.wait() == .code(0))
        #expect(
            try await fixture.run("settings", "set", "--ask-phone-only", "off", passcodes: passcode).status == 0)
        let third = try? ChildProcess(diary)
        #expect(try await third?.wait() != .code(0))
        try await companion.sync()
        let alerts = await companion.events().map(\.sentence)
        #expect(alerts.contains("diary was started and waits for the passcode."), "\(alerts)")

        // Content that is not stored here is read from the hub.
        let file = fixture.directory.path("taxes.pdf")
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try content.write(to: URL(fileURLWithPath: file))
        #expect(try await fixture.run("file", "add", file, passcodes: passcode).status == 0)
        await eventually { try await fixture.run("hub", "status", "--json").json()["waiting"] as? Int == 0 }
        let kept = fixture.directory.path("state/blobs/kept")
        for name in try FileManager.default.contentsOfDirectory(atPath: kept) { unlink("\(kept)/\(name)") }
        unlink(file)
        let got = try await fixture.run("file", "get", "taxes.pdf", "-o", file)
        #expect(got.status == 0, "\(got.errors)")
        #expect(FileManager.default.contents(atPath: file) == content)

        let revoked = try await fixture.run("devices", "revoke", "Anna's phone", "--yes", passcodes: passcode)
        #expect(revoked.status == 0 && revoked.output.contains("can't read anything that is written from now on"))
        #expect(await refusal { try await companion.sync() } == .unauthorized)
        #expect(await refusal { _ = try await companion.tryPIN(SecretBytes(utf8: "123456")) } == .unauthorized)
        #expect(await refusal { try await companion.hub.removePush() } == .unauthorized)
        #expect(await refusal { _ = try await companion.command(.lockAll, to: computer) } == .unauthorized)
        #expect(try await !fixture.run("devices").output.contains("Anna's phone"))
        #expect(try await fixture.run("hub", "disconnect", "--yes", passcodes: passcode).status == 0)
        #expect(try await fixture.run("hub", "status").output.contains("There is no hub."))
        try await fixture.end()
    }

    @Test func aLinkThatNoPhoneCanOpenIsRefusedAndTheWaysThatWorkAreListed() async throws {
        let fixture = try await CommandLineFixture()
        let hub = try await RunningHub(in: fixture.directory)
        let passcode = [CommandLineFixture.passcode]
        #expect(try await fixture.run("hub", "connect", hub.url, passcodes: passcode).status == 0)
        let refused = try await fixture.run("pair", "--no-wait", passcodes: passcode)
        #expect(refused.status == 1 && refused.output == "", "\(refused.output)")
        #expect(refused.errors.contains("No other device can use \(hub.url): only this computer reaches it."))
        #expect(refused.errors.contains("A phone can reach this hub") && refused.errors.contains("applocker panel"))
        #expect(!refused.errors.contains("#pair="))
        for arguments in [["--address", "http://192.168.1.5"], ["--address", "https://192.168.1.5"], ["--computer"]] {
            let child = try fixture.start(["pair", "--json", "--no-wait"] + arguments, passcodes: passcode)
            #expect(try await child.wait() == .code(1))
            #expect((child.output + child.errorOutput).contains("address_unusable"), "\(arguments)")
        }
        let ways = try await fixture.run("pair", "--ways", passcodes: passcode)
        #expect(ways.status == 1 && ways.output.contains("A phone can reach this hub"), "\(ways.output)")
        let listed = try await fixture.run("pair", "--ways", "--json", passcodes: passcode)
        let report = try JSONDecoder().decode(PhoneWaysReport.self, from: Data(listed.output.utf8))
        #expect(listed.status == 0 && report.hub == hub.url && report.address == nil && !report.ways.isEmpty)
        let shown = try await fixture.run("pair", "--no-wait", "--unchecked", passcodes: passcode)
        #expect(shown.status == 0 && shown.output.contains("\(hub.url)/#pair="))
        try await fixture.end()
    }

    /// The code by which the hub refuses; nil where it doesn't.
    private func refusal(_ body: () async throws -> Void) async -> HubError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? HubError)?.code
        }
    }

    private func key(_ count: Int) -> String {
        // The base point of P-256 as a public key, or any bytes.
        let point = "BGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfU="
        let bytes = count == 65 ? Data(base64Encoded: point)! : Data(repeating: 7, count: count)
        return bytes.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    @Test func upRunsAHubAndConnectsToItOnceAPasscodeIsSet() async throws {
        let directory = try TemporaryDirectory()
        let state = directory.path("state")
        let up = try ChildProcess(
            BuiltProducts.path("applocker"), ["up", "--state", state] + (geteuid() == 0 ? [] : ["--user-mode"]))
        let client = ControlClient(socketPath: state + "/control.sock")
        await eventually {
            try await client.call(\.status).protection != .gateAway
        }
        let isReported = await eventually("the hub's address is reported") {
            up.errorOutput.contains("A hub runs on 127.0.0.1:")
        }
        try #require(isReported, "\(up.errorOutput)")
        #expect(try await client.call(\.hubStatus).url == nil)
        try await client.call(\.setUp, body: SetUpRequest(passcode: "correct horse 9"))
        let isConnected = await eventually("it is connected") {
            let status = try await client.call(\.hubStatus)
            return status.connected && status.records >= 3
        }
        #expect(isConnected, "\(up.errorOutput)")
        #expect(FileManager.default.fileExists(atPath: state + "/hub/hub.sqlite"))
        up.kill(SIGINT)
        #expect(try await up.wait() == .code(0))
    }

    private func copy(of program: String, in directory: TemporaryDirectory) throws -> String {
        let path = directory.path("diary")
        try Data(contentsOf: URL(fileURLWithPath: program)).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    /// kill -9 of daemon and hub, over and over, while events are queued and sent. 10,000 of them with APPLOCKER_LONG=1.
    @Test func everyQueuedEventIsReceivedOnceAndInOrderDespiteKills() async throws {
        let count = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == nil ? 120 : 10_000
        let directory = try TemporaryDirectory()
        let hub = try await RunningHub(in: directory)
        var daemon = try await ControlDaemon(state: directory)
        try await daemon.setUp()
        try await daemon.client.connect(hub.url, passcode: ControlDaemon.passcode)
        let companion = try await daemon.client.pair(
            "phone", passcode: ControlDaemon.passcode, directory: directory.path("phone"))
        let app = try copy(of: "/usr/bin/true", in: directory)
        try await daemon.client.call(\.addApp, token: daemon.session(), body: AddAppRequest(app: app))
        try await hub.kill()
        // Each lock is an event; what was queued before a kill is counted.
        let kills = 2
        var queued = 0
        for round in 1...kills {
            // An ordinary user's lock that changes nothing is an event only with a session.
            let session = try await daemon.session()
            for _ in 0..<(count / kills) {
                try await daemon.client.call(\.lock, token: session, body: LockRequest(apps: [app]))
            }
            await eventually {
                try await daemon.client.call(\.hubStatus).waiting >= count / kills * round
            }
            queued = try await daemon.client.call(\.hubStatus).waiting
            try await daemon.killNow()
            daemon = try await ControlDaemon(state: directory)
        }
        #expect(queued >= count / kills * kills)
        for _ in 0..<2 {
            let waiting = try await daemon.client.call(\.hubStatus).waiting
            try await hub.startAgain()
            await eventually("some are sent") {
                let left = try await daemon.client.call(\.hubStatus).waiting
                return left == 0 || left < waiting - count / 10
            }
            try await hub.kill()
            try await daemon.killNow()
            daemon = try await ControlDaemon(state: directory)
        }
        try await hub.startAgain()
        let client = daemon.client
        await eventually(timeout: .seconds(120), "everything is sent") {
            let status = try await client.call(\.hubStatus)
            return status.connected && status.waiting == 0
        }
        try await companion.sync()
        let report = await companion.report()
        #expect(report.misbehaviour.isEmpty && report.refused == 0)
        // Each names its predecessor: none is missing, and they are in the order of their times.
        #expect(report.computers.first?.missingEvents == 0)
        let events = await companion.events().filter { $0.kind == .relocked }
        #expect(events.count == count / kills * kills)
        #expect(events.map(\.time) == events.map(\.time).sorted())
    }
}
