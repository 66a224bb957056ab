import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// One AppLocker for all steps: each check of a passcode takes time.
@Suite(
    "Photos after wrong passcodes",
    .requires(
        .program("/usr/bin/ffmpeg"), .program("identify"), .display, .program("xdotool"), .program("import")))
struct IntruderTests {
    private static let size = "320x240"

    @Test("From the camera to the list, the file and the window; sealed on disk, unreadable while the vault is locked")
    func fromTheCameraToTheWindow() async throws {
        let applocker = try await CommandLineFixture()
        try await useCamera("lavfi:testsrc2=size=\(Self.size)", applocker)
        try await enterWrongPasscode(applocker, times: 2)
        await eventually("the photo is taken") { try await events(applocker, "intruder_photographed") == 1 }
        // Neither the disk nor AppLocker's answers contain a picture.
        try await expectNothingReadable(applocker)
        #expect(try await applocker.run("vault", "unlock", passcodes: [CommandLineFixture.passcode]).status == 0)
        let photo = try #require(try await photos(applocker).first)
        #expect(try await photos(applocker).count == 1, "the first wrong passcode causes no photo")
        let id = try #require(photo["id"] as? String)
        #expect(photo["failures"] as? Int == 2)
        #expect(photo["user"] as? Int == Int(geteuid()))
        #expect(abs(try #require(photo["time"] as? Double) - Date().timeIntervalSince1970) < 120)
        let table = try await applocker.run("intruders", "list")
        #expect(table.output.contains(id.prefix(8)) && table.output.contains("WRONG"))
        try await export(id, size: photo["size"] as? Int, applocker)
        try await show(id, applocker)

        // A photo without a camera is an event, and the wrong passcode is still answered.
        try await useCamera("v4l2:/dev/video987", applocker)
        try await enterWrongPasscode(applocker, times: 2)
        await eventually("the log has the event") {
            try await applocker.run("log").output.contains("There is no camera /dev/video987.")
        }
        #expect(try await photos(applocker).count == 1)
        try await delete(id, applocker)
        try await applocker.end()
    }

    private func useCamera(_ camera: String, _ applocker: CommandLineFixture) async throws {
        let set = try await applocker.run(
            "settings", "set", "--camera", camera, passcodes: [CommandLineFixture.passcode])
        try #require(set.status == 0, "\(set.errors)")
    }

    private func enterWrongPasscode(_ applocker: CommandLineFixture, times: Int) async throws {
        for _ in 1...times {
            #expect(try await applocker.run("vault", "unlock", passcodes: ["not it"]).status == 1)
        }
    }

    private func events(_ applocker: CommandLineFixture, _ kind: String) async throws -> Int {
        try await applocker.run("log").output.components(separatedBy: kind).count - 1
    }

    /// With the vault open.
    private func photos(_ applocker: CommandLineFixture) async throws -> [[String: Any]] {
        let list = try await applocker.run("intruders", "list", "--json")
        #expect(list.status == 0, "\(list.errors)")
        return try #require(try list.json()["intruders"] as? [[String: Any]])
    }

    private func expectNothingReadable(_ applocker: CommandLineFixture) async throws {
        let client = ControlClient(socketPath: applocker.socket)
        func isRefused<Reply>(_ operation: ControlOperationPath<NoInput, Reply>) async -> Bool {
            do {
                try await client.call(operation, parameter: "0123")
                return false
            } catch {
                return (error as? ControlError)?.code == .vaultLocked
            }
        }
        #expect(await isRefused(\.listIntruders))
        #expect(await isRefused(\.readIntruder))
        #expect(await isRefused(\.removeIntruder))
        #expect(try await applocker.run("intruders", "list").status != 0)
        let state = applocker.directory.path("state")
        let all = try await ChildProcess.run("grep", ["-r", "-a", "-l", "SQLite format 3", state])
        #expect(!all.output.isEmpty, "the search includes the database")
        for word in ["JFIF", "Lavc"] {
            let found = try await ChildProcess.run("grep", ["-r", "-a", "-l", word, state])
            #expect(found.output.isEmpty, "\(word) is in clear")
        }
    }

