import Crypto
import Foundation
import HubAPI

/// A hub operator's invitation to found one household there, authenticated with the hub's registration token: made without
/// the hub, used once. docs/hub-protocol.md, "Invitations to found a household".
public struct StartInvitation: Sendable {
    /// Seconds, 30 days. No invitation is valid for longer.
    public static let longestLifetime: UInt64 = 30 * 86_400

    /// Random.
    public let id: ItemID
    /// Seconds since 1970.
    public let expires: UInt64
    /// 32 bytes.
    private let mac: [UInt8]

    private static let version: UInt8 = 1

    /// - Parameters:
    ///   - expires: seconds since 1970.
    ///   - token: the hub's registration token.
    public init(id: ItemID = .random(), expires: UInt64, token: String) {
        self.id = id
        self.expires = expires
        mac = Array(
            HMAC<SHA256>.authenticationCode(for: Self.message(id, expires), using: SymmetricKey(data: Data(token.utf8)))
        )
    }

    /// Reads the part of a link after `#start=`. Nothing is authenticated yet.
    /// - Throws: `SealedFormatsError` with code `malformed` or `unknownVersion`.
    public init(text: String) throws(SealedFormatsError) {
        // The longest text that is decoded; a valid one has 76 characters.
        guard text.utf8.count <= 128, let bytes = Base64URL.decode(text) else {
            throw SealedFormatsError(.malformed, "This is not a link of `applocker-hub invite`; copy the whole link.")
        }
        var reader = ByteReader([UInt8](bytes), subject: "start link")
        guard try reader.number(UInt8.self) == Self.version else {
            throw SealedFormatsError(
                .unknownVersion, "The start link was made by a newer hub; ask for another one.")
        }
        id = try reader.id()
        expires = try reader.number()
        mac = try reader.bytes(SHA256.byteCount)
        try reader.end()
    }

    /// Whether a holder of the token made it. In constant time.
    public func isAuthentic(token: String) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(
            mac, authenticating: Self.message(id, expires), using: SymmetricKey(data: Data(token.utf8)))
    }

    /// The part of a link after `#start=`: 76 characters of base64url.
    public var text: String { Base64URL.encode([Self.version] + id.bytes + expires.bigEndianBytes + mac) }

    private static let mark = "/#start="

    /// - Parameter address: the hub's, "https://hub.example".
    public func link(address: String) -> String { address + Self.mark + text }

    /// The part of a link after `#start=`; nil for any other text.
    public static func text(ofLink link: String) -> String? {
        link.range(of: mark).map { String(link[$0.upperBound...]) }
    }

    private static func message(_ id: ItemID, _ expires: UInt64) -> Data {
        var fields = Fields("applocker/1/start")
        fields.add(id.bytes)
        fields.add(expires)
        return Data(fields.bytes)
    }
}
