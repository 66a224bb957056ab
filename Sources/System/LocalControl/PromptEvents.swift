import AsyncHTTPClient
public import ControlAPI
import Foundation
import NIOCore

/// Of `GET /v1/prompts`.
public typealias PromptEvents = ControlEvents<PromptEvent>

/// Of `GET /v1/session`.
public typealias SessionEvents = ControlEvents<SessionEvent>

/// The events of one of the daemon's streams, decoded from server-sent events (WHATWG HTML, section 9.2.6). Comments
/// and unknown fields are passed over.
public struct ControlEvents<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    let body: HTTPClientResponse.Body

    public func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        var chunks: HTTPClientResponse.Body.AsyncIterator
        var pending: [UInt8] = []
        /// The longest line that is kept, in bytes: a daemon that sends more is not this daemon.
        static var maximumLineBytes: Int { 1 << 20 }

        /// - Throws: `ControlClientError.notUnderstood` for a line that is no event of this version.
        public mutating func next() async throws -> Element? {
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

        private static func decode(_ line: ArraySlice<UInt8>) throws -> Element? {
            guard line.starts(with: Array("data: ".utf8)) else { return nil }
            do {
                return try JSONDecoder().decode(Element.self, from: Data(line.dropFirst(6)))
            } catch {
                throw ControlClientError.notUnderstood(cause: "\(error)")
            }
        }
    }
}
