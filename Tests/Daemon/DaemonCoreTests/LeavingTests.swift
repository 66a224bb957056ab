import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import Policy
import SealedFormats
import SealedStore
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// Leaving the household: the hub receives the entry before everything is erased.
@Suite struct LeavingTests {
    private func reset(_ world: World) async throws -> DoneReport {
        let body = ResetRequest(passcode: "right", confirmation: ResetRequest.confirmationText)
        let request = ControlRequest(route: .reset, peer: alice, body: try [UInt8](JSONEncoder().encode(body)))
        return try JSONDecoder().decode(DoneReport.self, from: Data(try await world.control.respond(to: request)))
    }

    /// Admits another computer, which does not run.
    private func addComputer(_ connected: ConnectedWorld) async throws -> HubID {
        let session = try #require(await connected.household.session)
        let (key, box) = (DeviceSigningKey(), BoxKeyPair())
        let member = RosterMember(role: .computer, signingKey: key.publicKey, boxKey: box.publicKey)
        let entry = session.roster.admitting(member, by: StateDatabase.testKey, at: 1)
        let device = HubID(member.id)
        connected.hub.state.withLock {
            $0.devices[device] = .init(role: .computer, isActive: true, tokenHash: Data(repeating: 1, count: 32))
        }
        try await session.hub.append(
            RosterAppendRequest(
                number: session.roster.head.number + 1, entry: Data(entry),
                change: .admit(device: device, role: .computer, invitation: HubID(ItemID.random()))))
        return device
    }

    @Test func theLastComputerRemovesTheHousehold() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair()
        let report = try await reset(connected.world)
        #expect(report.notes.count == 1)
        #expect(connected.hub.state.withLock { $0.household } == nil)
        #expect(connected.world.erasure.happened.withLock { $0 })
        let error = await #expect(throws: (any Error).self) { try await companion.sync() }
        #expect((error as? HubError)?.code == .unauthorized)
    }

    @Test(arguments: [true, false])
    func aComputerThatIsNotTheLastRevokesOnlyItself(erases: Bool) async throws {
        let connected = try await ConnectedWorld()
        let other = try await addComputer(connected)
        let own = HubID(connected.household.signingKey.publicKey.id)
        if erases {
            #expect(try await reset(connected.world).notes.count == 1)
        } else {
            #expect(try await connected.household.disconnect(user: alice.user) == [])
            #expect(try await connected.sync.status().url == nil)
        }
        let state = connected.hub.state.withLock { $0 }
        #expect(state.household != nil && state.devices[own] == nil && state.devices[other] != nil)
        // The others accept the entry: it is signed by the computer that leaves.
        let roster = try Roster(entries: state.roster.map { [UInt8]($0) })
        #expect(roster.members.map { HubID($0.id) } == [other] && roster.revoked.contains(own.item))
    }

    @Test func anUnreachableHubDoesNotPreventErasing() async throws {
        let connected = try await ConnectedWorld()
        connected.hub.setDown(true)
        let report = try await reset(connected.world)
        #expect(report.notes.last?.hasPrefix("The hub could not be reached") == true)
        #expect(connected.world.erasure.happened.withLock { $0 })
        #expect(connected.hub.state.withLock { $0.household } != nil)
    }

    @Test func erasingWaitsFiveSecondsForAHubThatDoesNotAnswer() async throws {
        let connected = try await ConnectedWorld()
        connected.interceptor.hang()
        let world = connected.world
        let begun = world.time.now().elapsed
        let erasing = Task { try await reset(world) }
        await eventually { connected.interceptor.hanging > 0 && world.time.waits.contains(.seconds(5)) }
        world.time.advance(by: .milliseconds(4_900))
        #expect(world.time.waits.contains(.milliseconds(100)), "still waiting")
        world.time.advance(by: .milliseconds(200))
        #expect(try await erasing.value.notes.count == 2)
        #expect(world.erasure.time.withLock { $0 } == begun + .milliseconds(5_100))
    }
}
