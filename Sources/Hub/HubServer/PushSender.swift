import AsyncHTTPClient
import Crypto
import Foundation
import HubAPI
import HubStore
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
import WebPush

/// Sends messages to push services (RFC 8030): in order for each subscription, with retries while the service is
/// unavailable, and nothing more to a subscription that the service has removed.
final class PushSender: Sendable {
    private struct Name: Hashable {
        let household: HubID
        let device: HubID
    }

    private struct Waiting {
        let message: PushMessageRequest
        let sender: HubID
        let since: Duration
        var attempts = 0
    }

    private struct Queue {
        var subscription: StoredPushSubscription
        var waiting: [Waiting] = []
        var worker: Task<Void, Never>?

        /// Removes the oldest message of the sender with the most.
        /// - Parameter sender: only if that one has more messages than this sender; nil: in any case.
        /// - Returns: whether there is room now.
        mutating func evict(for sender: HubID?) -> Bool {
            var counts: [HubID: Int] = [:]
            for message in waiting { counts[message.sender, default: 0] += 1 }
            guard let most = counts.max(by: { $0.value < $1.value }),
                sender.map({ most.value > counts[$0, default: 0] + 1 }) ?? true,
                let oldest = waiting.firstIndex(where: { $0.sender == most.key })
            else { return false }
            waiting.remove(at: oldest)
            return true
        }
    }

    private struct State {
        var queues: [Name: Queue] = [:]
        var count = 0
        var tokens: [String: (header: String, until: Duration)] = [:]
        var isEnding = false

        /// Makes room in the full queue: the household with the most messages loses one for a household with fewer. So
        /// slow or unreachable push services delay no other household's messages.
        /// - Returns: false if no household has more messages than this one.
        mutating func evict(for household: HubID) -> Bool {
            var counts: [HubID: Int] = [:]
            for (name, queue) in queues { counts[name.household, default: 0] += queue.waiting.count }
            guard let most = counts.max(by: { $0.value < $1.value }), most.value > counts[household, default: 0] + 1,
                let longest = queues.filter({ $0.key.household == most.key })
                    .max(by: { $0.value.waiting.count < $1.value.waiting.count })?.key
            else { return false }
            _ = queues[longest]?.evict(for: nil)
            count -= 1
            return true
        }
    }

    private enum Outcome {
        case sent, gone, refused
        case later(seconds: Int?)
    }

    /// Every message is padded to this length, in bytes.
    static let paddedLength = PushMessageRequest.maximumPayloadBytes
    /// The same for declarative messages, with room for what is around the payload.
    static let paddedDeclarativeLength = paddedLength + 768
    private static let longestPause = Duration.seconds(600)

    private let settings: PushSettings
    private let key: ApplicationServerKey
    private let store: any HubStore
    private let time: any HubTime
    private let metrics: HubMetrics
    private let logger: Logger
    private let origins: PushOrigins
    private let state = Mutex(State())

    init(
        settings: PushSettings, key: ApplicationServerKey, store: any HubStore, time: any HubTime, metrics: HubMetrics,
        logger: Logger
    ) {
        self.settings = settings
        self.key = key
        self.store = store
        self.time = time
        self.metrics = metrics
        self.logger = logger
        origins = PushOrigins(settings: settings, time: time)
    }

    /// - Throws: `WebPushError.badEndpoint`.
    func checkEndpoint(_ endpoint: String) throws { _ = try origins.check(endpoint) }

    /// Queues a message for its subscription. It replaces a queued one of the same sender with the same topic: everybody in
    /// a household may send, and nobody may replace or displace what another device reports.
    /// - Returns: whether it is queued.
    func send(
        _ message: PushMessageRequest, from sender: HubID, to subscription: StoredPushSubscription, of household: HubID
    ) -> Bool {
        let name = Name(household: household, device: subscription.device)
        let now = time.elapsed()
        let (isQueued, isOneDropped) = state.withLock { state -> (Bool, Bool) in
            guard !state.isEnding else { return (false, true) }
            var queue = state.queues[name] ?? Queue(subscription: subscription)
            defer { state.queues[name] = queue }
            queue.subscription = subscription
            if let topic = message.topic {
                let before = queue.waiting.count
                queue.waiting.removeAll { $0.message.topic == topic && $0.sender == sender }
                state.count -= before - queue.waiting.count
            }
            let isQueueFull = queue.waiting.count >= settings.maximumWaitingEach
            if isQueueFull {
                guard queue.evict(for: sender) else { return (false, true) }
                state.count -= 1
            }
            let isFull = state.count >= settings.maximumWaiting
            guard !isFull || state.evict(for: household) else { return (false, true) }
            queue.waiting.append(Waiting(message: message, sender: sender, since: now))
            state.count += 1
            if queue.worker == nil { queue.worker = Task { await self.work(name) } }
            return (true, isFull || isQueueFull)
        }
        if isOneDropped { metrics.pushed("dropped") }
        return isQueued
    }

    /// The topic at the push service, which replaces waiting messages by it too: another one for each sender.
    static func topic(_ topic: String, from sender: HubID) -> String {
        Base64URL.encode(Data(SHA256.hash(data: Data(sender.bytes) + Data(topic.utf8)).prefix(24)))
    }

    func end() async {
        let workers = state.withLock { state in
            state.isEnding = true
            return state.queues.values.compactMap(\.worker)
        }
        for worker in workers { worker.cancel() }
        for worker in workers { await worker.value }
        await origins.end()
    }

