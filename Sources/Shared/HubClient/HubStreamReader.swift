import AsyncHTTPClient
import HubAPI
import NIOCore

/// Reads a hub's stream only as fast as its items are taken: a hub that sends faster fills no memory here.
actor HubStreamReader {
    private var body: HTTPClientResponse.Body.AsyncIterator
    private var parser = HubStreamParser()
    /// In reverse order.
    private var items: [HubStreamItem] = [.open]

    init(_ body: HTTPClientResponse.Body) { self.body = body.makeAsyncIterator() }

    /// For one caller at a time. Nil once the hub has ended the stream.
    /// - Throws: `HubUnreachable` for what no hub sends, and errors of the connection.
    func next() async throws -> HubStreamItem? {
        while items.isEmpty {
            var body = self.body
            guard let chunk = try await body.next(isolation: self) else { return nil }
            self.body = body
            items = try parser.read(chunk.readableBytesView).reversed()
        }
        return items.removeLast()
    }
}
