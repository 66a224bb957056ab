import AsyncHTTPClient
import Crypto
import Foundation
import HubAPI
import HubStore
import NIOHTTP1
import TestSupport
import Testing
import WebPush

@testable import HubServer

/// From `POST /v1/push/messages` to a push service: headers, retries, expired subscriptions, refused addresses.
struct PushTests {
    private func run(
        replies: [TestPush.Reply] = [], waiting: Int = 10_000, each: Int = 32,
        _ test: (HubUnderTest, TestPush, TestDevice, TestDevice) async throws -> Void
    ) async throws {
        let service = try await TestPush.start(replies: replies)
        try await HubUnderTest.configured { configuration, _ in
            configuration.push.allowsPrivateAddresses = true
            configuration.push.firstRetry = .milliseconds(50)
            configuration.push.maximumWaiting = waiting
            configuration.push.maximumWaitingEach = each
            configuration.push.contact = "mailto:operator@example.org"
        }.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            let subscription = TestPush.subscription(endpoint: service.endpoint("phone"))
            #expect(try await hub.request(.setPush, token: phone.token, body: subscription).status == 204)
            try await test(hub, service, computer, phone)
        }
        await service.end()
    }

    private func push(
        _ hub: HubUnderTest, _ device: TestDevice, topic: String? = nil, ttl: Int = 60, devices: [HubID]? = nil,
        payload: Data = Data("sealed".utf8)
    ) async throws -> HubUnderTest.Answer {
        try await hub.request(
            .push, token: device.token,
            body: PushMessageRequest(payload: payload, urgency: .high, ttl: ttl, topic: topic, devices: devices))
    }

    /// Waits until the hub's delay is the one that the push service requested, or up to a quarter longer.
    private func isWaiting(_ hub: HubUnderTest, seconds: Double) async {
        await eventually("the hub waits for \(seconds) seconds") {
            hub.time.sleeps.contains { $0 >= .seconds(seconds) && $0 <= .seconds(seconds * 1.25) }
        }
    }

    private func count(_ outcome: String, _ hub: HubUnderTest) async throws -> Bool {
        try await hub.request(.metrics).body.contains("applocker_hub_pushes_total{outcome=\"\(outcome)\"}")
    }

    @Test func aMessageReachesTheServiceWithItsHeaders() async throws {
        try await run { hub, service, computer, phone in
            #expect(try await push(hub, computer, topic: "launch").decoded(PushMessageAnswer.self).subscriptions == 1)
            await eventually("it arrives") { service.messages.count == 1 }
            let message = try #require(service.messages.first)
            #expect(message.path == "/phone")
            #expect(message.headers["content-encoding"] == "aes128gcm")
            #expect(
                message.headers["ttl"] == "60" && message.headers["urgency"] == "high"
                    && message.headers["topic"] == PushSender.topic("launch", from: computer.id))
            #expect(message.headers["topic"]?.utf8.count == 32)
            #expect(message.headers["authorization"]?.hasPrefix("vapid t=") == true)
            #expect(message.body.count == 86 + 3_072 + 17)
            await eventually("the message is counted") { try await count("sent", hub) }
            let devices = try await hub.request(.devices, token: computer.token).decoded(HubDeviceList.self).devices
            #expect(devices.first { $0.id == phone.id }?.hasPush == true)
            // Neither the sender nor other devices receive it.
            #expect(try await push(hub, phone).decoded(PushMessageAnswer.self).subscriptions == 0)
            #expect(
                try await push(hub, computer, devices: [computer.id]).decoded(PushMessageAnswer.self).subscriptions == 0
            )
            #expect(
                try await push(hub, computer, devices: [phone.id]).decoded(PushMessageAnswer.self).subscriptions == 1)
        }
    }

    @Test func aSubscriptionWithAFallbackGetsDeclarativeMessagesOfOneLength() async throws {
        try await run { hub, service, computer, phone in
            var subscription = TestPush.subscription(endpoint: service.endpoint("declarative"))
            subscription.fallback = PushFallback(title: "Calculator", body: "New", navigate: "https://hub.example/")
            #expect(try await hub.request(.setPush, token: phone.token, body: subscription).status == 204)
            for payload in [#"{"a": 1}"#, #"{"long": "\#(String(repeating: "x", count: 3_000))"}"#] {
                _ = try await push(hub, computer, payload: Data(payload.utf8))
            }
            await eventually("they arrive") { service.messages.count == 2 }
            #expect(service.messages.allSatisfy { $0.body.count == 86 + 3_840 + 17 })
            // What is no JSON can't be inside JSON.
            _ = try await push(hub, computer, payload: Data("sealed".utf8))
            await eventually("it arrives") { service.messages.count == 3 }
            #expect(service.messages.last?.body.count == 86 + 3_072 + 17)
            subscription.fallback?.title = String(repeating: "x", count: 65)
            #expect(try await hub.request(.setPush, token: phone.token, body: subscription).status == 413)
        }
    }

    @Test func aFallbackWithANULIsRefused() async throws {
        try await run { hub, service, _, phone in
            var subscription = TestPush.subscription(endpoint: service.endpoint("fallback"))
            for (title, body, path) in [("Calc\0", "New", ""), ("Calc", "N\0w", ""), ("Calc", "New", "a\0b")] {
                subscription.fallback = PushFallback(title: title, body: body, navigate: "https://hub.example/" + path)
                let response = try await hub.request(.setPush, token: phone.token, body: subscription)
                #expect(response.status == 400)
            }
        }
    }

    @Test func aDeclarativeMessageHasTheFallbackAndTheSealedRecordInside() throws {
        let fallback = PushFallback(title: "T\"}", body: "B", navigate: "https://hub.example/")
        let message = try #require(DeclarativePush(fallback, payload: Data(#"{"revision": 9007199254740991}"#.utf8)))
        struct Read: Decodable {
            struct Notification: Decodable {
                let title, body, navigate: String
                let data: [String: UInt64]
            }
            let version: Int
            let mutable: Bool
            let notification: Notification

            enum CodingKeys: String, CodingKey {
                case version = "web_push"
                case mutable, notification
            }
        }
        let read = try JSONDecoder().decode(Read.self, from: message.bytes)
        #expect(read.version == 8_030 && read.mutable)
        #expect(read.notification.title == "T\"}" && read.notification.navigate == fallback.navigate)
        #expect(read.notification.data == ["revision": 9_007_199_254_740_991])
        for payload in ["", "{", #"{} , "title": "other""#] {
            #expect(DeclarativePush(fallback, payload: Data(payload.utf8)) == nil)
        }
    }

    /// "Thief of a locked phone" of docs/threat-model.md: a copy of its storage contains its token.
    @Test func theTokenAloneRedirectsADevicesPushes() async throws {
        try await run { hub, service, computer, phone in
            let other = TestPush.subscription(endpoint: service.endpoint("elsewhere"))
            let set = try await hub.request(.setPush, token: phone.token, body: other)
            let pushed: PushMessageAnswer = try await push(hub, computer).decoded()
            #expect(set.status == 204 && pushed.subscriptions == 1)
            await eventually("it arrives") { service.messages.count == 1 }
            #expect(service.messages.map(\.path) == ["/elsewhere"])
        }
    }

    @Test func aTemporaryFailureIsRetried() async throws {
        try await run(replies: [.init(status: 503), .init(status: 429, headers: ["Retry-After": "20"])]) {
            hub, service, computer, _ in
            _ = try await push(hub, computer)
            await isWaiting(hub, seconds: 20)
            #expect(service.messages.count == 2)
            hub.time.advance(by: .seconds(25))
            await eventually("the third attempt has arrived") { service.messages.count == 3 }
            await eventually("the message is counted") { try await count("sent", hub) }
        }
    }

    @Test func anExpiredSubscriptionIsRemoved() async throws {
        for status in [404, 410] {
            try await run(replies: [.init(status: status)]) { hub, service, computer, phone in
                _ = try await push(hub, computer)
                await eventually("the subscription is removed") {
                    try await push(hub, computer).decoded(PushMessageAnswer.self).subscriptions == 0
                }
                let devices = try await hub.request(.devices, token: computer.token).decoded(HubDeviceList.self).devices
                #expect(devices.first { $0.id == phone.id }?.hasPush == false)
            }
        }
    }

    @Test func anExpiredOrRefusedMessageIsNotRetried() async throws {
        try await run(replies: [.init(status: 500), .init(status: 400)]) { hub, service, computer, _ in
            _ = try await push(hub, computer, ttl: 0)
            await eventually("the message has expired") { try await count("expired", hub) }
            #expect(service.messages.count == 1)
            _ = try await push(hub, computer)
            await eventually("the message is refused") { try await count("refused", hub) }
            // In order: a retry would arrive before the next message.
            _ = try await push(hub, computer, topic: "next")
            await eventually("the next arrives") {
                service.messages.last?.headers["topic"] == PushSender.topic("next", from: computer.id)
            }
            #expect(service.messages.count == 3)
        }
    }

    @Test func aNewerMessageOfATopicReplacesThePendingOne() async throws {
        try await run(replies: [.init(status: 503, headers: ["Retry-After": "20"])]) { hub, service, computer, _ in
            _ = try await push(hub, computer, topic: "a")
            await isWaiting(hub, seconds: 20)
            for _ in 0..<5 { _ = try await push(hub, computer, topic: "b") }
            hub.time.advance(by: .seconds(25))
            await eventually("both topics") { service.messages.count >= 3 }
            // In order: other pending messages would arrive before the next one.
            _ = try await push(hub, computer, topic: "c")
            await eventually("the next arrives") {
                service.messages.last?.headers["topic"] == PushSender.topic("c", from: computer.id)
            }
            #expect(
                service.messages.map { $0.headers["topic"] }
                    == ["a", "a", "b", "c"].map { PushSender.topic($0, from: computer.id) })
        }
    }

    /// "Thief of a locked phone" of docs/threat-model.md: a copy of its storage contains its token, with which it sends.
    @Test func aDevicesMessagesNeitherReplaceNorDisplaceThoseOfAnother() async throws {
        try await run(replies: [.init(status: 503, headers: ["Retry-After": "20"])], each: 4) {
            hub, service, computer, phone in
            let thief = try await hub.pair(with: computer)
            func send(_ device: TestDevice, _ topic: String? = nil) async throws -> Int {
                try await push(hub, device, topic: topic, devices: [phone.id]).decoded(PushMessageAnswer.self)
                    .subscriptions
            }
            #expect(try await send(thief) == 1)
            await isWaiting(hub, seconds: 20)
            #expect(try await send(computer, "alert") == 1)
            var queued: [Int] = []
            for _ in 0..<5 { queued.append(try await send(thief)) }
            // What is dropped is not reported as sent.
            #expect(queued == [1, 1, 1, 0, 0])
            #expect(try await send(computer, "second") == 1)
            // It knows the record, and so its topic.
            #expect(try await send(thief, "alert") == 0)
            hub.time.advance(by: .seconds(25))
            let sent =
                [nil, nil, PushSender.topic("alert", from: computer.id), nil, nil]
                + [PushSender.topic("second", from: computer.id)]
            await eventually("they arrive") { service.messages.count >= sent.count }
            #expect(service.messages.map { $0.headers["topic"] } == sent)
            // At the push service too, it replaces nothing.
            #expect(try await send(thief, "alert") == 1)
            await eventually("it arrives") { service.messages.count == sent.count + 1 }
            #expect(service.messages.last?.headers["topic"] == PushSender.topic("alert", from: thief.id))
        }
    }

    @Test func aSlowPushServiceDelaysNoOtherHousehold() async throws {
        let other = try await TestPush.start()
        try await run(replies: [.init(status: 503, headers: ["Retry-After": "20"])], waiting: 4) {
            hub, service, computer, _ in
            _ = try await push(hub, computer)
            await isWaiting(hub, seconds: 20)
            for _ in 0..<5 { _ = try await push(hub, computer) }
            await eventually("the queue of the household is full") { try await count("dropped", hub) }
            let neighbour = try await hub.found()
            let phone = try await hub.pair(with: neighbour)
            let subscription = TestPush.subscription(endpoint: other.endpoint("phone"))
            #expect(try await hub.request(.setPush, token: phone.token, body: subscription).status == 204)
            _ = try await push(hub, neighbour)
            await eventually("the neighbour's arrives") { other.messages.count == 1 }
            #expect(service.messages.count == 1)
        }
        await other.end()
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let other = try await TestPush.start()
        try await run(replies: [.init(status: 307, headers: ["Location": other.endpoint("elsewhere")])]) {
            hub, service, computer, _ in
            _ = try await push(hub, computer)
            await eventually("the message is refused") { try await count("refused", hub) }
            #expect(service.messages.count == 1 && other.messages.isEmpty)
        }
        await other.end()
    }

    @Test func subscriptionsToPrivateAddressesAreRefused() async throws {
        let service = try await TestPush.start()
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            for endpoint in [
                service.endpoint("x"), "http://push.example.com/x", "https://127.0.0.1/x", "https://[::1]/x",
                "https://localhost/x", "https://10.0.0.1/x", "https://169.254.169.254/latest", "https://router/x",
                "https://printer.local/x", "https://push.example.com:8443/x", "https://[::ffff:192.168.0.1]/x",
                "https://user:secret@push.example.com/x", "ftp://push.example.com", "push.example.com", "",
                "https://push.example.com/" + String(repeating: "x", count: 2_048),
            ] {
                let answer = try await hub.request(
                    .setPush, token: phone.token, body: TestPush.subscription(endpoint: endpoint))
                #expect(answer.error?.code == .badRequest, "\(endpoint)")
            }
            #expect(service.messages.isEmpty)
        }
        await service.end()
    }

    /// The address of a name is known only after it is resolved.
    @Test func aNameThatResolvesToAPrivateAddressIsNotContacted() async throws {
        func origins(_ addresses: [String]) -> PushOrigins {
            PushOrigins(settings: PushSettings(), time: SystemHubTime(), addresses: { _ in addresses })
        }
        for addresses in [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1"], ["::ffff:192.168.1.1"], ["fe80::1%eth0"]] {
            await #expect(throws: PushRefused.self, "\(addresses)") {
                try await origins(addresses).execute(HTTPClientRequest(url: "https://push.example.com/x"))
            }
        }
        await #expect(throws: PushUnreachable.self) {
            try await origins([]).execute(HTTPClientRequest(url: "https://push.example.com/x"))
        }
    }

    /// No name here exists: a request arrives only at the address that was checked.
    @Test func aNameIsContactedOnlyAtItsCheckedAddressHoweverItIsSpelled() async throws {
        let service = try await TestPush.start()
        var settings = PushSettings()
        settings.allowsPrivateAddresses = true
        let origins = PushOrigins(settings: settings, time: SystemHubTime(), addresses: { _ in ["127.0.0.1"] })
        let hosts = ["PUSH.invalid", "push.invalid", "Push.Invalid", "b\u{fc}cher.invalid", "xn--bcher-kva.invalid"]
        for host in hosts {
            var request = HTTPClientRequest(url: "http://\(host):\(service.port)/\(host.utf8.count)")
            request.method = .POST
            #expect(try await origins.execute(request).status == .created, "\(host)")
        }
        #expect(service.messages.map(\.path) == hosts.map { "/\($0.utf8.count)" })
        #expect(throws: WebPushError.badEndpoint) { try origins.check("https://%70ush.example.com/x") }
        await origins.end()
        await service.end()
    }

    @Test func anInvalidPushMessageIsRefused() async throws {
        try await run { hub, service, computer, _ in
            let tooLong = try await push(hub, computer, payload: Data(count: 3_073))
            #expect(tooLong.error?.code == .tooLarge)
            #expect(try await push(hub, computer, payload: Data()).error?.code == .badRequest)
            #expect(try await push(hub, computer, ttl: -1).error?.code == .badRequest)
            #expect(try await push(hub, computer, ttl: 2_419_201).error?.code == .badRequest)
            #expect(try await push(hub, computer, topic: "").error?.code == .badRequest)
            #expect(try await push(hub, computer, topic: "a b").error?.code == .badRequest)
            #expect(try await push(hub, computer, topic: String(repeating: "a", count: 33)).error?.code == .badRequest)
            #expect(service.messages.isEmpty)
        }
    }
}
