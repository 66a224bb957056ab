import AsyncHTTPClient
import Foundation
import HubAPI
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

/// A device's open stream and everything that it received.
final class EventStream: Sendable {
    private struct Received {
        var bytes: [UInt8] = []
        /// The bytes that were parsed.
        var parsed = 0
        var events: [Event] = []
        var comments = 0
        var isOver = false
    }

    private let received = Mutex(Received())
    private let task: Mutex<Task<Void, Never>?> = Mutex(nil)

    /// - Throws: `Refused` for any status except 200.
    init(_ hub: HubUnderTest, _ device: TestDevice, after: UInt64? = nil, lastEventID: UInt64? = nil) async throws {
        var request = HTTPClientRequest(
            url: "\(hub.scheme)://\(hub.host):\(hub.port)/v1/stream" + (after.map { "?after=\($0)" } ?? ""))
        request.headers.add(name: "Authorization", value: "Bearer \(HubUnderTest.text(device.token))")
        if let lastEventID { request.headers.add(name: "Last-Event-ID", value: String(lastEventID)) }
        let response = try await hub.client.execute(request, deadline: .distantFuture)
        guard response.status == .ok else {
            _ = try? await response.body.collect(upTo: 1 << 20)
            throw Refused(status: Int(response.status.code))
        }
        let reading = Task {
            do {
                for try await part in response.body { received.withLock { Self.take(part, &$0) } }
            } catch {}
            received.withLock { $0.isOver = true }
        }
        task.withLock { $0 = reading }
    }

    struct Refused: Error { let status: Int }

    deinit { task.withLock { $0?.cancel() } }

    func close() { task.withLock { $0?.cancel() } }

    var text: String { String(decoding: received.withLock { $0.bytes }, as: UTF8.self) }

    /// The complete events.
    var events: [Event] { received.withLock { $0.events } }

    /// The number of keep-alive lines.
    var comments: Int { received.withLock { $0.comments } }

    struct Event: Equatable {
        var name = ""
        var id: UInt64?
        var data = ""

        init(_ block: String) {
            for line in block.split(separator: "\n") {
                if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
                if line.hasPrefix("id: ") { id = UInt64(line.dropFirst(4)) }
                if line.hasPrefix("data: ") { data = String(line.dropFirst(6)) }
            }
        }
    }

    private static func take(_ part: ByteBuffer, _ received: inout Received) {
        received.bytes += Array(part.readableBytesView)
        var start = received.parsed
        var index = max(start, received.bytes.count - part.readableBytes - 1)
        while index + 1 < received.bytes.count {
            guard received.bytes[index] == 10, received.bytes[index + 1] == 10 else {
                index += 1
                continue
            }
            let block = String(decoding: received.bytes[start..<index], as: UTF8.self)
            if block.hasPrefix(":") { received.comments += 1 } else { received.events.append(Event(block)) }
            start = index + 2
            index = start
        }
        received.parsed = start
    }

    /// Sequence numbers of the records, in order of arrival.
    var numbers: [UInt64] { events.filter { $0.name == "record" || $0.name == "large" }.compactMap(\.id) }

    func wait(for name: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        await eventually("event \(name)", sourceLocation: sourceLocation) { events.contains { $0.name == name } }
    }

    func wait(forNumber number: UInt64, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        await eventually("record \(number)", sourceLocation: sourceLocation) { numbers.contains(number) }
    }

    func waitForEnd(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        await eventually("the end of the stream", sourceLocation: sourceLocation) { received.withLock { $0.isOver } }
    }
}
