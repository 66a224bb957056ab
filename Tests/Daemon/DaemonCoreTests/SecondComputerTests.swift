import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// A second computer in a household.
@Suite struct SecondComputerTests {
    private static let clock: @Sendable () -> UInt64 = { 1_800_000_000_000 }

    @Test func thePhoneSeesBothComputersAndReadsTheNotesOfBoth() async throws {
        let computers = try await TwoComputers()
        let phone = try await computers.first.pair(clock: Self.clock)
        let pairing = try await computers.requestJoining()
        try await computers.confirm(pairing)
        try await computers.isJoined()
        #expect(try await computers.outcome().state == .joined)
        try await computers.second.household.sendVaultKeys(SecretBytes(utf8: "right"), user: alice.user)
        try await computers.addNote("from the den", on: computers.first.world)
        try await computers.addNote("from the attic", on: computers.second)
        computers.first.world.gate.launch(computers.first.world.launch(1))
        computers.second.gate.launch(computers.second.launch(2, app("mail")))
        await eventually("both computers have sent their status") {
            try await phone.sync()
            let names = await phone.report().computers.map(\.status.name).sorted()
            let events = await phone.events().filter { $0.kind == .blocked }.map(\.app)
            return names == ["attic-computer", "den-computer"] && Set(events) == ["firefox", "mail"]
        }
        #expect(try await phone.notes().map(\.title) == ["from the attic", "from the den"])
        let lists = await phone.apps().values.map { $0.map(\.id).sorted() }.sorted { $0.count < $1.count }
        #expect(lists == [["mail"], ["calculator", "firefox"]])
        let report = await phone.report()
        #expect(report.refused == 0 && report.misbehaviour.isEmpty)
        #expect(report.devices.values.sorted() == ["Anna's phone", "attic-computer", "den-computer"])
        for world in [computers.first.world, computers.second] {
            #expect(try await world.household.devices().devices.map(\.role) == [.computer, .companion, .computer])
            #expect(try await world.sync.status().misbehaviour == [])
        }
    }

    @Test func eachComputerPerformsItsOwnCommandsAndKeepsItsOwnNotes() async throws {
        let computers = try await TwoComputers.joined()
        let phone = try await computers.first.pair(clock: Self.clock)
        try await computers.addNote("den", on: computers.first.world)
        try await computers.addNote("attic", on: computers.second)
        await eventually("the second computer has sent its keys") {
            try await phone.sync()
            return try await phone.notes().map(\.title) == ["attic", "den"]
        }
        let attic = HubID(computers.second.key.publicKey.id)
        var prompter = try await computers.second.join()
        let asked = try await computers.second.prompt(for: computers.second.launch(1, app("mail")), &prompter)
        let reply = try await phone.command(
            .approve(prompt: asked.prompt, grant: GrantRequest(.untilLocked)), to: attic)
        #expect(reply.state == .done && reply.computer == attic)
        #expect(computers.second.gate.answer(to: 1) == true)
        #expect(try await computers.first.world.events(.remoteCommand).isEmpty)
        // A note of the attic's vault that the phone changes arrives only at the attic.
        let note = try #require(try await phone.notes().first { $0.title == "attic" })
        _ = try await phone.write(title: "attic, changed", body: "", to: note.id)
        await eventually { try await computers.second.notes() == ["attic, changed"] }
        #expect(try await computers.first.world.notes() == ["den"])
        #expect(try await computers.first.world.database.record(.notes, note.id.item) == nil)
        // New notes go to the computer that admitted the phone.
        _ = try await phone.write(title: "new", body: "")
        await eventually { try await computers.first.world.notes() == ["den", "new"] }
    }

    @Test func aSecondComputerOpensReportsOfTheFirstAndNothingOfItsVault() async throws {
        let computers = try await TwoComputers.joined()
        let phone = try await computers.first.pair(clock: Self.clock)
        try await computers.addNote("den", on: computers.first.world)
        let secrets = try #require(await computers.second.household.session?.secrets)
        let forSecond = computers.hub.records(in: "keys").filter { opens($0, secrets) }
        #expect(!forSecond.isEmpty)
        for record in forSecond {
            let name = RecordName(
                vault: record.vault.item, collection: .keys, id: record.id.item, revision: record.revision)
            let given = try DeviceKeys.open([UInt8](record.sealed ?? Data()), as: name, with: secrets.boxKey)
            #expect(given.entries.allSatisfy { $0.kind == .status })
        }
        // Nor with the keys of its own vault.
        let own = try await computers.second.passcodes.openRing(SecretBytes(utf8: "right"), user: alice.user).ring
        let everything = HouseholdSecrets(
            household: secrets.household, signingKey: secrets.signingKey, boxKey: secrets.boxKey,
            token: secrets.token, ring: KeyRing(secrets.ring.entries + own.entries))
        let note = try #require(computers.hub.records(in: "notes").first)
        #expect(!opens(note, everything))
        await eventually("records that its keys open are found") {
            try await phone.sync()
            return await opens(note, phone.secrets)
        }
        let den = HubID(computers.first.world.key.publicKey.id)
        await eventually("the first one's status opens") {
            computers.first.world.time.advance(by: .seconds(5))
            return computers.hub.records(in: "status").contains { $0.author == den && opens($0, secrets) }
        }
    }

