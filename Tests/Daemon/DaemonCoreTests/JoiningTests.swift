import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// Joining a household: refusals, kills at every step, and a malicious hub.
@Suite struct JoiningTests {
    private func message(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return ""
        } catch {
            return (error as? ControlError)?.message ?? "\(error)"
        }
    }

    // MARK: Refusals

    @Test func invalidAndExpiredLinksAreRefusedWithAReason() async throws {
        let computers = try await TwoComputers()
        let forPhone = try await computers.first.household.makePairing(address: nil)
        #expect(await message { _ = try await computers.join(forPhone) }.contains("pair --computer"))
        let nonsense = await message {
            _ = try await computers.second.household.join("https://hub.test", HubSettings(url: ""))
        }
        #expect(nonsense.contains("not a pairing link"))
        let withdrawn = try await computers.first.household.makePairing(address: nil, role: .computer)
        try await computers.first.household.endPairing(withdrawn.id)
        #expect(await message { _ = try await computers.join(withdrawn) }.hasPrefix("This link has expired"))
        // Used by another computer.
        let used = try await computers.requestJoining()
        let id = try #require(HubID(used.id))
        computers.hub.state.withLock { $0.invitations[id]?.join?.device = HubID(ItemID.random()) }
        let restarted = try await World(
            hasVault: true, vault: World.vault, hub: { computers.hub.connection($0) }, key: DeviceSigningKey())
        let third = await message {
            _ = try await restarted.household.join(try #require(used.link), HubSettings(url: ""))
        }
        #expect(third.hasPrefix("This link has expired"))
        #expect(await restarted.household.joining == nil)
        let bare = try await World(passcodes: nil, hub: { computers.hub.connection($0) }, key: DeviceSigningKey())
        let other = try await computers.first.household.makePairing(address: nil, role: .computer)
        #expect(
            await refusal { _ = try await bare.household.join(try #require(other.link), HubSettings(url: "")) }
                == .notSetUp)
    }

    @Test func bothComputersShowTheSameThreeWords() async throws {
        let computers = try await TwoComputers()
        let pairing = try await computers.first.household.makePairing(address: nil, role: .computer)
        #expect(pairing.words == nil)
        let report = try await computers.join(pairing)
        let joined = try await computers.first.household.pairing(pairing.id, waitingUpTo: 0)
        let words = try #require(joined.words)
        #expect(words.count == 3 && report.sentence.contains(words.joined(separator: " ")), "\(words) \(report)")
        // As after a restart in between.
        let restarted = try await computers.restarted()
        #expect(try await restarted.second.household.joiningReport(waitingUpTo: 0).sentence == report.sentence)
    }

    @Test func aPhoneReportsThatALinkIsForAComputer() async throws {
        let connected = try await ConnectedWorld()
        let pairing = try await connected.household.makePairing(address: nil, role: .computer)
        let hub = connected.hub
        let error = await #expect(throws: CompanionError.self) {
            _ = try await Companion.join(
                try #require(pairing.link), name: "phone", directory: connected.world.directory.path("phone")
            ) { hub.connection($1) }
        }
        #expect(error?.description.contains("applocker hub join") == true)
    }

    @Test func aComputerInAHouseholdIsRefusedWithAnInstruction() async throws {
        let computers = try await TwoComputers.joined()
        let own = try await computers.first.household.makePairing(address: nil, role: .computer)
        #expect(await message { _ = try await computers.join(own) }.contains("already in that household"))
        let other = try await ConnectedWorld()
        let pairing = try await other.household.makePairing(address: nil, role: .computer)
        #expect(await message { _ = try await computers.join(pairing) }.contains("applocker hub disconnect"))
        #expect(await computers.second.household.session != nil)
    }

    @Test func joiningReplacesAHouseholdOfOneComputer() async throws {
        let (own, first) = (MemoryHub(), try await ConnectedWorld())
        let shared = first.hub
        let second = try await World(
            hasVault: true, hubAt: { $0.isEmbedded ? own.connection($1) : shared.connection($1) },
            key: DeviceSigningKey(), name: "attic-computer")
        try await second.household.connect(
            HubSettings(url: "http://127.0.0.1:1", isEmbedded: true), registrationToken: nil, user: nil)
        await eventually { await second.sync.engine.isConnected }
        try await second.openVault()
        _ = try await second.sealed.notes.add(NoteRequest(title: "old", body: ""), peer: alice)
        await eventually { own.records(in: "notes").count == 1 }
        let pairing = try await first.household.makePairing(address: nil, role: .computer)
        _ = try await second.household.join(try #require(pairing.link), HubSettings(url: ""))
        await eventually { try await first.household.pairing(pairing.id, waitingUpTo: 0).state == .joined }
        _ = try await first.household.confirmPairing(
            pairing.id, passcode: SecretBytes(utf8: "right"), user: alice.user)
        await eventually("the computer has joined and sent its notes") {
            second.time.wakeNext(within: .seconds(60))
            return shared.records(in: "notes").count == 1
        }
        #expect(own.state.withLock { $0.household } == nil)
        #expect(try await second.notes() == ["old"])
    }

    @Test func aRejectionByTheOwnerIsReported() async throws {
        let computers = try await TwoComputers()
        let pairing = try await computers.requestJoining()
        let device = HubID(computers.second.key.publicKey.id)
        try await computers.first.household.endPairing(pairing.id)
        computers.hub.state.withLock { $0.devices[device] = nil }
        let outcome = try await computers.outcome()
        #expect(outcome.state == .failed && outcome.sentence.contains("did not confirm"))
        #expect(await computers.second.household.session == nil)
    }

    // MARK: Kills

    @Test func joiningContinuesAfterAKillWhileWaiting() async throws {
        let computers = try await TwoComputers()
        let pairing = try await computers.requestJoining()
        let restarted = try await computers.restarted()
        try await restarted.confirm(pairing)
        try await restarted.isJoined()
    }

    @Test func joiningContinuesAfterAKillAfterTheConfirmation() async throws {
        let computers = try await TwoComputers()
        let pairing = try await computers.requestJoining()
        // The second computer receives no answer before it is killed: its clock stands still.
        computers.interceptor.hang()
        try await computers.confirm(pairing)
        let restarted = try await computers.restarted()
        try await restarted.isJoined()
        let other = try await restarted.first.household.makePairing(address: nil, role: .computer)
        #expect(await message { _ = try await restarted.join(other) }.contains("already in that household"))
    }

    @Test func aComputerKilledBeforeItHasKeysJoinsAgainWithTheSameDeviceKeys() async throws {
        let computers = try await TwoComputers()
        let first = try await computers.requestJoining()
        computers.interceptor.intercept { request, answer in
            guard request.route == .record else { return answer }
            throw HubError(.notFound, "no such record")
        }
        try await computers.confirm(first)
        await eventually {
            computers.second.time.advance(by: .seconds(1))
            return await computers.second.household.joining?.report.state == .admitted
        }
        let restarted = try await computers.restarted()
        let link = try await restarted.first.household.makePairing(address: nil, role: .computer)
        _ = try? await restarted.join(link)
        try await restarted.isJoined()
        #expect(try await restarted.first.household.devices().devices.count == 2)
    }

    @Test func aLostAnswerToJoiningIsResolvedByAnotherLink() async throws {
        let computers = try await TwoComputers()
        let pairing = try await computers.first.household.makePairing(address: nil, role: .computer)
        computers.interceptor.intercept { request, answer in
            guard request.route == .join else { return answer }
            throw HubUnreachable(.offline, "The network is down.")
        }
        // The answer is lost: for this computer, the hub never received the request.
        #expect(await refusal { _ = try await computers.join(pairing) } == .hub)
        let restarted = try await computers.restarted()
        let again = try await restarted.requestJoining()
        try await restarted.confirm(again)
        try await restarted.isJoined()
    }

    // MARK: A malicious hub

    private func refusedOutcome(_ alter: (TwoComputers) async throws -> Void) async throws -> JoiningReport {
        let computers = try await TwoComputers()
        let pairing = try await computers.requestJoining()
        try await alter(computers)
        try await computers.confirm(pairing)
        let outcome = try await computers.outcome()
        #expect(await computers.second.household.session == nil)
        #expect(try await computers.second.database.document(HouseholdDocuments.settings) == nil)
        await eventually("the log has an event") {
            try await computers.second.events(.hubMisbehaved).map(\.sentence) == [outcome.sentence]
        }
        return outcome
    }

    @Test func anotherHouseholdsRosterIsRefused() async throws {
        let other = try await ConnectedWorld()
        let entries = other.hub.state.withLock { $0.roster }
        let outcome = try await refusedOutcome { $0.interceptor.alterRoster { $0.entries = entries } }
        #expect(outcome.sentence.contains("another household's devices"))
    }

    @Test func aTamperedRosterIsRefused() async throws {
        let outcome = try await refusedOutcome { computers in
            computers.interceptor.alterRoster { page in
                if page.entries.count > 1 { page.entries[1][100] ^= 1 }
            }
        }
        #expect(outcome.sentence.contains("a tampered list of devices"))
    }

    @Test func aRosterWithoutThisComputersKeysIsRefused() async throws {
        let outcome = try await refusedOutcome { computers in
            computers.interceptor.alterRoster { $0.entries = Array($0.entries.prefix(1)) }
        }
        #expect(outcome.sentence.contains("returned wrong keys for this computer"))
    }

    @Test(arguments: ["author", "id", "bytes"])
    func keysThatAreNotFromAComputerOfTheHouseholdAreRefused(what: String) async throws {
        let outcome = try await refusedOutcome { computers in
            let accomplice = DeviceSigningKey()
            let device = computers.second.key.publicKey.id
            computers.interceptor.intercept { request, answer in
                guard request.route == .record else { return answer }
                var record = try JSONDecoder().decode(HubRecord.self, from: answer)
                switch what {
                case "author":
                    let secrets = HouseholdSecrets(
                        household: record.vault.item, signingKey: accomplice, boxKey: BoxKeyPair(),
                        token: .random(count: 32), ring: KeyRing([]))
                    let name = RecordName(vault: record.vault.item, collection: .keys, id: device, revision: 1)
                    record = secrets.sign(name, epoch: 1, sealed: [UInt8](record.sealed ?? Data()))
                case "id": record.id = HubID(ItemID.random())
                default: record.sealed?[90] ^= 1
                }
                return try JSONEncoder().encode(record)
            }
        }
        #expect(outcome.sentence.contains("not from a device of the household"))
    }
}
