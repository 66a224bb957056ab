import ArgumentParser
import ControlAPI
import Testing

@testable import AppLockerCLI

/// Shared vaults as text on the command line.
@Suite struct SharedVaultTextTests {
    private let plain = Paint(isColoured: false)

    private func vault(
        _ state: SharedVaultReport.State = .member, name: String = "Us", words: [String]? = nil,
        members: [String] = ["This computer", "Anna's phone"], waiting: Int = 0, problem: String? = nil
    ) -> SharedVaultReport {
        SharedVaultReport(
            id: "3f9a" + String(repeating: "0", count: 28), name: name, hub: "https://hub.example", state: state,
            words: words, members: members, vault: String(repeating: "1", count: 32), isConnected: problem == nil,
            waiting: waiting, problem: problem)
    }

    @Test func aListHasStateMembersAndWhatTheHubLacks() {
        let list = SharedVaultList(vaults: [
            vault(waiting: 2), vault(name: "", members: [], problem: "The hub can't be reached.").with(id: "77c1"),
            vault(.waiting, name: "", words: ["apple", "river", "stone"], members: []).with(id: "a0b1"),
            vault(.removed, name: "Club").with(id: "c0de"),
        ])
        #expect(
            list.lines(plain) == [
                "ID        NAME  STATE                 NOT SENT  MEMBERS",
                "3f9a0000  Us    connected             2         This computer, Anna's phone",
                "77c10000        not connected",
                "a0b10000        waiting for a member",
                "c0de0000  Club  removed by a member             This computer, Anna's phone",
                "The device that invited shows three words. Compare: apple river stone",
                "the vault 77c10000: The hub can't be reached.",
            ])
        #expect(SharedVaultList(vaults: []).lines(plain).map { $0.contains("`applocker moments join`") } == [true])
    }

    @Test func aNameFromAnotherDeviceCanNotForgeARow() {
        let lines = SharedVaultList(vaults: [vault(name: "Us\n\u{1B}[2J", members: ["a\nb"])]).lines(plain)
        #expect(lines.count == 2 && lines.allSatisfy { !$0.contains("\n") && !$0.contains("\u{1B}") })
    }

    @Test func leavingNamesWhatIsLost() {
        #expect(
            vault().leavingQuestion(forgets: false)
                == "Leave \"Us\"? Its moments and photos are removed from this computer. "
                + "The other members keep everything.")
        #expect(vault(waiting: 1).leavingQuestion(forgets: false).hasSuffix(" 1 change not sent yet will be lost."))
        let forgotten = vault(waiting: 3).leavingQuestion(forgets: true)
        #expect(forgotten.contains(" 3 changes not sent yet will be lost. "))
        #expect(forgotten.hasSuffix(" The others continue to see this computer as a member."))
        let alone = vault(members: ["This computer"]).leavingQuestion(forgets: false)
        #expect(alone.hasSuffix(" No other member is shown: they may be lost."))
        #expect(
            vault(.removed).leavingQuestion(forgets: true)
                == "Leave \"Us\"? Its moments and photos are removed from this computer.")
        let request = vault(.waiting, name: "", members: [])
        #expect(request.leavingQuestion(forgets: false) == "Withdraw the request to join the vault 3f9a0000?")
        #expect(request.leftSentence == "The request to join the vault 3f9a0000 is withdrawn.")
    }

    @Test func onlyAMemberHasAVaultForNewPhotos() throws {
        try vault().requireMember()
        for state in [SharedVaultReport.State.waiting, .removed] {
            let error = #expect(throws: CommandLineError.self) { try vault(state).requireMember() }
            #expect(error?.code == "not_a_member" && error?.status == .refused)
        }
    }

    @Test func theVaultIsRepeatedForAShell() throws {
        func repeated(_ arguments: [String]) throws -> String {
            try MomentsVaultOptions.parse(arguments).repeated
        }
        #expect(try repeated([]) == "")
        #expect(try repeated(["--vault", "Us two"]) == " --vault 'Us two'")
        #expect(try repeated(["--vault", "Anna's"]) == #" --vault 'Anna'\''s'"#)
        #expect(throws: (any Error).self) { try repeated(["--vault", ""]) }
    }

    @Test(arguments: [
        ["list"], ["show", "3f9a"], ["add", "At the lake"], ["favourite", "3f9a"], ["remove", "3f9a"],
        ["restore", "3f9a"], ["trash"], ["stats"], ["import", "."], ["export", "out"], [],
    ]) func everyCommandAboutMomentsHasTheOption(_ words: [String]) throws {
        func sharedVault(_ more: [String]) throws -> String? {
            let command = try AppLockerCommand.parseAsRoot(["moments"] + words + more)
            return try #require(command as? any ConnectedCommand).sharedVault
        }
        #expect(try sharedVault(["--vault", "Us"]) == "Us")
        #expect(try sharedVault([]) == nil)
    }
}

extension SharedVaultReport {
    /// With an id that begins so.
    fileprivate func with(id start: String) -> SharedVaultReport {
        var report = self
        report.id = start + String(repeating: "0", count: 32 - start.count)
        return report
    }
}
