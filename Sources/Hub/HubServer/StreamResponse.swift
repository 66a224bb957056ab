import Foundation
import HTTPTypes
import HubAPI
import HubStore
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization

extension HubService {
    /// Server-sent events to one device: the records after its number, then `live`, then new events.
    ///
    /// This task writes the stored records at the client's pace. Then the connection's own handler continues, and the
    /// task sleeps until the stream ends.
    func stream(_ request: HubRequest, token: String, context: HubContext) throws -> Response {
        let after = try Self.beginning(of: request)
        let device = try request.knownDevice()
        let entry = try streams.enter(device, context.channel.eventLoop)
        let lease = StreamLease(streams: streams, entry: entry)
        let channel = context.channel
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store",
                // Without it nginx would buffer the events.
                HTTPField.Name("X-Accel-Buffering")!: "no",
            ],
            body: .init { [self] writer in
                defer { lease.end() }
                let end = try await run(
                    entry, after: after, token: token, client: request.client, channel: channel, writer: &writer)
                recordLastSeen(device)
                switch end {
                case .revoked, .hubEnds: try await writer.finish(nil)
                case .closed, .tooSlow, .replayAgain: throw StreamClosed()
                }
            })
    }

    private static func beginning(of request: HubRequest) throws -> UInt64 {
        if let text = request.headers[HTTPField.Name("Last-Event-ID")!], !text.isEmpty {
            return try HubRequest.number(text, "Last-Event-ID")
        }
        return try request.number("after", default: 0)
    }

    private func run(
        _ entry: StreamHub.Entry, after: UInt64, token: String, client: Client, channel: any Channel,
        writer: inout any ResponseBodyWriter
    ) async throws -> StreamEnd {
        let (topic, loop, device) = (entry.topic, entry.loop, entry.device)
        // The device may have been revoked before the topic contained this stream.
        guard let hash = Self.hash(token: token), try await store.device(tokenHash: hash)?.state == .active else {
            return .revoked
        }
        var position = try await loop.eventLoop.submit { loop.enter(topic.household).end }.get()
        var isReplaying = true
        defer {
            if isReplaying { loop.eventLoop.execute { loop.endReplay(topic.household) } }
        }
        try await streams.settle(topic)
        var cursor = after
        while !topic.isEnded(device.id) {
            cursor = try await replay(
                topic, device, after: cursor, client: client, channel: channel, writer: &writer)
            // From here on the ring counts this stream as a member.
            isReplaying = false
            let joined = await withCheckedContinuation { (ended: CheckedContinuation<StreamEnd, Never>) in
                let (position, cursor) = (position, cursor)
                loop.eventLoop.execute {
                    loop.join(
                        device, topic, channel: channel, position: position, sequence: cursor, whenEnded: ended)
                }
            }
            guard joined == .replayAgain else { return joined }
            isReplaying = true
            position = try await loop.eventLoop.submit { loop.enter(topic.household).end }.get()
        }
        return isAboutToEnd ? .hubEnds : .revoked
    }

    private static let (replayRecords, replayBytes) = (512, 1 << 20)

    /// One page at a time is in memory, and reserved until the client has received most of it.
    /// - Returns: the number up to which everything was sent.
    private func replay(
        _ topic: StreamTopic, _ device: StoredDevice, after: UInt64, client: Client, channel: any Channel,
        writer: inout any ResponseBodyWriter
    ) async throws -> UInt64 {
        var cursor = after
        while !topic.isEnded(device.id) {
            let share = budget.share(of: topic.household, for: client)
            let bytes = try await store.recordBytes(
                of: topic.household, after: cursor, limit: Self.replayRecords,
                maximumBytes: Self.replayBytes)
            guard (try? share.growToEncode(bytes)) != nil else {
                // Other answers have the memory; refusing would only make the client connect again.
                guard channel.isActive else { throw StreamClosed() }
                try await time.sleep(for: .seconds(1))
                continue
            }
            let page = try await eventPage(of: topic.household, after: cursor)
            if page.events.readableBytes > 0 {
                share.shrink(to: page.events.storageCapacity)
                try await writer.write(page.events)
                try await channel.untilWritable()
            }
            withExtendedLifetime(share) {}
            cursor = max(cursor, page.next)
            guard page.more else { break }
        }
        return cursor
    }

    /// The records after a number as events, without the records themselves.
    private func eventPage(
        of household: HubID, after: UInt64
    ) async throws -> (events: ByteBuffer, next: UInt64, more: Bool) {
        let page = try await metrics.timing("replay") {
            try await store.records(
                of: household, after: after, limit: Self.replayRecords,
                maximumBytes: Self.replayBytes)
        }
        var events = ByteBuffer()
        for record in page.records { events.writeImmutableBuffer(try StreamItem.record(record).bytes) }
        return (events, page.next, page.more)
    }
}

extension Channel {
    /// Returns when the channel holds little of what was written so far.
    /// - Throws: if it closes before.
    func untilWritable() async throws {
        try await withTaskCancellationHandler {
            let promise = eventLoop.makePromise(of: Void.self)
            // Behind the writes, which are executed on the event loop too.
            eventLoop.execute {
                do {
                    try self.pipeline.syncOperations.handler(type: RequestGuard.self).whenWritable(promise)
                } catch {
                    promise.fail(error)
                }
            }
            try await promise.futureResult.get()
        } onCancel: {
            close(promise: nil)
        }
    }
}

extension StreamLoop {
    /// Makes the stream live, if the ring still has everything that arrived during the replay.
    func join(
        _ device: StoredDevice, _ topic: StreamTopic, channel: any Channel, position: UInt64, sequence: UInt64,
        whenEnded: CheckedContinuation<StreamEnd, Never>
    ) {
        defer { endReplay(topic.household) }
        guard let ring = ring(of: topic.household), ring.reaches(back: position) else {
            return whenEnded.resume(returning: .replayAgain)
        }
        guard let connection = try? channel.pipeline.syncOperations.handler(type: RequestGuard.self) else {
            return whenEnded.resume(returning: .closed)
        }
        let member = StreamMember(
            device: device, connection: connection, ring: ring, position: position, sequence: sequence,
            whenEnded: whenEnded)
        guard connection.begin(member) else { return member.ended(.closed) }
        ring.join(member)
        // The device was revoked, or the hub ended, after this task checked and before the ring contained the stream.
        if topic.isEnded(device.id) { member.ended(topic.isRevoked(device.id) ? .revoked : .hubEnds) }
    }
}

/// Uncounts the stream however it ends, also if its response was never written.
final class StreamLease: Sendable {
    private let streams: StreamHub
    private let entry: StreamHub.Entry
    private let isOver = Atomic<Bool>(false)

    init(streams: StreamHub, entry: StreamHub.Entry) {
        self.streams = streams
        self.entry = entry
    }

    func end() {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        streams.leave(entry)
    }

    deinit { end() }
}

/// The connection of a stream is closed; nothing more can be written.
struct StreamClosed: Error {}
