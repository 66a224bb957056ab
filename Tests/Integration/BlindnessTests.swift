import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import LocalControl
import SealedFormats
import SystemTestSupport
import TestSupport
import Testing

/// What the hub receives of a household that uses every feature: nothing that anybody could read.
@Suite struct BlindnessTests {
    private static let pin = "735912 katze"
    private static let noteText = "the safe is behind the boiler"
    private static let phoneName = "Annas Telefon"
    private static let computerPhoto = "lavfi:testsrc2=size=160x120"

    /// The encodings in which a secret may be stored: plain, hexadecimal, base64 at each of its three alignments, and in
    /// a URL.
    private static func spellings(of secret: Data) -> [Data] {
        let hexadecimal = secret.map { String(format: "%02x", $0) }.joined()
        let base64 = (0..<3).map { shift in
            let shifted = (Data(count: shift) + secret).base64EncodedString()
            // Without the characters that also depend on neighbouring bytes.
            return String(shifted.dropFirst(shift == 0 ? 0 : 4).dropLast(4))
        }
        let url = base64.map { $0.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_") }
        // JSON may escape a slash (RFC 8259 section 7), and Foundation's does.
        let escaped = base64.map { $0.replacingOccurrences(of: "/", with: "\\/") }
        let text = String(decoding: secret, as: UTF8.self).replacingOccurrences(of: "/", with: "\\/")
        return [secret, Data(hexadecimal.utf8), Data(text.utf8)]
            + Set(base64 + url + escaped).filter { $0.count >= 6 }.map { Data($0.utf8) }
    }

    private func places(_ hub: RunningHub, _ tap: RecordingTap) async throws -> [String: Data] {
        var places: [String: Data] = ["log": hub.log, "traffic": tap.traffic]
        let metrics = try await ChildProcess.run("curl", ["-s", hub.url + "/metrics"])
        #expect(metrics.output.contains("# TYPE"))
        places["metrics"] = Data(metrics.output.utf8)
        let files = FileManager.default.enumerator(atPath: hub.state)
        while let name = files?.nextObject() as? String {
            if let bytes = FileManager.default.contents(atPath: hub.state + "/" + name) { places[name] = bytes }
        }
        return places
    }

    @Test(.requires(.root, .fanotify)) func theHubStoresAndReceivesNoPlaintext() async throws {
        let fixture = try await CommandLineFixture()
        let hub = try await RunningHub(in: fixture.directory)
        let tap = try RecordingTap(to: hub.port)
        let client = ControlClient(socketPath: fixture.socket)
        let passcode = CommandLineFixture.passcode
        try await client.connect(tap.url, passcode: passcode)
        let diary = try fixture.copy(of: "/usr/bin/true", as: "liebestagebuch")
        #expect(try await fixture.run("add", diary, passcodes: [passcode]).status == 0)
        let companion = try await client.pair(
            Self.phoneName, passcode: passcode, directory: fixture.directory.path("phone"), address: tap.url)

        // Every feature: notes both ways, a file, a photo, a blocked launch, wrong passcodes, commands, PIN.
        try await fixture.addNote("Erbschaft", Self.noteText)
        let content = (0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 17) }
        let file = fixture.directory.path("steuerbescheid.pdf")
        try Data(content).write(to: URL(fileURLWithPath: file))
        #expect(try await fixture.run("file", "add", file).status == 0)
        #expect(
            try await fixture.run(
                "settings", "set", "--camera", Self.computerPhoto, "--photo-from", "1", passcodes: [passcode]
            ).status == 0)
        // Nobody answers at the computer: the phone is asked, and denies.
        let launch = try ChildProcess(diary)
        await eventually("the request is received") {
            try await companion.sync()
            return await !companion.requests().isEmpty
        }
        let computer = try await companion.computer(nil)
        let prompt = try #require(await companion.requests().first?.prompt)
        #expect(try await companion.command(.deny(prompt: prompt), to: computer).state == .done)
        #expect(try await launch.wait() == .notStarted(errno: EPERM))
        #expect(try await fixture.run("unlock", "liebestagebuch", passcodes: ["falsches passwort"]).status == 1)
        try await companion.sync()
        _ = try await companion.write(title: "Einkauf", body: "milch und " + Self.noteText)
        let grant = GrantRequest(.duration, seconds: 60)
        let reply = try await companion.command(.unlockApp(app: "liebestagebuch", grant: grant), to: computer)
        #expect(reply.state == .done)
        let share = try await companion.setPIN(SecretBytes(utf8: Self.pin))
        #expect(try await companion.tryPIN(SecretBytes(utf8: Self.pin)) == share)
        await eventually("everything is received, the photo too") {
            try await companion.sync()
            guard await companion.events().contains(where: { $0.photo != nil }) else { return false }
            // The event is sent before the photo, which counts as waiting from before the event.
            guard try await client.call(\.hubStatus).waiting == 0 else { return false }
            try await companion.sync()
            return true
        }
        let photo = try #require(await companion.events().compactMap(\.photo).first)
        let picture = try await companion.photo(photo)
        #expect(picture.count > 500)

