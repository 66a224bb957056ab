import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Sync
import TestSupport
import Testing

@testable import DaemonCore

/// Two computers and one hub. After `joined` the second one is in the first one's household.
struct TwoComputers {
    let first: ConnectedWorld
    let second: World
    /// Between the second computer and the hub.
    let interceptor = HubInterceptor()
    var hub: MemoryHub { first.hub }

    private static let key = DeviceSigningKey()
    private static let vault = World.newVault()

    /// The second one has not asked to join yet.
    init() async throws {
        first = try await ConnectedWorld()
        let (hub, interceptor) = (first.hub, interceptor)
        second = try await World(
            listed: [app("mail")], hasVault: true, vault: Self.vault,
            hub: { InterceptedHub(hub: hub.connection($0), interceptor: interceptor) }, key: Self.key,
            name: "attic-computer")
    }

    private init(_ earlier: TwoComputers, second: World) {
        (first, self.second) = (earlier.first, second)
    }

    static func joined() async throws -> TwoComputers {
        let computers = try await TwoComputers()
        let pairing = try await computers.requestJoining()
        try await computers.confirm(pairing)
        try await computers.isJoined()
        try await computers.second.household.sendVaultKeys(SecretBytes(utf8: "right"), user: alice.user)
        try await computers.settled()
        return computers
    }

    /// kill -9 of the second computer, and its next start.
    func restarted() async throws -> TwoComputers {
        second.end()
        let (hub, interceptor) = (first.hub, HubInterceptor())
        return TwoComputers(
            self,
            second: try await World(
                hasVault: true, hub: { InterceptedHub(hub: hub.connection($0), interceptor: interceptor) },
                after: second))
    }

    // MARK: Joining

    /// The second one asks to join by a link of the first one.
    func requestJoining() async throws -> PairingReport {
        let pairing = try await first.household.makePairing(address: nil, role: .computer)
        let report = try await join(pairing)
        #expect(report.state == .waiting)
        return pairing
    }

    func join(_ pairing: PairingReport) async throws -> JoiningReport {
        try await second.household.join(try #require(pairing.link), HubSettings(url: ""))
    }

    func confirm(_ pairing: PairingReport) async throws {
        let joined = await eventually {
            try await first.household.pairing(pairing.id, waitingUpTo: 0).name == "attic-computer"
        }
        try #require(joined)
        let device = try await first.household.confirmPairing(
            pairing.id, passcode: SecretBytes(utf8: "right"), user: alice.user)
        #expect(device.role == .computer)
    }

    func isJoined() async throws {
        let isConnected = await eventually("the second computer is connected") {
            second.time.advance(by: .seconds(1))
            return await second.sync.engine.isConnected
        }
        try #require(isConnected)
    }

    /// The final report of joining.
    func outcome() async throws -> JoiningReport {
        await eventually("joining ends") {
            second.time.advance(by: .seconds(1))
            return await second.household.joiningOutcome != nil
        }
        return try await second.household.joiningReport(waitingUpTo: 0)
    }

    // MARK: Afterwards

    /// Waits until both have sent everything.
    func settled() async throws {
        for world in [first.world, second] {
            let settled = await eventually("\(world.name) has sent everything") {
                try await world.sync.status().waiting == 0
            }
            try #require(settled)
        }
    }

    func addNote(_ title: String, on world: World) async throws {
        _ = try await world.openVault()
        _ = try await world.sealed.notes.add(NoteRequest(title: title, body: title), peer: alice)
        try await settled()
    }
}

extension World {
    var devices: HouseholdServices { control.devices }
    var household: HouseholdService { control.devices.household }
    var sync: SyncService { control.devices.sync }

    func openVault() async throws {
        _ = try await sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        await control.devices.conflicts.vaultOpened(peer: alice)
    }

    func notes() async throws -> [String] {
        try await sealed.notes.list(search: nil, peer: alice).notes.map(\.title).sorted()
    }
}

/// Whether any key of a device opens a record.
func opens(_ record: HubRecord, _ secrets: HouseholdSecrets) -> Bool {
    guard let collection = RecordCollection(rawValue: record.collection), let sealed = record.sealed else {
        return false
    }
    let name = RecordName(
        vault: record.vault.item, collection: collection, id: record.id.item, revision: record.revision)
    if collection == .keys { return (try? DeviceKeys.open([UInt8](sealed), as: name, with: secrets.boxKey)) != nil }
    guard let envelope = try? RecordEnvelope(bytes: [UInt8](sealed)) else { return false }
    return secrets.ring.entries.contains { (try? envelope.open(as: name, vaultKey: $0.key)) != nil }
}
