import Crypto
public import Foundation
import HubAPI

/// The key by which push services identify this hub: VAPID, RFC 8292.
public struct ApplicationServerKey: Sendable {
    private let key: P256.Signing.PrivateKey

    public init() { key = P256.Signing.PrivateKey() }

    /// - Parameter rawRepresentation: 32 bytes, as returned by `rawRepresentation`.
    /// - Throws: `WebPushError.badPrivateKey`.
    public init(rawRepresentation: Data) throws(WebPushError) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: rawRepresentation) else {
            throw .badPrivateKey
        }
        self.key = key
    }

    /// 32 secret bytes: with them anybody can push to every subscription for this key.
    public var rawRepresentation: Data { key.rawRepresentation }

    /// The key for a browser's subscription: 65 bytes X9.63 in base64url without padding.
    public var publicKey: String { Base64URL.encode(key.publicKey.x963Representation) }

    /// The Authorization header for one push service: "vapid t=…,k=…" (RFC 8292 section 3).
    ///
    /// - Parameters:
    ///   - endpoint: of the subscription; the token is valid only for its origin.
    ///   - contact: a `mailto:` or `https:` address of the hub's operator. Some services refuse a token without one.
    ///   - expires: seconds since 1970, at most 24 hours ahead.
    /// - Throws: `WebPushError.badEndpoint`.
    public func authorization(for endpoint: String, contact: String?, expires: Int64) throws -> String {
        let origin = try Self.origin(of: endpoint, allowsPlain: true)
        struct Claims: Encodable {
            let aud: String
            let exp: Int64
            let sub: String?
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let claims = try encoder.encode(Claims(aud: origin, exp: expires, sub: contact))
        let head = Base64URL.encode(Data(#"{"typ":"JWT","alg":"ES256"}"#.utf8))
        let signed = head + "." + Base64URL.encode(claims)
        let signature = try key.signature(for: Data(signed.utf8))
        return "vapid t=\(signed).\(Base64URL.encode(signature.rawRepresentation)),k=\(publicKey)"
    }

    /// "https://host" with the port if it isn't 443 (RFC 6454 section 6.2).
    ///
    /// - Parameter allowsPlain: also accepts http, with the port if it isn't 80.
    /// - Throws: `WebPushError.badEndpoint`.
    public static func origin(of endpoint: String, allowsPlain: Bool = false) throws(WebPushError) -> String {
        guard let parts = URLComponents(string: endpoint), let scheme = parts.scheme?.lowercased(),
            scheme == "https" || (allowsPlain && scheme == "http"), let host = parts.encodedHost, !host.isEmpty,
            parts.user == nil, parts.password == nil
        else { throw .badEndpoint }
        let isUsual = parts.port == nil || parts.port == (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(host.lowercased())" + (isUsual ? "" : ":\(parts.port ?? 0)")
    }
}
