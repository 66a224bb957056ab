import ControlAPI
import Foundation
import Household
import Policy
import SealedFormats
import SealedStore
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

private let right = SecretBytes(utf8: "right")
private let wrong = SecretBytes(utf8: "wrong")

@Suite struct VaultTests {
    private func opened(_ world: World) async throws { _ = try await world.sealed.vault.open(right, for: alice) }

    // MARK: Opening and locking

    @Test func onlyTheUserWhoOpenedTheVaultMayUseItWhileItIsOpen() async throws {
        let world = try await World(hasVault: true)
        let notes = world.sealed.notes
        #expect(await refusal { _ = try await notes.list(search: nil, peer: alice) } == .vaultLocked)
        #expect(await refusal { _ = try await world.sealed.vault.open(wrong, for: alice) } == .wrongPasscode)
        #expect(try await world.sealed.vault.status().isOpen == false)

        try await opened(world)
        #expect(try await world.sealed.vault.status().user == alice.user)
        #expect(try await notes.list(search: nil, peer: alice).notes.isEmpty)
        #expect(await refusal { _ = try await notes.list(search: nil, peer: bob) } == .vaultLocked)

        await world.sealed.vault.lock(user: bob.user, "The vault was locked.")
        #expect(await refusal { _ = try await notes.list(search: nil, peer: alice) } == .vaultLocked)
        #expect(try await world.events(.vaultOpened).count == 1)
        #expect(try await world.events(.vaultLocked).count == 1)
    }