        let secrets = await companion.secrets
        func bytes(_ secret: SecretBytes) -> Data { secret.withUnsafeBytes { Data($0) } }
        var sought: [(what: String, secret: Data)] = [
            ("app", Data("liebestagebuch".utf8)), ("path", Data(diary.utf8)), ("note", Data(Self.noteText.utf8)),
            ("title", Data("Einkauf".utf8)), ("title", Data("Erbschaft".utf8)), ("file", Data("steuerbescheid".utf8)),
            ("file", Data(content[500..<600])), ("photo", picture[200..<260]), ("phone", Data(Self.phoneName.utf8)),
            ("computer", Data(ProcessInfo.processInfo.hostName.utf8)), ("PIN", Data(Self.pin.utf8)),
            ("passcode", Data(passcode.utf8)), ("wrong passcode", Data("falsches passwort".utf8)),
            ("signing key", bytes(secrets.signingKey.privateKey)), ("box key", bytes(secrets.boxKey.privateKey)),
            ("action", Data("unlockApp".utf8)), ("sentence", Data("wrong passcode".utf8)),
        ]
        sought += secrets.ring.entries.map { ("key of kind \($0.kind)", bytes($0.key)) }
        // A short name can occur in so much base64 by chance.
        sought.removeAll { $0.what == "computer" && $0.secret.count < 8 }
        #expect(sought.count >= 18)
        let places = try await places(hub, tap)
        #expect(places.keys.contains("hub.sqlite") && places.count >= 6)
        #expect(places["traffic"]?.count ?? 0 > 20_000)
        for (place, content) in places {
            for (what, secret) in sought {
                for spelling in Self.spellings(of: secret) {
                    #expect(content.range(of: spelling) == nil, "\(what) is in \(place)")
                }
            }
        }
        try verifySearch(places, token: bytes(secrets.token), device: secrets.device, share: bytes(share))
        try await fixture.end()
    }

    /// The search finds what exists: the token in the traffic, and not on the hub's disk; the PIN share on both.
    private func verifySearch(_ places: [String: Data], token: Data, device: ItemID, share: Data) throws {
        func isIn(_ place: String, _ secret: Data) -> Bool {
            Self.spellings(of: secret).contains { places[place]?.range(of: $0) != nil }
        }
        #expect(isIn("traffic", token))
        #expect(isIn("traffic", share))
        #expect(isIn("hub.sqlite", share) || isIn("hub.sqlite-wal", share))
        for place in places.keys where place != "traffic" { #expect(!isIn(place, token), "\(place)") }
        #expect(isIn("traffic", Data(device.description.utf8)))
        #expect(!isIn("log", Data(device.description.utf8)))
    }
}