    /// Computers accept phones that other computers admit. If this fails, the limit is gone: correct
    /// docs/limitations.md.
    @Test func aPhoneAdmittedByTheSecondComputerReadsAndCommandsTheFirst() async throws {
        let computers = try await TwoComputers.joined()
        let (second, hub) = (computers.second, computers.hub)
        let pairing = try await second.household.makePairing(address: nil)
        let link = try #require(pairing.link)
        let directory = second.directory.path("phone")
        async let joining = Companion.join(link, name: "Phone", directory: directory, clock: Self.clock) {
            hub.connection($1)
        }
        let asks = await eventually { try await second.household.pairing(pairing.id, waitingUpTo: 0).name == "Phone" }
        try #require(asks)
        _ = try await second.household.confirmPairing(
            pairing.id, passcode: SecretBytes(utf8: "right"), user: alice.user)
        let phone = try await joining
        try await computers.addNote("den", on: computers.first.world)
        await eventually("the first computer sends its keys") {
            try await phone.sync()
            return try await phone.notes().map(\.title) == ["den"]
        }
        let den = HubID(computers.first.world.key.publicKey.id)
        let reply = try await phone.command(.unlockApp(app: "firefox", grant: GrantRequest(.untilLocked)), to: den)
        #expect(reply.state == .done)
        #expect(await computers.first.world.state(of: firefox) == .unlocked)
    }

