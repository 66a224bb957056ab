import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import TestSupport
import Testing

@testable import HubServer

/// From `PUT /v1/push/reminders` to a push service, by a clock that the test advances.
struct ReminderTests {
    private static let hour: Int64 = 3_600

    private func run(_ test: (HubUnderTest, TestPush, TestDevice) async throws -> Void) async throws {
        let service = try await TestPush.start()
        try await HubUnderTest.configured { configuration, _ in configuration.push.allowsPrivateAddresses = true }
            .run { hub in
                let computer = try await hub.found()
                try await test(hub, service, computer)
            }
        await service.end()
    }

    private func phone(
        _ name: String, of computer: TestDevice, _ hub: HubUnderTest, _ service: TestPush
    ) async throws -> TestDevice {
        let phone = try await hub.pair(with: computer)
        let subscription = TestPush.subscription(endpoint: service.endpoint(name))
        #expect(try await hub.request(.setPush, token: phone.token, body: subscription).status == 204)
        return phone
    }

    /// Sets reminders these many seconds from now.
    private func remind(
        _ phone: TestDevice, _ seconds: [Int64], list: HubID = .random(), _ hub: HubUnderTest
    ) async throws {
        let now = hub.time.seconds()
        let reminders = seconds.map { PushReminder(at: UInt64(now + $0), content: .random(44)) }
        let answer = try await hub.request(
            .setReminders, token: phone.token, body: PushRemindersRequest(list: list, reminders: reminders))
        #expect(answer.status == 204, "\(String(decoding: answer.body, as: UTF8.self))")
    }

    @Test func aReminderIsSentAtItsTimeOnceAndOnlyToItsDevice() async throws {
        try await run { hub, service, computer in
            let one = try await phone("one", of: computer, hub, service)
            let two = try await phone("two", of: computer, hub, service)
            try await remind(one, [2 * Self.hour, 4 * Self.hour], hub)
            try await remind(two, [3 * Self.hour], hub)
            // Sent now: what is not due would arrive before it.
            try await remind(two, [0], hub)
            await eventually("the one that is due") { service.messages.count == 1 }
            for (hours, paths) in [(2, ["/two", "/one"]), (1, ["/two", "/one", "/two"])] {
                hub.time.advance(by: .seconds(Int64(hours) * Self.hour))
                await eventually("\(paths)") { service.messages.count == paths.count }
                #expect(service.messages.map(\.path) == paths)
            }
            hub.time.advance(by: .seconds(Self.hour))
            await eventually("the last one") { service.messages.count == 4 }
            #expect(try await hub.store.nextReminder() == nil)
            let message = try #require(service.messages.last)
            #expect(message.path == "/one")
            #expect(message.headers["urgency"] == "normal" && message.headers["topic"] == nil)
            let ttl = try #require(Int64(message.headers["ttl"] ?? ""))
            #expect((PushReminder.lifetime - 120...PushReminder.lifetime).contains(ttl))
            // As long as every other message.
            #expect(message.body.count == 86 + 3_072 + 17)
        }
    }

    @Test func anEarlierReminderIsNotDelayedByALaterOne() async throws {
        try await run { hub, service, computer in
            let one = try await phone("one", of: computer, hub, service)
            try await remind(one, [300], hub)
            await eventually("the hub waits for it") {
                hub.time.sleeps.contains { $0 > .seconds(240) && $0 <= .seconds(300) }
            }
            try await remind(one, [120], hub)
            hub.time.advance(by: .seconds(150))
            await eventually("the earlier one") { service.messages.count == 1 }
            #expect(try await hub.store.nextReminder() != nil)
        }
    }

    /// The hub was down, or the device's clock is behind.
    @Test func aLateReminderIsSentForTheRestOfItsTimeAndThenDropped() async throws {
        try await run { hub, service, computer in
            let one = try await phone("one", of: computer, hub, service)
            try await remind(one, [-13 * Self.hour], hub)
            await eventually("it is dropped") {
                try await hub.request(.metrics).body.contains("applocker_hub_pushes_total{outcome=\"expired\"}")
            }
            try await remind(one, [-10 * Self.hour], hub)
            await eventually("it is sent") { service.messages.count == 1 }
            let ttl = try #require(Int64(service.messages[0].headers["ttl"] ?? ""))
            #expect((2 * Self.hour - 120...2 * Self.hour).contains(ttl))
            #expect(try await hub.store.nextReminder() == nil)
        }
    }