    private func export(_ id: String, size: Int?, _ applocker: CommandLineFixture) async throws {
        let file = applocker.directory.path("out.jpg")
        let wrong = try await applocker.run("intruders", "export", id, "-o", file, passcodes: ["not it"])
        #expect(wrong.status == 1, "a wrong passcode is refused, the vault open or not")
        #expect(!FileManager.default.fileExists(atPath: file))
        let export = try await applocker.run("intruders", "export", String(id.prefix(6)), "-o", file)
        #expect(export.status == 0, "\(export.errors)")
        #expect(export.output.contains("not sealed"))
        let seen = try await ChildProcess.run("identify", ["-format", "%m %wx%h", file])
        #expect(seen.output == "JPEG \(Self.size)")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect((attributes[.size] as? NSNumber)?.intValue == size)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try await applocker.run("intruders", "export", id, "-o", file).status == 2)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine", "nothing is overwritten")
    }

    private func show(_ id: String, _ applocker: CommandLineFixture) async throws {
        let noDesktop = try await applocker.run("intruders", "show")
        #expect(noDesktop.status == 1)
        #expect(noDesktop.errors.contains("intruders export"))
        #expect(try await applocker.run("intruders", "show", "--json").json()["id"] as? String == id)
        #expect(try await applocker.run("intruders", "show", "zz", "--json").status == 4)

        let server = try await XServer(screen: "800x600x24")
        let environment = applocker.environment.merging([
            "DISPLAY": server.display, "GDK_BACKEND": "x11", "GTK_A11Y": "none", "GSETTINGS_BACKEND": "memory",
            "DBUS_SESSION_BUS_ADDRESS": "disabled:", "LC_ALL": "C.UTF-8",
        ]) { $1 }
        let shown = try ChildProcess(BuiltProducts.path("applocker"), ["intruders", "show"], environment: environment)
        func window() async throws -> String {
            try await ChildProcess.run(
                "xdotool", ["search", "--onlyvisible", "--class", "applocker-photo"], environment: environment
            ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        await eventually("the window") { try await !window().isEmpty }
        #expect(shown.isRunning, "\(shown.errorOutput)")
        let arguments = try String(contentsOfFile: "/proc/\(shown.pid)/cmdline", encoding: .utf8)
        #expect(arguments.contains("--photo-fd"))
        #expect(!arguments.contains("wrong passcode"), "the picture's details are sealed, too")
        // One stripe of the test picture is pure yellow; nothing else in the window is.
        await eventually("the picture") {
            let shot = try ChildProcess(
                "import", ["-window", await window(), "-depth", "8", "rgb:-"], environment: environment)
            try await shot.wait()
            let bytes = [UInt8](shot.outputData)
            return stride(from: 0, to: bytes.count - 2, by: 3).count {
                bytes[$0] > 240 && bytes[$0 + 1] > 240 && bytes[$0 + 2] < 20
            } > 5_000
        }
        let keys = try await ChildProcess.run(
            "xdotool", ["windowfocus", "--sync", window(), "key", "Escape"], environment: environment)
        #expect(keys.exit == .code(0))
        #expect(try await shown.wait() == .code(0))
    }

    private func delete(_ id: String, _ applocker: CommandLineFixture) async throws {
        #expect(try await applocker.run("intruders", "delete").status == 2)
        #expect(try await applocker.run("intruders", "delete", id, "zz", "--yes").status == 4)
        #expect(try await photos(applocker).count == 1, "a wrong name deletes nothing")
        let deleted = try await applocker.run("intruders", "delete", String(id.prefix(8)), "--yes", "--json")
        #expect(try deleted.json()["deleted"] as? [String] == [id])
        #expect(try await photos(applocker).isEmpty)
        #expect(try await applocker.run("intruders", "delete", "--all", "--yes").output.contains("no intruder photos"))
    }
}
