import Glibc
import HTTPTypes
import Hummingbird
import NIOCore

/// Who is at the other end of a request, as far as the network says.
struct Client: Sendable {
    /// Nil for a peer of a Unix socket that no trusted proxy names.
    let address: IPAddress?
    /// A program on this machine, speaking for itself: no proxy in between, and no page in a browser.
    let isLocal: Bool

    /// Whom the limits of an address are counted for.
    var countedAs: [UInt8] { address?.countedAs ?? [] }

    init(peer: SocketAddress?, request: HTTPRequest, trustedProxies: [AddressRange]) {
        let direct = peer.flatMap(IPAddress.init(socket:))
        let fields = request.headerFields
        let isForwarded = Self.forwarding.contains { fields[$0] != nil }
        let isTrusted = trustedProxies.contains { range in direct.map(range.contains) ?? range.isUnixSocket }
        address = isTrusted && isForwarded ? Self.forwarded(fields, trustedProxies) ?? direct : direct
        // A page that a browser here shows can make it send requests: they have an origin, or by a name that was made to
        // point here ("DNS rebinding") a host that is not this machine's.
        isLocal =
            !isForwarded && fields[.origin] == nil && (direct?.isLoopback ?? true)
            && Self.isLocalName(request.authority)
    }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    private static let forwarding = [
        forwardedFor, HTTPField.Name("Forwarded")!, HTTPField.Name("X-Forwarded-Host")!,
        HTTPField.Name("X-Forwarded-Proto")!, HTTPField.Name("X-Real-IP")!, HTTPField.Name("Via")!,
    ]

    /// The last address that no trusted proxy has: what stands before it, the client may have written itself.
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
        // The control socket's convention too: a Unix socket's clients name what they like to call it.
        return host.lowercased() == "localhost" || IPAddress(host)?.isLoopback ?? (host == "applocker")
    }
}

extension IPAddress {
    /// Nil for a Unix socket's.
    init?(socket: SocketAddress) {
        switch socket {
        case .v4(let address): self.init(bytes: withUnsafeBytes(of: address.address.sin_addr, Array.init))
        case .v6(let address): self.init(bytes: withUnsafeBytes(of: address.address.sin6_addr, Array.init))
        case .unixDomainSocket: return nil
        }
    }
}

extension StringProtocol {
    /// Without the blanks and tabs around it.
    func trimmingWhitespace() -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var text = Substring(self).drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