    @Test func anUnusedVaultLocksItself() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        world.time.advance(by: .seconds(599))
        _ = try await world.sealed.notes.list(search: nil, peer: alice)
        world.time.advance(by: .seconds(599))
        #expect(try await world.sealed.vault.status().isOpen)
        // The watcher has woken up meanwhile, and sleeps for the remaining time.
        await eventually { world.time.waits.contains(.seconds(1)) }
        world.time.advance(by: .seconds(1))
        await eventually { try await world.sealed.vault.status().isOpen == false }
    }

    @Test func aShorterIdleTimeAppliesToTheOpenVault() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        try await world.sealed.vault.changeSettings { $0.vaultIdleSeconds = 60 }
        await eventually { world.time.waits.contains(.seconds(60)) }
        world.time.advance(by: .seconds(60))
        await eventually { try await world.sealed.vault.status().isOpen == false }
    }

    /// Debug builds only: a release build forbids reading its memory.
    @Test func theVaultIsLockedByItsUserOrWithASession() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        #expect(await refusal { try await world.call(.closeVault, by: bob) } == .sessionNeeded)
        let generations = world.control.lockGenerations
        let (mine, theirs) = (generations.generation(for: bob.user), generations.generation(for: alice.user))
        _ = try await world.call(.lock, by: bob, body: LockRequest(all: true))
        #expect(try await world.sealed.vault.status().isOpen)
        // A passcode that bob's processes gave before has no effect now.
        #expect(await refusal { try generations.check(mine) } == .busy)
        try generations.check(theirs)
        _ = try await world.call(.closeVault, by: bob, token: try await world.session(bob))
        #expect(try await world.sealed.vault.status().isOpen == false)
        try await opened(world)
        _ = try await world.call(.closeVault)
        #expect(try await world.sealed.vault.status().isOpen == false)
    }

    @Test func noKeyIsLeftInMemoryOnceTheVaultIsLocked() async throws {
        // A vault of its own: the shared one may still be open in another world.
        let world = try await World(hasVault: true, vault: World.newVault())
        // Stored with each bit inverted, so that the scan does not find this copy.
        let keys = try await disguisedKeys(world)
        #expect(keys.count == 2)
        try await opened(world)
        _ = try await world.sealed.notes.add(NoteRequest(title: "a", body: "b"), peer: alice)
        for key in keys { #expect(MemoryScan.holds(key), "the scan finds the keys of the open vault") }
        await world.sealed.vault.lock(user: nil, "The vault was locked.")
        // A task that used them may still be ending.
        for key in keys { await eventually("the key is removed") { !MemoryScan.holds(key) } }
    }

    private func disguisedKeys(_ world: World) async throws -> [[UInt8]] {
        let ring = try await world.passcodes.openRing(right, user: alice.user).ring
        return ring.entries.map { entry in entry.key.withUnsafeBytes { $0.map { ~$0 } } }
    }

    // MARK: Notes

    @Test func notesAreFoundByEachOfTheirWords() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        let notes = world.sealed.notes
        for (title, body) in [("Safe", "the code is 12-34"), ("Café", "Großer Braten"), ("Milk", "two litres")] {
            _ = try await notes.add(NoteRequest(title: title, body: body), peer: alice)
        }
        func titles(_ search: String) async throws -> [String] {
            try await notes.list(search: search, peer: alice).notes.map(\.title)
        }
        #expect(try await titles("CODE safe") == ["Safe"])
        #expect(try await titles("cafe") == ["Café"])
        #expect(try await titles("code litres").isEmpty)
        // None of their words is in clear.
        let disk = try FileManager.default.contentsOfDirectory(atPath: world.directory.path)
            .filter { $0.hasPrefix("state") }
            .map { try Data(contentsOf: URL(fileURLWithPath: world.directory.path($0))) }
        for word in ["12-34", "Braten", "litres"] {
            #expect(disk.allSatisfy { $0.range(of: Data(word.utf8)) == nil })
        }
    }

    @Test func notesOfOneTitleAreToldApartByTheirFirstWords() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        let notes = world.sealed.notes
        let bodies = [
            "\n  \r\n first line\nsecond", "", String(repeating: "é", count: 1_000), " \n\t",
            "e" + String(repeating: "\u{301}", count: 1_000),
        ]
        for body in bodies {
            let added = try await notes.add(NoteRequest(title: "Bank", body: body), peer: alice).note
            let listed = try await notes.list(search: nil, peer: alice).notes.first { $0.id == added.id }
            #expect(listed == added)
        }
        let previews = Set(try await notes.list(search: nil, peer: alice).notes.map(\.preview))
        #expect(previews == ["first line", "", String(repeating: "é", count: 100)])
    }

    @Test func aListContainsEveryChangeSinceTheLastOne() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        let notes = world.sealed.notes
        func titles(_ search: String? = nil) async throws -> [String] {
            try await notes.list(search: search, peer: alice).notes.map(\.title).sorted()
        }
        let first = try await notes.add(NoteRequest(title: "one", body: "apples"), peer: alice).note
        let second = try await notes.add(NoteRequest(title: "two", body: "pears"), peer: alice).note
        #expect(try await titles() == ["one", "two"])
        _ = try await notes.change(first.id, NoteRequest(title: "ONE", body: "ÄPFEL, i.e. apples"), peer: alice)
        #expect(try await titles() == ["ONE", "two"])
        #expect(try await titles("äpfel") == ["ONE"])
        #expect(try await titles("apfel one") == ["ONE"])
        #expect(try await titles("PEARS") == ["two"])
        try await notes.remove(second.id, peer: alice)
        #expect(try await titles("pears").isEmpty)
    }

    /// After a conflict of two devices the other's version replaces this one's under the same revision.
    @Test func aListShowsAnotherVersionOfTheSameRevision() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        let notes = world.sealed.notes
        let saved = try await notes.add(NoteRequest(title: "here", body: "apples"), peer: alice).note
        #expect(try await notes.list(search: "apples", peer: alice).notes.map(\.title) == ["here"])
        var record = try #require(try await world.database.records(in: .notes).first)
        let content = SealedNote(title: "elsewhere", body: "pears", created: 1, modified: 2)
        record = try await world.sealed.vault.keys(for: alice).seal(
            JSONEncoder().encode(content), .notes, record.name.id, revision: record.name.revision,
            in: record.name.vault)
        var change = StateChange(records: [record])
        change.acceptsAnyRevision = true
        try await world.database.write(change)
        let listed = try await notes.list(search: nil, peer: alice).notes
        #expect(listed.map(\.title) == ["elsewhere"] && listed.map(\.revision) == [saved.revision])
        #expect(try await notes.list(search: "apples", peer: alice).notes.isEmpty)
        #expect(try await notes.list(search: "pears", peer: alice).notes.count == 1)
    }

    @Test func notesThatAreNotCachedAreFound() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        for number in 0..<20 {
            let text = String(repeating: "filler ", count: 100) + "needle\(number)"
            _ = try await world.sealed.notes.add(NoteRequest(title: "\(number)", body: text), peer: alice)
        }
        var keys = try await world.sealed.vault.keys(for: alice)
        keys.notes = NoteIndex(maximumTextBytes: 4_000)
        let all = try await world.sealed.notes.notes(with: nil, keys).notes
        let unknown = all.filter { $0.contains([Array("needle".utf8)]) == nil }
        #expect(all.count == 20 && (14...18).contains(unknown.count))
        let found = try await world.sealed.notes.notes(with: "needle1", keys).notes
        #expect(found.map(\.title).sorted() == (["1"] + (10...19).map(String.init)).sorted())
    }

    @Test func concurrentListsWaitForOneOpening() async throws {
        let world = try await World(hasVault: true)
        try await openedWithNotes(world)
        await world.documents.holdReadings()
        let ahead = Task { await world.sealed.notes.prepare(peer: alice) }
        await eventually { await world.documents.readings == [30] }
        let lists = (0..<3).map { _ in Task { try await world.sealed.notes.list(search: nil, peer: alice).notes.count }
        }
        await world.documents.releaseReadings()
        await ahead.value
        for list in lists { #expect(try await list.value == 30) }
        #expect(await world.documents.readings == [30])
    }

    /// Debug builds only: a release build forbids reading its memory.
    @Test func aLockWhileTheNotesAreOpenedLeavesNoneInMemory() async throws {
        let world = try await World(hasVault: true, vault: World.newVault())
        let keys = try await disguisedKeys(world)
        try await openedWithNotes(world)
        await world.documents.holdReadings()
        let index = try await world.sealed.vault.keys(for: alice).notes
        let ahead = Task { await world.sealed.notes.prepare(peer: alice) }
        let list = Task { try await world.sealed.notes.list(search: nil, peer: alice) }
        await eventually { await world.documents.readings == [30] }
        await world.sealed.vault.lock(user: nil, "The vault was locked.")
        await world.documents.releaseReadings()
        #expect(await refusal { _ = try await list.value } == .vaultLocked)
        await ahead.value
        #expect(await index.isEmpty)
        await eventually { !MemoryScan.holds(keys[0]) }
    }

    /// Thirty notes, none of which was opened since the vault was opened.
    private func openedWithNotes(_ world: World) async throws {
        try await opened(world)
        for number in 1...30 {
            _ = try await world.sealed.notes.add(NoteRequest(title: "\(number)", body: "text"), peer: alice)
        }
    }

    @Test func aChangeOfAnOutdatedNoteIsKeptBesideTheCurrentOne() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        let notes = world.sealed.notes
        let first = try await notes.add(NoteRequest(title: "plan", body: "one"), peer: alice).note
        let second = try await notes.change(
            first.id, NoteRequest(title: "plan", body: "two", replaces: first.version), peer: alice)
        #expect(second.note.revision == 2 && second.conflict == nil)
        // The earlier version, and one of another device with the same revision.
        for outdated in [first.version, "2-" + String(repeating: "0", count: 32), "2"] {
            let other = try await notes.change(
                first.id, NoteRequest(title: "plan", body: outdated, replaces: outdated), peer: alice)
            #expect(other.conflict != nil)
            #expect(try await notes.read(first.id, peer: alice).body == "two")
            #expect(try await notes.read(other.note.id, peer: alice).body == outdated)
        }

        await #expect(throws: RevisionConflict.self) {
            try await notes.remove(first.id, version: first.version, peer: alice)
        }
        try await notes.remove(first.id, version: second.note.version, peer: alice)
        #expect(await refusal { _ = try await notes.read(first.id, peer: alice) } == .noSuchItem)
        #expect(try await notes.list(search: nil, peer: alice).notes.count == 3)
    }

    // MARK: Passcodes

    @Test func aChangedPasscodeOnlyWrapsTheRootKeyAgain() async throws {
        let world = try await World(hasVault: true, cost: { .minimum })
        try await opened(world)
        _ = try await world.sealed.notes.add(NoteRequest(title: "a", body: "kept"), peer: alice)
        let before = try await world.database.records(in: .notes)
        let ring = try await world.database.document(VaultDocuments.ring)
        _ = try await world.passcodes.change(from: right, to: SecretBytes(utf8: "quite new"), user: alice.user)
        #expect(try await world.database.records(in: .notes) == before)
        #expect(try await world.database.document(VaultDocuments.ring) == ring)

        await world.sealed.vault.lock(user: nil, "The vault was locked.")
        #expect(await refusal { try await opened(world) } == .wrongPasscode)
        _ = try await world.sealed.vault.open(SecretBytes(utf8: "quite new"), for: alice)
        #expect(try await world.sealed.notes.list(search: "kept", peer: alice).notes.count == 1)
    }

    @Test func theRecoverySheetOpensTheVaultWhenThePasscodeIsForgotten() async throws {
        let world = try await World(hasVault: true, cost: { .minimum })
        let outdated = try await world.passcodes.makeRecoveryCode(right, user: alice.user)
        try await world.passcodes.testRecoveryCode(outdated, user: alice.user)
        let code = try await world.passcodes.makeRecoveryCode(right, user: alice.user)
        try await world.passcodes.testRecoveryCode(code, user: alice.user)
        #expect(
            await refusal { try await world.passcodes.testRecoveryCode(outdated, user: alice.user) } == .wrongPasscode)
        #expect(await world.passcodes.lockoutState().failures == 1)
        let new = SecretBytes(utf8: "quite new")
        _ = try await world.passcodes.useRecoveryCode(code, newPasscode: new, user: alice.user)
        #expect(await world.passcodes.lockoutState().failures == 0)
        _ = try await world.sealed.vault.open(new, for: alice)
    }

    /// As of a daemon that is killed between writing the new code and answering with it.
    @Test func aRecoveryCodeThatNobodyHasSeenLeavesTheEarlierSheetValid() async throws {
        let world = try await World(hasVault: true, cost: { .minimum })
        let sheet = try await world.passcodes.makeRecoveryCode(right, user: alice.user)
        try await world.passcodes.testRecoveryCode(sheet, user: alice.user)
        let lost = try await world.passcodes.makeRecoveryCode(right, user: alice.user)
        await world.ended()
        let again = try await World(cost: { .minimum }, after: world)
        try await again.passcodes.testRecoveryCode(sheet, user: alice.user)
        // The next one replaces both, with its first use.
        let next = try await again.passcodes.makeRecoveryCode(right, user: alice.user)
        let new = SecretBytes(utf8: "quite new")
        _ = try await again.passcodes.useRecoveryCode(next, newPasscode: new, user: alice.user)
        for code in [sheet, lost] {
            #expect(
                await refusal { try await again.passcodes.testRecoveryCode(code, user: alice.user) } == .wrongPasscode)
        }
        try await again.passcodes.testRecoveryCode(next, user: alice.user)
        _ = try await again.sealed.vault.open(new, for: alice)
    }

    @Test func aStateWithoutAVaultGetsOneWithTheNextRightPasscode() async throws {
        let world = try await World(cost: { .minimum })
        #expect(try await world.sealed.vault.status().vault == nil)
        try await opened(world)
        #expect(try await world.sealed.vault.status().vault != nil)
        _ = try await world.sealed.notes.add(NoteRequest(title: "a", body: ""), peer: alice)
    }

    @Test func aResetErasesTheKeysFirstAndThenEverything() async throws {
        let world = try await World(hasVault: true)
        try await opened(world)
        _ = try await world.sealed.notes.add(NoteRequest(title: "gone", body: ""), peer: alice)
        func reset(_ passcode: String, _ confirmation: String) async throws {
            _ = try await world.control.respond(
                to: ControlRequest(
                    route: .reset, peer: alice,
                    body: [UInt8](
                        JSONEncoder().encode(ResetRequest(passcode: passcode, confirmation: confirmation)))))
        }
        #expect(await refusal { try await reset("right", "yes") } == .badRequest)
        #expect(await refusal { try await reset("wrong", ResetRequest.confirmationText) } == .wrongPasscode)
        #expect(!world.erasure.happened.withLock { $0 })
        try await reset("right", ResetRequest.confirmationText)
        #expect(world.erasure.happened.withLock { $0 })
        #expect(try await world.database.records(in: .notes).isEmpty)
        #expect(try await world.database.document(VaultDocuments.slots) == nil)
        #expect(try await world.database.document(PasscodeService.documentName) == nil)
    }
}