    private func work(_ name: Name) async {
        while let (message, subscription) = next(name) {
            var message = message
            // With jitter, so that not all are sent at once after an outage.
            var backoff = Backoff(first: settings.firstRetry, longest: Self.longestPause, jitter: 1...1.25)
            while true {
                message.attempts += 1
                let age = time.elapsed() - message.since
                let ttl = max(0, message.message.ttl - Int(age / .seconds(1)))
                guard message.attempts == 1 || ttl > 0 else {
                    metrics.pushed("expired")
                    break
                }
                let outcome = await attempt(message, ttl: ttl, subscription.subscription)
                if case .later(let seconds) = outcome, message.attempts < settings.attempts {
                    metrics.pushed("retried")
                    do {
                        try await time.sleep(for: backoff.next(requested: seconds.map { .seconds($0) }))
                        continue
                    } catch {
                        return finish(name)
                    }
                }
                await settle(outcome, name, subscription)
                break
            }
        }
    }

    /// Removes the next message from the queue; nil ends the worker.
    private func next(_ name: Name) -> (Waiting, StoredPushSubscription)? {
        state.withLock { state in
            guard var queue = state.queues[name], !queue.waiting.isEmpty, !state.isEnding else {
                state.queues[name] = nil
                return nil
            }
            let first = queue.waiting.removeFirst()
            state.count -= 1
            state.queues[name] = queue
            return (first, queue.subscription)
        }
    }

    private func finish(_ name: Name) {
        state.withLock { state in
            state.count -= state.queues[name]?.waiting.count ?? 0
            state.queues[name] = nil
        }
    }

    private func settle(_ outcome: Outcome, _ name: Name, _ subscription: StoredPushSubscription) async {
        switch outcome {
        case .sent: metrics.pushed("sent")
        case .later: metrics.pushed("given_up")
        case .refused: metrics.pushed("refused")
        case .gone:
            metrics.pushed("gone")
            try? await store.removePushSubscription(
                endpoint: subscription.subscription.endpoint, device: name.device, household: name.household)
            state.withLock { state in
                guard state.queues[name]?.subscription == subscription else { return }
                state.count -= state.queues[name]?.waiting.count ?? 0
                state.queues[name]?.waiting = []
            }
        }
    }

    private func attempt(
        _ waiting: Waiting, ttl: Int, _ subscription: PushSubscriptionRequest
    ) async -> Outcome {
        let request: HTTPClientRequest
        do {
            request = try self.request(waiting, ttl: ttl, subscription)
        } catch {
            return .refused
        }
        do {
            let response = try await origins.execute(request)
            _ = try? await response.body.collect(upTo: 16 << 10)
            let retryAfter = response.headers.first(name: "Retry-After").flatMap { Int($0) }
            switch response.status.code {
            case 200...299: return .sent
            case 404, 410: return .gone
            case 408, 429, 500...599: return .later(seconds: retryAfter.map { min(max(0, $0), 86_400) })
            default:
                logger.warning("A push service refused a message.", metadata: ["status": "\(response.status.code)"])
                return .refused
            }
        } catch is WebPushError {
            return .refused
        } catch is PushRefused {
            logger.warning("A push service has a private address; see --allow-private-push.")
            return .refused
        } catch {
            return .later(seconds: nil)
        }
    }

    private func request(
        _ waiting: Waiting, ttl: Int, _ subscription: PushSubscriptionRequest
    ) throws -> HTTPClientRequest {
        let message = waiting.message
        let recipient = try PushRecipient(p256dh: subscription.keys.p256dh, auth: subscription.keys.auth)
        let declarative = subscription.fallback.flatMap { DeclarativePush($0, payload: message.payload) }
        let body =
            if let declarative {
                try MessageEncryption.encrypt(
                    declarative.bytes, for: recipient, paddedTo: Self.paddedDeclarativeLength)
            } else {
                try MessageEncryption.encrypt(message.payload, for: recipient, paddedTo: Self.paddedLength)
            }
        var request = HTTPClientRequest(url: subscription.endpoint)
        request.method = .POST
        request.headers.add(name: "Authorization", value: try authorization(for: subscription.endpoint))
        request.headers.add(name: "Content-Encoding", value: "aes128gcm")
        request.headers.add(name: "Content-Type", value: "application/octet-stream")
        request.headers.add(name: "TTL", value: String(ttl))
        request.headers.add(name: "Urgency", value: message.urgency.rawValue)
        if let topic = message.topic {
            request.headers.add(name: "Topic", value: Self.topic(topic, from: waiting.sender))
        }
        request.body = .bytes(ByteBuffer(bytes: body))
        return request
    }

    /// Each service gets a new token every hour; a token is valid for twelve.
    private func authorization(for endpoint: String) throws -> String {
        let origin = try ApplicationServerKey.origin(of: endpoint, allowsPlain: settings.allowsPrivateAddresses)
        let now = time.elapsed()
        if let known = state.withLock({ $0.tokens[origin] }), known.until > now { return known.header }
        let header = try key.authorization(
            for: origin, contact: settings.contact, expires: time.seconds() + 12 * 3_600)
        state.withLock { state in
            if state.tokens.count > 256 { state.tokens = [:] }
            state.tokens[origin] = (header, now + .seconds(3_600))
        }
        return header
    }
}
