import Foundation
import HTTPTypes
import HubStore
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization
import WireProtocol

extension HubService {
    /// Server-sent events to one device: what is stored after its number, then `live`, then what comes.
    ///
    /// What is stored is written by this task, at the client's pace; then the connection's own handler takes over, and the
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
                // nginx would gather the events otherwise.
                HTTPField.Name("X-Accel-Buffering")!: "no",
            ],
            body: .init { [self] writer in
                defer { lease.end() }
                let end = try await run(entry, after: after, token: token, channel: channel, writer: &writer)
                noteSeen(device)
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
        _ entry: StreamHub.Entry, after: UInt64, token: String, channel: any Channel,
        writer: inout any ResponseBodyWriter
    ) async throws -> StreamEnd {
        let (topic, loop, device) = (entry.topic, entry.loop, entry.device)
        // Whoever was revoked before the topic knew of this stream is not found any more.
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
            cursor = try await replay(topic, device, after: cursor, writer: &writer)
            // From here on the ring counts this stream as one of its members.
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

    /// - Returns: the number up to which everything was sent.
    private func replay(
        _ topic: StreamTopic, _ device: StoredDevice, after: UInt64, writer: inout any ResponseBodyWriter
    ) async throws -> UInt64 {
        var cursor = after
        while !topic.isEnded(device.id) {
            let page = try await metrics.timing("replay") {
                try await store.records(
                    of: topic.household, after: cursor, collection: nil, limit: 512, maximumBytes: 1 << 20)
            }
            if !page.records.isEmpty {
                var bytes = ByteBuffer()
                for record in page.records { bytes.writeImmutableBuffer(try StreamItem.record(record).bytes) }
                try await writer.write(bytes)
            }
            cursor = max(cursor, page.next)
            guard page.more else { break }
        }
        return cursor
    }
}

extension StreamLoop {
    /// The stream is live from now on, where what came while it was sent what is stored is still here.
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
            device: device, connection: connection, eventLoop: eventLoop, ring: ring, position: position,
            sequence: sequence, whenEnded: whenEnded)
        guard connection.begin(member) else { return member.ended(.closed) }
        ring.join(member)
        // Ended after this task looked, and before the ring knew of it.
        if topic.isEnded(device.id) { member.ended(topic.isRevoked(device.id) ? .revoked : .hubEnds) }
    }
}

/// Ends the stream's count however it ends, also where its answer was never written.
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

/// The connection of a stream is closed: there is nothing more to write.
struct StreamClosed: Error {}
