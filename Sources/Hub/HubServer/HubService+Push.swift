import Foundation
import HubAPI
import HubStore
import WebPush

extension HubService {
    func setPush(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PushSubscriptionRequest.self)
        guard message.endpoint.utf8.count <= 2_048 else {
            throw HubError(.badRequest, "The subscription's endpoint is longer than 2,048 bytes.")
        }
        if let fallback = message.fallback {
            try Check.bytes(Data(fallback.title.utf8), 1...64, "fallback.title")
            try Check.bytes(Data(fallback.body.utf8), 0...128, "fallback.body")
            try Check.bytes(Data(fallback.navigate.utf8), 1...256, "fallback.navigate")
        }
        // PostgreSQL refuses it in a text, and SQLite stores the part before it.
        let fallback = message.fallback
        let texts: [String?] = [message.endpoint, fallback?.title, fallback?.body, fallback?.navigate]
        guard texts.allSatisfy({ $0?.utf8.contains(0) != true }) else {
            throw HubError(.badRequest, "A text of the subscription has the character U+0000; remove it.")
        }
        do {
            try pushes.checkEndpoint(message.endpoint)
            _ = try PushRecipient(p256dh: message.keys.p256dh, auth: message.keys.auth)
        } catch let error as WebPushError {
            throw HubError(.badRequest, error.description)
        }
        let device = try request.knownDevice()
        try await store.setPushSubscription(message, device: device.id, household: device.household)
        return .done
    }

    func removePush(_ request: HubRequest) async throws -> HubReply {
        let device = try request.knownDevice()
        try await store.setPushSubscription(nil, device: device.id, household: device.household)
        return .done
    }

    func push(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(PushMessageRequest.self)
        try Check.bytes(message.payload, 1...PushMessageRequest.maximumPayloadBytes, "payload")
        // Push services keep a message for at most four weeks.
        try Check.range(message.ttl, 0...2_419_200, "ttl")
        if let topic = message.topic {
            let isValid =
                (1...32).contains(topic.utf8.count)
                && topic.utf8.allSatisfy {
                    switch $0 {
                    case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                    default: false
                    }
                }
            guard isValid else {
                throw HubError(.badRequest, "A topic is 1 to 32 characters of A-Z, a-z, 0-9, \"-\" and \"_\".")
            }
        }
        let device = try request.knownDevice()
        let subscriptions = try await store.pushSubscriptions(of: device.household).filter { subscription in
            guard let wanted = message.devices else { return subscription.device != device.id }
            return wanted.contains(subscription.device)
        }
        let queued = subscriptions.filter {
            pushes.send(message, from: device.id, to: $0, of: device.household)
        }
        return try .json(PushMessageAnswer(subscriptions: queued.count))
    }
}