    @Test func aPhoneRevokedAtOneComputerOpensNothingNewOfTheOther() async throws {
        let computers = try await TwoComputers.joined()
        let lost = try await computers.first.pair("Lost", clock: Self.clock)
        let kept = try await computers.first.pair("Kept", clock: Self.clock)
        try await computers.addNote("before", on: computers.second)
        await eventually {
            try await lost.sync()
            try await kept.sync()
            let counts = (try await lost.notes().count, try await kept.notes().count)
            return counts == (1, 1)
        }
        await computers.second.sealed.vault.lock(user: nil, "The vault was locked.")
        let sequence = computers.hub.state.withLock { $0.sequence }
        _ = try await computers.first.devices.revoke("Lost", passcode: SecretBytes(utf8: "right"), user: alice.user)
        await eventually("the second computer has new keys") {
            try await computers.second.passcodes.pendingKeys().boxes.count == 1
        }
        try await computers.settled()
        try await computers.addNote("after", on: computers.second)
        let secrets = await lost.secrets
        let newRecords = computers.hub.records.filter { $0.sequence! > sequence && $0.collection == "notes" }
        #expect(newRecords.count == 2)
        for record in newRecords { #expect(!opens(record, secrets)) }
        #expect(computers.hub.records.contains { $0.sequence! <= sequence && opens($0, secrets) })
        await eventually("the phone opens no new status of either") {
            for world in [computers.first.world, computers.second] { world.time.advance(by: .seconds(5)) }
            let statuses = computers.hub.records(in: "status")
            return statuses.count == 2 && !statuses.contains { opens($0, secrets) }
        }
        try await kept.sync()
        #expect(try await kept.notes().map(\.title) == ["after", "before"])
        #expect(await kept.report().misbehaviour.isEmpty)
    }

    @Test func revocationByTheSecondComputerAppliesAtTheFirst() async throws {
        let computers = try await TwoComputers.joined()
        let (first, second, hub) = (computers.first.world, computers.second, computers.hub)
        let lost = try await computers.first.pair("Lost", clock: Self.clock)
        let kept = try await computers.first.pair("Kept", clock: Self.clock)
        try await computers.addNote("before", on: first)
        await eventually("the second computer has both phones, and the phone the note") {
            try await lost.sync()
            let (devices, notes) = (try await second.household.devices().devices, try await lost.notes())
            return devices.count == 4 && notes.count == 1
        }
        let sequence = hub.state.withLock { $0.sequence }
        _ = try await second.devices.revoke(
            lost.device.description, passcode: SecretBytes(utf8: "right"), user: alice.user)
        await eventually("the first computer has new keys") {
            try await first.passcodes.pendingKeys().boxes.count == 1
        }
        try await computers.settled()
        try await computers.addNote("after", on: first)
        let secrets = await lost.secrets
        let newRecords = hub.records.filter { $0.sequence! > sequence && $0.collection == "notes" }
        #expect(newRecords.count == 2)
        for record in newRecords { #expect(!opens(record, secrets)) }
        await eventually("the phone opens no new report of either") {
            for world in [first, second] { world.time.advance(by: .seconds(5)) }
            let statuses = hub.records(in: "status")
            return statuses.count == 2 && !statuses.contains { opens($0, secrets) }
        }
        // If the hub cooperates with the phone, the first computer performs none of its commands.
        let den = HubID(first.key.publicKey.id)
        let unlock = RemoteAction.unlockApp(app: "firefox", grant: GrantRequest(.untilLocked))
        hub.stream(.record(try await lost.sealed(unlock, to: den)), to: den)
        try await kept.sync()
        #expect(try await kept.command(.lockAll, to: den).state == .done)
        #expect(try await first.events(.remoteCommand).count == 1)
        #expect(try await kept.notes().map(\.title) == ["after", "before"])
        for world in [first, second] { #expect(try await world.household.devices().devices.count == 3) }
        // The phone erases itself because of the entry that the second computer signed and the hub serves.
        let roster = try Roster(entries: try await hub.connection(secrets.token).roster(after: 0))
        let entry = try #require(roster.history.last)
        #expect(entry.kind == .revoke && entry.device == secrets.device && entry.author == second.key.publicKey.id)
    }

    @Test func phonesRevokedAtTheSameTimeByTwoComputersOpenNothingSealedLater() async throws {
        let computers = try await TwoComputers.joined()
        let phones = [
            try await computers.first.pair("One", clock: Self.clock),
            try await computers.first.pair("Two", clock: Self.clock),
        ]
        let kept = try await computers.first.pair("Kept", clock: Self.clock)
        try await computers.addNote("den", on: computers.first.world)
        try await computers.addNote("attic", on: computers.second)
        await eventually("everybody has read both notes") {
            for phone in phones + [kept] { try await phone.sync() }
            let counts = (try await phones[0].notes().count, try await phones[1].notes().count)
            return counts == (2, 2)
        }
        // Neither receives the other's revocation before it has made its own keys.
        computers.hub.setDown(true)
        async let one = computers.first.devices.revoke(
            "One", passcode: SecretBytes(utf8: "right"), user: alice.user)
        async let two = computers.second.devices.revoke(
            "Two", passcode: SecretBytes(utf8: "right"), user: alice.user)
        _ = try await (one, two)
        computers.hub.setDown(false)
        await eventually("both revocations are at the hub") {
            for world in [computers.first.world, computers.second] { world.time.wakeNext(within: .seconds(60)) }
            return computers.hub.state.withLock { $0.devices.count } == 3
        }
        await eventually("both have answered the other's revocation") {
            for world in [computers.first.world, computers.second] { world.time.wakeNext(within: .seconds(600)) }
            let statuses = computers.hub.records(in: "status").map(\.epoch)
            var epochs: Set<UInt32> = []
            for world in [computers.first.world, computers.second] {
                epochs.insert(await world.household.session?.secrets.epoch ?? 0)
            }
            return epochs.count == 1 && Set(statuses) == epochs
        }
        try await computers.settled()
        try await computers.addNote("den after", on: computers.first.world)
        try await computers.addNote("attic after", on: computers.second)
        let notes = computers.hub.records(in: "notes")
        #expect(notes.count == 4)
        for phone in phones {
            let secrets = await phone.secrets
            for record in notes { #expect(!opens(record, secrets)) }
            for record in computers.hub.records(in: "status") { #expect(!opens(record, secrets)) }
        }
        try await kept.sync()
        #expect(try await kept.notes().map(\.title) == ["attic", "attic after", "den", "den after"])
        #expect(await kept.report().computers.count == 2)
        #expect(await kept.report().misbehaviour.isEmpty)
    }

    @Test func aRevokedComputerForgetsTheHouseholdAndKeepsItsData() async throws {
        let computers = try await TwoComputers.joined()
        let phone = try await computers.first.pair(clock: Self.clock)
        try await computers.addNote("attic", on: computers.second)
        await eventually("the phone has the note") {
            try await phone.sync()
            return try await phone.notes().map(\.title) == ["attic"]
        }
        _ = try await computers.first.devices.revoke(
            "attic-computer", passcode: SecretBytes(utf8: "right"), user: alice.user)
        await eventually("it notices") {
            // Less than the delay between two attempts: the vault stays open.
            computers.second.time.wakeNext(within: .seconds(60))
            guard await computers.second.household.session == nil else { return false }
            return try await !computers.second.sync.status().connected
        }
        let status = try await computers.second.sync.status()
        #expect(status.url == nil && status.problem?.contains("removed this one") == true)
        await eventually("the log has an event") {
            try await computers.second.events(.hubDisconnected).map(\.sentence) == [status.problem]
        }
        #expect(try await computers.second.notes() == ["attic"])
        let again = try await computers.first.household.makePairing(address: nil, role: .computer)
        await #expect(throws: HouseholdService.neverComesBack) { _ = try await computers.join(again) }
        // It is still so after a restart.
        let restarted = try await computers.restarted()
        #expect(try await restarted.second.sync.status().problem == status.problem)
        let secrets = try #require(await computers.first.household.session?.secrets)
        #expect(secrets.epoch > 1)
        try await phone.sync()
        #expect(await phone.report().misbehaviour.isEmpty)
        #expect(try await phone.notes().map(\.title) == ["attic"])
    }

    @Test func aComputerThatLeftOpensNothingSealedLater() async throws {
        let computers = try await TwoComputers.joined()
        let before = try #require(await computers.second.household.session?.secrets)
        #expect(try await computers.second.household.disconnect(user: alice.user) == [])
        await eventually("the other computer has a new key") {
            await computers.first.household.session?.secrets.epoch ?? 0 > before.epoch
        }
        #expect(try await computers.first.household.devices().devices.count == 1)
        let own = HubID(computers.first.world.key.publicKey.id)
        await eventually("the other computer seals with it") {
            computers.first.world.time.advance(by: .seconds(5))
            return computers.hub.records(in: "status").contains { $0.author == own && !opens($0, before) }
        }
    }

    @Test func aComputerKeepsTheHouseholdIfTheHubRejectsIt() async throws {
        let connected = try await ConnectedWorld()
        connected.hub.setDown(true)
        connected.hub.state.withLock { $0.devices = [:] }
        connected.hub.setDown(false)
        await eventually {
            connected.world.time.advance(by: .seconds(60))
            return try await connected.sync.status().problem == "No such token."
        }
        let requests = connected.interceptor.requests
        await eventually("it retries") {
            connected.world.time.wakeNext(within: .seconds(60))
            return connected.interceptor.requests >= requests + 10
        }
        #expect(await connected.household.session != nil)
    }

    @Test func aComputerThatTheHubForgotKeepsTheHousehold() async throws {
        let computers = try await TwoComputers.joined()
        let second = HubID(computers.second.key.publicKey.id)
        computers.hub.state.withLock { $0.devices[second] = nil }
        for stream in computers.hub.silence(second) { stream.finish() }
        let requests = computers.interceptor.requests
        await eventually("it retries and is refused each time") {
            computers.second.time.wakeNext(within: .seconds(60))
            return computers.interceptor.requests >= requests + 10
        }
        #expect(try await computers.second.sync.status().problem == "No such token.")
        #expect(await computers.second.household.session != nil)
        #expect(try await computers.second.events(.hubDisconnected).isEmpty)
    }

    /// The entry is added after the roster was read, and before the stream that would announce it is open.
    @Test func aRevocationWhileAComputerConnectsReplacesItsKeys() async throws {
        let computers = try await TwoComputers.joined()
        let phone = try await computers.first.pair(clock: Self.clock)
        try await computers.settled()
        let (hub, key, time) = (computers.hub, computers.first.world.key, computers.second.time)
        let (device, attic) = (await phone.device, HubID(computers.second.key.publicKey.id))
        hub.setUnreachable(attic, true)
        let entries = hub.state.withLock { $0.roster }
        let revoked = try Roster(entries: entries.map { [UInt8]($0) }).revoking(device.item, by: key, at: 0)
        computers.interceptor.intercept { request, answer in
            guard request.route == .household else { return answer }
            hub.state.withLock { state in
                guard state.roster.count == entries.count else { return }
                state.roster.append(Data(revoked))
                state.devices[device] = nil
            }
            return answer
        }
        hub.setUnreachable(attic, false)
        await eventually("the second computer has replaced its keys") {
            time.wakeNext(within: .seconds(60))
            return await computers.second.household.answered == UInt64(entries.count + 1)
        }
    }
}
