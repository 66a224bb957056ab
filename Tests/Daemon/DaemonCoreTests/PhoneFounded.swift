import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// A phone that founded a household, and a computer that joined it.
struct PhoneFounded {
    let hub = MemoryHub()
    let phone: Companion
    let world: World
    let directory: TemporaryDirectory

    var household: HouseholdService { world.household }
    private static let vault = World.newVault()

    init() async throws {
        let (hub, directory) = (hub, try TemporaryDirectory())
        self.directory = directory
        phone = try await Companion.found(
            at: .init(url: "https://hub.test"), name: "Anna's phone", directory: directory.path("phone")
        ) { hub.connection($1) }
        _ = try await phone.write(title: "Before", body: "the computer joined")
        world = try await World(
            listed: [firefox], hasVault: true, vault: Self.vault, hub: { hub.connection($0) },
            key: DeviceSigningKey(), name: "den")
    }

    static func joined() async throws -> PhoneFounded {
        let founded = try await PhoneFounded()
        try await founded.join()
        return founded
    }

    func join() async throws {
        let (invitation, link) = try await phone.invite(.computer)
        _ = try await household.join(link, HubSettings(url: ""))
        #expect(try await phone.admit(by: invitation) == "den")
        let isConnected = await eventually("the computer is connected") {
            world.time.advance(by: .seconds(1))
            return await world.sync.engine.isConnected
        }
        try #require(isConnected)
    }

    /// Another phone, admitted by the first one.
    /// - Parameter follows: whether the computer has joined, and is waited for.
    func secondPhone(follows: Bool = true) async throws -> Companion {
        let (invitation, link) = try await phone.invite(.administrator)
        let (hub, directory) = (hub, directory.path("second"))
        async let joining = Companion.join(
            link, name: "Ben's phone", directory: directory, pause: .milliseconds(5)
        ) { hub.connection($1) }
        #expect(try await phone.admit(by: invitation) == "Ben's phone")
        let second = try await joining
        if follows { try await self.follows() }
        return second
    }

    /// A device in the roster that the phone has sent no keys.
    func admittedWithoutKeys() async throws -> ItemID {
        let (key, box, token) = (DeviceSigningKey(), BoxKeyPair(), SecretBytes.random(count: 32))
        let (invitation, _) = try await phone.invite(.administrator)
        let joining = HouseholdSecrets(
            household: await phone.roster.household, signingKey: key, boxKey: box, token: token, ring: KeyRing([]))
        try await hub.connection(token).join(
            HubID(invitation.id), joining.joinRequest(to: invitation, as: .administrator, name: "Theirs"))
        _ = try await phone.admit(by: invitation, settles: false)
        return key.publicKey.id
    }

    /// Waits until the computer has read the whole roster.
    func follows() async throws {
        await eventually("the computer has answered the roster") {
            await household.answered == UInt64(hub.state.withLock { $0.roster.count })
        }
    }

    func hasSent() async throws {
        await eventually("the computer has sent everything") {
            try await world.sync.status().waiting == 0
        }
    }

    func keysRecord(_ epoch: UInt32) async -> HubRecord? {
        let id = HubID(EpochKeys.recordID(household: await phone.roster.household, epoch: epoch))
        return hub.records(in: "keys").first { $0.id == id }
    }

    /// What the phone accepts of the hub's record with a device's name, and who signed it.
    func name(of device: ItemID) async throws -> (body: DeviceName, author: ItemID) {
        try await phone.sync()
        let record = try #require(hub.records(in: "devices").first { $0.id == HubID(device) })
        let checked = try RecordCheck(await phone.roster).check(record, known: 0)
        return (try await phone.secrets.open(checked, as: DeviceName.self), checked.author.id)
    }

    /// Nothing that the hub served was refused, by either of them.
    func expectNoViolation() async throws {
        #expect(try await world.sync.status().misbehaviour == [])
        #expect(await phone.report().misbehaviour == [])
    }
}
