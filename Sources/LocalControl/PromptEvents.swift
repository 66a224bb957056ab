import AsyncHTTPClient
import Foundation
import NIOCore
public import WireProtocol

/// The events of `GET /v1/prompts`, decoded from server-sent events (WHATWG HTML, section 9.2.6). Comments and
/// unknown fields are passed over.
public struct PromptEvents: AsyncSequence, Sendable {
    public typealias Element = PromptEvent

    let body: HTTPClientResponse.Body

    public func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        var chunks: HTTPClientResponse.Body.AsyncIterator
        var pending: [UInt8] = []
        /// The longest line that is kept, in bytes: a daemon that sends more is not this daemon.
        static let maximumLineBytes = 1 << 20

        /// - Throws: `ControlClientError.notUnderstood` for a line that is no event of this version.
        public mutating func next() async throws -> PromptEvent? {
            while true {
                while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = pending[..<end]
                    let event = try Self.decode(line)
                    pending.removeSubrange(...end)
                    if let event { return event }
                }
                guard pending.count <= Self.maximumLineBytes else {
                    throw ControlClientError.notUnderstood(cause: "an endless line")
                }
                guard let chunk = try await chunks.next() else { return nil }
                pending.append(contentsOf: chunk.readableBytesView)
            }
        }

        private static func decode(_ line: ArraySlice<UInt8>) throws -> PromptEvent? {
            guard line.starts(with: Array("data: ".utf8)) else { return nil }
            do {
                return try JSONDecoder().decode(PromptEvent.self, from: Data(line.dropFirst(6)))
            } catch {
                throw ControlClientError.notUnderstood(cause: "\(error)")
            }
        }
    }
}
