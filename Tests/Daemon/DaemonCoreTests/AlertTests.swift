import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import Policy
import SealedFormats
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// What phones receive of the owner's changes, for how long it is kept, and whether it was confirmed.
@Suite struct AlertTests {
    private let right = SecretBytes(utf8: "right")

    @Test func changesOfAppsRulesAndRecoveryAreAlertsOfTheirKindAndPushed() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        let companion = try await connected.pair()
        let before = connected.hub.state.withLock { $0.pushes.count }
        _ = try await world.apps.remove("calculator", user: alice.user)
        _ = try await world.apps.changeApp(
            "firefox", ChangeAppRequest(schedule: "block daily 22:00-07:00"), user: alice.user)
        _ = try await world.passcodes.makeRecoveryCode(right, user: alice.user)
        let expected: Set<HouseholdEvent.Kind> = [.apps, .rules, .recovery]
        await eventually("the events arrive") {
            try await companion.sync()
            return expected.isSubset(of: Set(await companion.events().map(\.kind)))
        }
        let removed = await companion.events().first { $0.kind == .apps }
        #expect(removed?.sentence == "Calculator was removed from the list.")
        await eventually("they are pushed") { connected.hub.state.withLock { $0.pushes.count } == before + 3 }
    }

    @Test func theHubKeepsEventsForTheDaysOfTheSettingOrLonger() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        let companion = try await connected.pair()
        for (days, atHub) in [(29, 30), (365, 365), (7, 365)] {
            try await world.sealed.vault.changeSettings { $0.alertDays = days }
            await eventually("the status has \(days) days, the hub \(atHub)") {
                // Statuses are sent at intervals of some seconds.
                world.time.advance(by: .seconds(5))
                try await companion.sync()
                return await companion.report().computers.first?.status.alertDays == days
                    && connected.hub.state.withLock { $0.eventDays } == atHub
            }
        }
    }

    @Test func anAlertThatNoPhoneConfirmsIsReported() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        _ = try await connected.pair()
        let household = connected.household
        #expect(try await household.devices().unconfirmedAlert == nil)
        let sent = world.time.wallClock()
        let before = connected.hub.state.withLock { $0.pushes.count }
        connected.hub.state.withLock { state in
            state.subscriptions = 1
            state.lastSeen = UInt64(sent) - 120
        }
        world.gate.launch(world.launch(1))
        // The request, and the event of the log: the second one must not be of a later minute.
        await eventually("both alerts are sent") {
            let pushes = connected.hub.state.withLock { $0.pushes.count }
            return await household.lastAlert != nil && pushes == before + 2
        }
        #expect(try await household.devices().unconfirmedAlert == nil, "a phone has a minute")
        world.time.set(wall: world.time.wallClock() + 60)
        #expect(try await household.devices().unconfirmedAlert == sent)
        let restarted = try await ConnectedWorld(hub: connected.hub, after: world)
        restarted.world.time.set(wall: sent + 60)
        #expect(try await restarted.household.devices().unconfirmedAlert == sent, "also after a restart")
        connected.hub.state.withLock { $0.lastSeen = UInt64(sent / 60) * 60 }
        #expect(try await household.devices().unconfirmedAlert == nil, "the hub records minutes")
    }
}
