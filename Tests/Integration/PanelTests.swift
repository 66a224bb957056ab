import Foundation
import HeadlessCompanion
import SystemTestSupport
import TestSupport
import Testing

/// `applocker panel` with a real hub and daemon; a program in the browser's place records its arguments.
@Suite struct PanelTests {
    private func desktop(_ fixture: CommandLineFixture) throws -> [String: String] {
        let folder = fixture.directory.path("desktop")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = "#!/bin/sh\necho \"$1\" >> \"$HOME/opened\"\n[ ! -e \"$HOME/broken\" ] || exit 3\n"
        try script.write(toFile: folder + "/xdg-open", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/xdg-open")
        return ["PATH": folder + ":/usr/bin:/bin", "DISPLAY": ":7", "XDG_RUNTIME_DIR": fixture.directory.path]
    }

    private func opened(_ fixture: CommandLineFixture) -> [String] {
        let text = (try? String(contentsOfFile: fixture.directory.path("opened"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    @Test func theBrowserIsPairedAndTheLinkIsInNoProcessArguments() async throws {
        let fixture = try await CommandLineFixture()
        let hub = try await RunningHub(in: fixture.directory)
        let (passcode, desktop) = ([CommandLineFixture.passcode], try desktop(fixture))
        let none = try await fixture.run("panel", "--print-link")
        #expect(none.status == 1 && none.errors.contains("applocker hub connect"))
        #expect(try await fixture.run("hub", "connect", hub.url, passcodes: passcode).status == 0)
        await eventually { try await fixture.run("hub", "status", "--json").json()["connected"] as? Bool == true }
        let headless = try await fixture.run("panel")
        #expect(
            headless.status == 1 && headless.errors.contains("--print-link")
                && headless.errors.split(separator: "\n").count == 1)
        #expect(
            try await fixture.finish(fixture.start(["panel"], passcodes: ["wrong one"], more: desktop)).status == 1)
        #expect(opened(fixture).isEmpty)

        let panel = try fixture.start(["panel"], passcodes: passcode, more: desktop)
        await eventually("a browser is opened") { opened(fixture).count == 1 }
        let page = try #require(opened(fixture).first)
        let text = try String(contentsOfFile: page, encoding: .utf8)
        let link = try #require(text.firstMatch(of: /url=(http:\/\/localhost:[0-9]+\/#pair=[A-Za-z0-9_-]+)"/)?.1)
        let secret = try #require(link.split(separator: "=").last)
        for process in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int(process) != nil {
            for file in ["cmdline", "environ"] {
                let words = FileManager.default.contents(atPath: "/proc/\(process)/\(file)") ?? Data()
                #expect(words.range(of: Data(secret.utf8)) == nil, "\(process)/\(file)")
            }
        }
        _ = try await Companion.join(
            String(link), name: "Chromium", directory: fixture.directory.path("browser"), connect: Companion.overHTTP)
        #expect(try await panel.wait() == .code(0))
        #expect(!FileManager.default.fileExists(atPath: page))
        let devices = try await fixture.run("devices").output
        #expect(devices.contains(" panel ") && !devices.contains("Chromium"), "\(devices)")

        // Paired: the address alone, without a passcode.
        let second = try await fixture.finish(fixture.start(["panel"], more: desktop))
        #expect(second.status == 0, "\(second.errors)")
        await eventually { opened(fixture).count == 2 }
        #expect(opened(fixture).last == "http://localhost:\(hub.port)/")

        // No browser: reported at once, and the link becomes invalid.
        #expect(FileManager.default.createFile(atPath: fixture.directory.path("broken"), contents: nil))
        let broken = try await fixture.finish(fixture.start(["panel", "--again"], passcodes: passcode, more: desktop))
        #expect(broken.status == 1 && broken.errors.contains("--print-link"), "\(broken.output)\(broken.errors)")

        // Printed, and interrupted: no file is left.
        let printed = try fixture.start(["panel", "--again", "--print-link"], passcodes: passcode, more: desktop)
        await eventually { printed.output.contains("#pair=") }
        printed.kill(SIGINT)
        #expect(try await printed.wait() == .code(1))
        let late = printed.output.trimmingCharacters(in: .whitespacesAndNewlines)
        await #expect(throws: (any Error).self) {
            try await Companion.join(
                late, name: "late", directory: fixture.directory.path("late"), connect: Companion.overHTTP)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
        #expect(!left.contains { $0.hasPrefix("applocker-") }, "\(left)")
        try await fixture.end()
    }
}
