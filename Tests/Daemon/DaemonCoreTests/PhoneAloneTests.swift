import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import Policy
import SealedFormats
import TestSupport
import Testing

@testable import DaemonCore

/// Launches without a prompter.
@Suite struct PhoneAloneTests {
    private static let clock: @Sendable () -> UInt64 = { 1_800_000_000_000 }
    private let minutes = GrantRequest(.duration, seconds: 300)

    /// - Parameter earlier: a settled request, whose result the phone may not have received yet.
    private func request(_ companion: Companion, after earlier: LaunchRequest? = nil) async throws -> LaunchRequest {
        await eventually("the request arrives") {
            try await companion.sync()
            let requests = await companion.requests()
            return requests.count == 1 && requests.first?.prompt != earlier?.prompt
        }
        return try #require(await companion.requests().first)
    }

    @Test func aLaunchWaitsForThePhone() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        #expect(world.gate.launch(world.launch(1)) == Decision(verdict: .deny, reason: .nobodyToAsk))
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        #expect(world.gate.launch(world.launch(2)).verdict == .ask)
        let first = try await request(companion)
        #expect(world.gate.answer(to: 2) == nil)
        #expect(try await companion.command(.deny(prompt: first.prompt), to: computer).state == .done)
        #expect(world.gate.answer(to: 2) == false)
        #expect(world.gate.launch(world.launch(3)).verdict == .ask)
        let second = try await request(companion, after: first)
        let reply = try await companion.command(.approve(prompt: second.prompt, grant: minutes), to: computer)
        #expect(reply.state == .done && reply.sentence == "Firefox was approved.")
        #expect(world.gate.answer(to: 3) == true)
    }

    @Test func aLaunchThatOnlyAPhoneCanAnswerIsDeniedAfterTheTimeForPhones() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        let companion = try await connected.pair(clock: Self.clock)
        _ = try await world.apps.changeSettings(.init(phoneTimeoutSeconds: 90), user: alice.user)
        #expect(world.gate.launch(world.launch(1)).verdict == .ask)
        let request = try await request(companion)
        #expect(request.expires == request.clock + 90_000)
        await eventually("the timeout runs") { world.time.waits.contains(.seconds(90)) }
        world.time.advance(by: .seconds(89))
        #expect(world.gate.answer(to: 1) == nil)
        #expect(await world.control.statusReader.status(of: alice).waitingEndsInSeconds == 1)
        #expect(await world.control.statusReader.statusForOtherDevices().waitingEndsInSeconds == nil)
        world.time.advance(by: .seconds(1))
        await eventually { world.gate.answer(to: 1) == false }
        // Written after the answer.
        await eventually { try await world.events(.launchDenied).last?.reason == Reason.noAnswer.rawValue }
    }

    @Test func theGateHoldsALaunchLongerThanAnyAnswerIsWaitedFor() async throws {
        let world = try await World()
        for (prompt, phone, gate) in [(300, 30, 310), (5, 600, 610)] {
            let settings = ChangeSettingsRequest(promptTimeoutSeconds: prompt, phoneTimeoutSeconds: phone)
            _ = try await world.apps.changeSettings(settings, user: alice.user)
            #expect(world.gate.actions.last == "configure \(gate) 64")
        }
    }

    @Test func aPrompterThatConnectsIsAskedAndItsDisconnectionEndsNothing() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        let companion = try await connected.pair(clock: Self.clock)
        #expect(world.gate.launch(world.launch(1)).verdict == .ask)
        let request = try await request(companion)
        var prompter = PromptReader(try await world.control.prompterJoined(alice, connection: 1))
        _ = await prompter.next()
        guard case .ask(let report)? = await prompter.next() else { throw CancellationError() }
        #expect(report.prompt == request.prompt)
        await world.launches.leave(connection: 1)
        #expect(world.gate.answer(to: 1) == nil)
        let computer = try await companion.computer(nil)
        #expect(
            try await companion.command(.approve(prompt: report.prompt, grant: minutes), to: computer).state == .done)
        #expect(world.gate.answer(to: 1) == true)
    }

    /// A launch by the desktop is never held: it was denied, and its user starts it again.
    @Test func aDeniedDesktopLaunchCanBeStartedAgainOnceAPhoneApproves() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        world.gate.launch(world.launch(1, deniedAtOnce: true))
        let request = try await request(companion)
        let reply = try await companion.command(
            .approve(prompt: request.prompt, grant: GrantRequest(.thisLaunch)), to: computer)
        #expect(reply.state == .done && reply.sentence.hasPrefix("Firefox can be started now;"))
        #expect(world.gate.answer(to: 1) == nil, "it was denied at once")
        #expect(world.gate.launch(world.launch(2)).reason == .grantedOnce)
        await eventually { world.gate.answer(to: 2) == true }
        #expect(world.gate.launch(world.launch(3)).verdict == .ask, "once")
    }

    @Test func noPhoneIsAskedIfTheSettingIsOffOrThePhoneIsRevoked() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        let companion = try await connected.pair(clock: Self.clock)
        #expect(await world.control.statusReader.statusForOtherDevices().phoneIsAsked == true)
        let settings = ChangeSettingsRequest(asksPhoneAlone: false)
        #expect(try await world.apps.changeSettings(settings, user: alice.user).asksPhoneAlone == false)
        #expect(world.gate.launch(world.launch(1)) == Decision(verdict: .deny, reason: .nobodyToAsk))
        _ = try await world.apps.changeSettings(ChangeSettingsRequest(asksPhoneAlone: true), user: alice.user)
        #expect(world.gate.launch(world.launch(2)).verdict == .ask)
        _ = try await connected.devices.revoke(
            await companion.device.description, passcode: SecretBytes(utf8: "right"), user: alice.user)
        #expect(world.gate.launch(world.launch(3)) == Decision(verdict: .deny, reason: .nobodyToAsk))
    }
}
