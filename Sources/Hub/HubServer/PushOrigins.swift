import AsyncHTTPClient
import BlockingThread
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Synchronization
import WebPush

/// HTTP clients for push services, each fixed to an address that was checked first: a subscription must not direct the
/// hub into its own network.
final class PushOrigins: Sendable {
    private struct Way {
        let client: HTTPClient
        let until: Duration
    }

    /// A subscription's address, its host in lower case.
    struct Endpoint {
        let origin: String
        let host: String
        let url: String
    }

    /// The most clients at once; the oldest is closed for a new one.
    private static let maximum = 32
    /// How long a resolved name is used before it is resolved again.
    private static let lifetime = Duration.seconds(300)

    private let settings: PushSettings
    private let time: any HubTime
    private let addresses: @Sendable (String) -> [String]
    private let ways = Mutex<[String: Way]>([:])

    /// - Parameter addresses: resolves a name to all its addresses; called on a thread of its own.
    init(
        settings: PushSettings, time: any HubTime,
        addresses: @escaping @Sendable (String) -> [String] = { PushOrigins.lookUp($0) }
    ) {
        self.settings = settings
        self.time = time
        self.addresses = addresses
    }

    /// Checks an endpoint without resolving its name.
    /// - Throws: `WebPushError.badEndpoint`.
    func check(_ endpoint: String) throws -> Endpoint {
        let origin = try ApplicationServerKey.origin(of: endpoint, allowsPlain: settings.allowsPrivateAddresses)
        // HTTPClient replaces a name by its checked address only if it is spelled as in the request: ASCII, in lower
        // case, without percent-encoding.
        guard var parts = URLComponents(string: endpoint), let host = parts.encodedHost?.lowercased(),
            !host.contains("%"), parts.fragment == nil
        else { throw WebPushError.badEndpoint }
        parts.encodedHost = host
        guard let url = parts.string else { throw WebPushError.badEndpoint }
        if !settings.allowsPrivateAddresses {
            guard parts.port == nil || parts.port == 443 else { throw WebPushError.badEndpoint }
            let bare = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            if let address = IPAddress(bare) {
                guard address.isPublic else { throw WebPushError.badEndpoint }
            } else {
                // Names without a dot, and those of RFC 6761 and RFC 6762, belong to this machine or this network.
                let isLocal =
                    !host.contains(".")
                    || [".localhost", ".local", ".internal", ".home.arpa"].contains { host.hasSuffix($0) }
                guard !isLocal else { throw WebPushError.badEndpoint }
            }
        }
        return Endpoint(origin: origin, host: host, url: url)
    }

    /// Sends a request to an address of its host that was checked.
    /// - Throws: `WebPushError.badEndpoint`; `PushRefused` if the host has a forbidden address, `PushUnreachable` if it
    ///   has none; an error of the connection.
    func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let endpoint = try check(request.url)
        var request = request
        request.url = endpoint.url
        return try await client(for: endpoint).execute(request, timeout: TimeAmount(settings.timeout))
    }

    private func client(for endpoint: Endpoint) async throws -> HTTPClient {
        let origin = endpoint.origin
        let now = time.elapsed()
        if let way = ways.withLock({ $0[origin] }), way.until > now { return way.client }
        let address = try await resolve(endpoint.host)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(settings.timeout), read: TimeAmount(settings.timeout)))
        configuration.dnsOverride = [endpoint.host: address]
        configuration.connectionPool.idleTimeout = .seconds(60)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let closing = ways.withLock { ways -> [HTTPClient] in
            var closing: [HTTPClient] = []
            if let old = ways[origin] { closing.append(old.client) }
            if ways.count >= Self.maximum, ways[origin] == nil,
                let oldest = ways.min(by: { $0.value.until < $1.value.until })
            {
                closing.append(oldest.value.client)
                ways[oldest.key] = nil
            }
            ways[origin] = Way(client: client, until: now + Self.lifetime)
            return closing
        }
        for old in closing { close(old, after: settings.timeout) }
        return client
    }

    func end() async {
        let all = ways.withLock { ways in
            defer { ways = [:] }
            return ways.values.map(\.client)
        }
        for client in all { try? await client.shutdown() }
    }

    /// Closes the client after a pause, in which requests that still use it can end.
    private func close(_ client: HTTPClient, after pause: Duration) {
        Task {
            try? await Task.sleep(for: pause * 2)
            try? await client.shutdown()
        }
    }

    /// One address of the name, after all of them were checked: a name with any private address is refused.
    private func resolve(_ host: String) async throws -> String {
        let bare = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        let found = await runBlocking { self.addresses(bare) }
        guard let first = found.first else { throw PushUnreachable() }
        let isAllowed = settings.allowsPrivateAddresses || found.allSatisfy { IPAddress($0)?.isPublic ?? false }
        guard isAllowed else { throw PushRefused() }
        return first
    }

    /// getaddrinfo(3) blocks.
    static func lookUp(_ host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [String] = []
        var entry = list
        while let current = entry?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(
                current.ai_addr, current.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            {
                found.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            entry = current.ai_next
        }
        return found
    }
}

/// The push service's name has no address at present.
struct PushUnreachable: Error {}

/// The push service has an address that this hub must not connect to.
struct PushRefused: Error {}
