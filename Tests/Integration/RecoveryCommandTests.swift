import Foundation
import SystemTestSupport
import TestSupport
import Testing

@Suite("The command line: the recovery sheet")
struct RecoveryCommandTests {
    @Test(
        "Printed as text and as a page with a QR code; it opens the vault when the passcode is forgotten",
        .requires(.program("zbarimg"), .program("chromium")))
    func sheet() async throws {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        try await applocker.addNote("Safe", "12-34-56")

        let wrong = try await applocker.run("recovery", "print", "--json", passcodes: ["not it"])
        #expect(wrong.status == 1 && wrong.code == "wrong_passcode")
        let printed = try await applocker.run("recovery", "print", passcodes: right)
        #expect(printed.status == 0, "\(printed.errors)")
        let first = try #require(
            printed.output.split(separator: "\n").first { $0.hasPrefix("Recovery code: ") }?.dropFirst(15)
        ).description
        #expect(try await applocker.run("recovery", "test", passcodes: [first]).status == 0)

        let page = applocker.directory.path("sheet.html")
        let paged = try await applocker.run("recovery", "print", "--page", page, "--json", passcodes: right)
        #expect(paged.status == 0, "\(paged.errors)")
        let code = try #require(try paged.json()["code"] as? String)
        #expect(code != first)
        let attributes = try FileManager.default.attributesOfItem(atPath: page)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.contains("<code>\(code)</code>"))
        #expect(try await scanned(page, applocker) == code)
        let again = try await applocker.run("recovery", "print", "--page", page, "--json", passcodes: right)
        #expect(again.status == 2 && again.code == "exists")
        #expect(try String(contentsOfFile: page, encoding: .utf8) == html)

        // Only the sheet that was printed last is valid, also after another one was refused.
        let outdated = try await applocker.run("recovery", "test", "--json", passcodes: [first])
        #expect(outdated.status == 1 && outdated.code == "wrong_passcode" && outdated.isOneSentence)
        #expect(try await applocker.run("recovery", "test", passcodes: [code]).status == 0)
        // As a person types it from paper.
        let typed = code.lowercased().replacingOccurrences(of: "-", with: " ")
        #expect(try await applocker.run("recovery", "test", passcodes: [typed]).status == 0)
        let mistyped = try await applocker.run("recovery", "test", "--json", passcodes: ["ABCD"])
        #expect(mistyped.status == 2 && mistyped.code == "bad_request" && mistyped.isOneSentence)

        // It is neither in a file nor in the log.
        #expect(unlink(page) == 0)
        let state = applocker.directory.path("state")
        for text in [code, code.replacingOccurrences(of: "-", with: "")] {
            #expect(try await applocker.files(holding: text, below: [state]) == [])
        }
        let log = try await applocker.run("log", "--json").output
        #expect(log.contains("recovery_made") && !log.contains(code))
        try await use(code, applocker)
        try await applocker.end()
    }

    private func use(_ code: String, _ applocker: CommandLineFixture) async throws {
        let right = [CommandLineFixture.passcode]
        #expect(try await applocker.run("vault", "lock").status == 0)
        let short = try await applocker.run("recovery", "use", "--json", passcodes: [code, "abc"])
        #expect(short.status == 1 && short.code == "passcode_too_short")
        #expect(try await applocker.run("vault", "unlock", passcodes: right).status == 0, "nothing was changed")
        let used = try await applocker.run("recovery", "use", passcodes: [code, "a fresh horse"])
        #expect(used.status == 0, "\(used.errors)")
        #expect(try await applocker.run("vault", "--json").json()["isOpen"] as? Bool == false)
        let old = try await applocker.run("vault", "unlock", "--json", passcodes: right)
        #expect(old.status == 1 && old.code == "wrong_passcode")
        let shown = try await applocker.run("note", "show", "Safe", passcodes: ["a fresh horse"])
        #expect(shown.output == "12-34-56\n", "\(shown.errors)")
        let diary = try applocker.copy(of: "/usr/bin/readlink", as: "Diary")
        #expect(try await applocker.run("add", diary, passcodes: ["a fresh horse"]).status == 0)
        #expect(try await applocker.run("log").output.contains("recovery_used"))
        // The sheet stays valid.
        #expect(try await applocker.run("recovery", "test", passcodes: [code]).status == 0)
    }

    /// What a decoder reads from the page as a browser shows it.
    private func scanned(_ page: String, _ applocker: CommandLineFixture) async throws -> String {
        let picture = applocker.directory.path("page.png")
        let shown = try await ChildProcess.run(
            "chromium",
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + applocker.directory.path("browser"),
                "--window-size=1000,1300", "--screenshot=" + picture, "file://" + page,
            ])
        #expect(shown.exit == .code(0), "\(shown.errorOutput)")
        let read = try await ChildProcess.run("zbarimg", ["--quiet", "--raw", picture])
        try FileManager.default.removeItem(atPath: applocker.directory.path("browser"))
        unlink(picture)
        return read.output.trimmingCharacters(in: .newlines)
    }

    @Test("Before a sheet is printed, no code is valid")
    func withoutASheet() async throws {
        let applocker = try await CommandLineFixture(isSetUp: false)
        let early = try await applocker.run("recovery", "print", "--json", passcodes: ["x"])
        #expect(early.status == 1 && early.code == "not_set_up")
        try await applocker.end()
    }
}
