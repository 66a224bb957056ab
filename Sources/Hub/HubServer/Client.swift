import Glibc
import HTTPTypes
import Hummingbird
import NIOCore

/// The sender of a request, as far as the network identifies it.
struct Client: Sendable {
    /// Nil for a peer of a Unix socket whose address no trusted proxy reports.
    let address: IPAddress?
    /// Whether the request is from a program on this machine, without a proxy and not from a web page.
    let isLocal: Bool

    /// The key under which the limits of an address are counted.
    var countedAs: [UInt8] { address?.countedAs ?? [] }

    init(peer: SocketAddress?, request: HTTPRequest, trustedProxies: [AddressRange]) {
        let direct = peer.flatMap(IPAddress.init(socket:))
        let fields = request.headerFields
        let isForwarded = Self.forwarding.contains { fields[$0] != nil }
        let isTrusted = trustedProxies.contains { range in direct.map(range.contains) ?? range.isUnixSocket }
        address = isTrusted && isForwarded ? Self.forwarded(fields, trustedProxies) ?? direct : direct
        // A page in a browser on this machine can send requests too. Those have an origin, or, with DNS rebinding, a
        // host that isn't this machine's.
        isLocal =
            !isForwarded && fields[.origin] == nil && (direct?.isLoopback ?? true)
            && Self.isLocalName(request.authority)
    }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    private static let forwarding = [
        forwardedFor, HTTPField.Name("Forwarded")!, HTTPField.Name("X-Forwarded-Host")!,
        HTTPField.Name("X-Forwarded-Proto")!, HTTPField.Name("X-Real-IP")!, HTTPField.Name("Via")!,
    ]

    /// The last address that isn't a trusted proxy's. The client may have forged everything before it.
    private static func forwarded(_ fields: HTTPFields, _ trusted: [AddressRange]) -> IPAddress? {
        let named = fields[values: forwardedFor].flatMap { $0.split(separator: ",") }
        var nearest: IPAddress?
        for text in named.reversed() {
            guard let address = IPAddress(text.trimmingWhitespace()) else { return nearest }
            nearest = address
            if !trusted.contains(where: { $0.contains(address) }) { break }
        }
        return nearest
    }

    private static func isLocalName(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty else { return true }
        let host =
            authority.hasPrefix("[") ? authority.prefix { $0 != "]" }.dropFirst() : authority.prefix { $0 != ":" }
        // Clients of a Unix socket may send any host; "applocker" is what the control socket's clients send.
        return host.lowercased() == "localhost" || IPAddress(host)?.isLoopback ?? (host == "applocker")
    }
}

extension IPAddress {
    /// Nil for a Unix socket.
    init?(socket: SocketAddress) {
        switch socket {
        case .v4(let address): self.init(bytes: withUnsafeBytes(of: address.address.sin_addr, Array.init))
        case .v6(let address): self.init(bytes: withUnsafeBytes(of: address.address.sin6_addr, Array.init))
        case .unixDomainSocket: return nil
        }
    }
}

extension StringProtocol {
    /// Removes blanks and tabs at both ends.
    func trimmingWhitespace() -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var text = Substring(self).drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