    @Test func remindersEndWithTheDeviceAndWithItsSubscription() async throws {
        try await run { hub, service, computer in
            let left = try await phone("left", of: computer, hub, service)
            let revoked = try await phone("revoked", of: computer, hub, service)
            let off = try await phone("off", of: computer, hub, service)
            let stays = try await phone("stays", of: computer, hub, service)
            for phone in [left, revoked, off] { try await remind(phone, [Self.hour], hub) }
            try await remind(stays, [Self.hour + 60], hub)
            #expect(try await hub.request(.leave, token: left.token).status == 204)
            try await hub.append(.revoke(device: revoked.id), by: computer)
            #expect(try await hub.request(.removePush, token: off.token).status == 204)
            hub.time.advance(by: .seconds(Self.hour + 120))
            // The others would be sent before it.
            await eventually("the one that stays") { service.messages.count == 1 }
            #expect(service.messages.map(\.path) == ["/stays"])
        }
    }

    @Test func aListIsReplacedAndRemovedAndAnotherStays() async throws {
        try await run { hub, service, computer in
            let one = try await phone("one", of: computer, hub, service)
            let (list, other) = (HubID.random(), HubID.random())
            try await remind(one, [100, 200, 300], list: list, hub)
            try await remind(one, [400], list: other, hub)
            try await remind(one, [500], list: list, hub)
            #expect(try await hub.store.takeReminders(dueAt: .max, limit: 9).count == 2)
            try await remind(one, [100], list: list, hub)
            try await remind(one, [400], list: other, hub)
            try await remind(one, [], list: list, hub)
            #expect(try await hub.store.takeReminders(dueAt: .max, limit: 9).count == 1)
        }
    }

    @Test func aRefusalHasOneSentenceAndChangesNothing() async throws {
        try await run { hub, service, computer in
            let one = try await phone("one", of: computer, hub, service)
            try await remind(one, [Self.hour], hub)
            let (now, content) = (UInt64(hub.time.seconds()), Data.random(44))
            let reminders = { (times: [UInt64]) in times.map { PushReminder(at: $0, content: content) } }
            for (refused, code) in [
                (reminders((0...64).map { now + $0 }), HubError.Code.badRequest), (reminders([now, now]), .badRequest),
                (reminders([now + 401 * 86_400]), .badRequest), (reminders([.max]), .badRequest),
                ([PushReminder(at: now, content: .random(43))], .badRequest),
                ([PushReminder(at: now, content: .random(45))], .badRequest),
            ] {
                let answer = try await hub.request(
                    .setReminders, token: one.token, body: PushRemindersRequest(list: .random(), reminders: refused))
                #expect(answer.error?.code == code)
                #expect(answer.error?.message.hasSuffix(".") == true)
            }
            let malformed = try await hub.request(.setReminders, token: one.token, body: ["list": "1"])
            #expect(malformed.error?.code == .badRequest)
            // Without a subscription.
            let answer = try await hub.request(
                .setReminders, token: computer.token,
                body: PushRemindersRequest(list: .random(), reminders: reminders([now])))
            #expect(answer.error?.code == .conflict)
            #expect(try await hub.store.takeReminders(dueAt: .max, limit: 99).count == 1)
        }
    }

    @Test func aListMayBeFullAndFarAhead() throws {
        let now: Int64 = 1_800_000_000
        let all = (0..<64).map { PushReminder(at: UInt64(now) + 400 * 86_400 - $0, content: .random(44)) }
        try Check.reminders(all, at: now)
        try Check.reminders([PushReminder(at: 0, content: .random(44))], at: now)
        try Check.reminders([], at: now)
        #expect(throws: HubError.self) {
            try Check.reminders([PushReminder(at: UInt64(now) + 400 * 86_400 + 1, content: .random(44))], at: now)
        }
    }
}
