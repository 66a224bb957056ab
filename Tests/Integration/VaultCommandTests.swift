import Foundation
import SystemTestSupport
import Testing

@Suite("The command line: the vault")
struct VaultCommandTests {
    @Test("Opens only with the passcode, for the user who opened it, until it is locked or AppLocker ends")
    func openAndLock() async throws {
        let applocker = try await CommandLineFixture(isSetUp: false)
        let right = [CommandLineFixture.passcode]
        func isOpen() async throws -> Bool? {
            let status = try await applocker.run("vault", "status", "--json")
            #expect(status.status == 0)
            return try status.json()["isOpen"] as? Bool
        }
        let early = try await applocker.run("vault", "unlock", "--json", passcodes: right)
        #expect(early.status == 1 && early.code == "not_set_up")
        #expect(try await isOpen() == false)
        #expect(try await applocker.run("setup", passcodes: right).status == 0)

        let closed = try await applocker.run("vault", "status", "--json").json()
        #expect(closed["isOpen"] as? Bool == false && closed["user"] == nil)
        #expect((closed["vault"] as? String)?.count == 32)
        #expect(try await applocker.run("vault").output == "The vault is locked.\n")
        let unasked = try await applocker.run("vault", "unlock", "--json")
        #expect(unasked.status == 2 && unasked.code == "no_terminal")
        let wrong = try await applocker.run("vault", "unlock", "--json", passcodes: ["not it"])
        #expect(wrong.status == 1 && wrong.code == "wrong_passcode" && !wrong.output.contains("not it"))
        #expect(wrong.isOneSentence, "\(wrong.errors)")
        #expect(try await isOpen() == false)

        // Everything that needs the keys is refused, and the error names the command that opens the vault.
        for command in [["note", "list"], ["note", "show", "x"], ["file", "list"], ["intruders", "list"]] {
            let refused = try await applocker.run(command + ["--json"], input: "")
            #expect(refused.status == 1 && refused.code == "vault_locked", "\(command): \(refused.output)")
            #expect(refused.errors.contains("applocker vault unlock"))
        }

        let opened = try await applocker.run("vault", "unlock", "--json", passcodes: right)
        #expect(opened.status == 0, "\(opened.errors)")
        let status = try opened.json()
        #expect(status["isOpen"] as? Bool == true && status["user"] as? Int == Int(geteuid()))
        #expect((1...600).contains(try #require(status["locksInSeconds"] as? Int)))
        #expect(status["vault"] as? String == closed["vault"] as? String)
        #expect(try await applocker.run("vault").output.hasPrefix("The vault is open. It locks itself after "))
        #expect(try await applocker.run("note", "list").output == "There are no notes yet.\n")

        #expect(try await applocker.run("settings", "set", "--vault-idle", "30s", passcodes: right).status == 2)
        #expect(try await applocker.run("settings", "set", "--vault-idle", "1m", passcodes: right).status == 0)
        #expect(try await applocker.run("note", "list").status == 0)
        let idle = try await applocker.run("vault", "status", "--json").json()["locksInSeconds"] as? Int
        #expect((1...60).contains(try #require(idle)))

        // Locking needs no passcode, and locking twice is no error.
        for _ in 1...2 {
            let locked = try await applocker.run("vault", "lock", "--json")
            #expect(try locked.status == 0 && locked.json()["isOpen"] as? Bool == false)
        }
        let log = try await applocker.run("log").output
        #expect(log.components(separatedBy: "vault_opened").count == 2)
        #expect(log.components(separatedBy: "vault_locked").count == 2)

        // With every app, the vault is locked too.
        #expect(try await applocker.run("vault", "unlock", passcodes: right).status == 0)
        #expect(try await isOpen() == true)
        #expect(try await applocker.run("lock", "--all").status == 0)
        #expect(try await isOpen() == false)

        #expect(try await applocker.run("vault", "unlock", passcodes: right).status == 0)
        try await applocker.end()
        let stopped = try await applocker.run("vault", "--json")
        #expect(stopped.status == 3 && stopped.code == "not_running")
        let again = try await applocker.startAgain()
        #expect(try await isOpen() == false, "no key outlives the process")
        try await applocker.end(again)
    }
}
