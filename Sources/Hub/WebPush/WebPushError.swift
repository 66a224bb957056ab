/// Why a message could not be made for a push subscription.
public enum WebPushError: Error, Equatable, Sendable, CustomStringConvertible {
    /// `p256dh` is not 65 bytes of an uncompressed point of P-256 in base64url without padding.
    case badPublicKey
    /// `auth` is not 16 bytes in base64url without padding.
    case badSecret
    /// The endpoint is not an https address with a host.
    case badEndpoint
    case tooLong(bytes: Int)
    /// The stored VAPID key is not a private key of P-256.
    case badPrivateKey

    public var description: String {
        switch self {
        case .badPublicKey:
            "The subscription's p256dh is not a public key of P-256 (65 bytes in base64url); subscribe again."
        case .badSecret: "The subscription's auth is not 16 bytes in base64url; subscribe again."
        case .badEndpoint: "The subscription's endpoint is not an https address; subscribe again."
        case .tooLong(let bytes):
            "The message has \(bytes) bytes; a push has at most \(MessageEncryption.maximumPlaintextBytes)."
        case .badPrivateKey: "The stored VAPID key is damaged; remove it, and every device subscribes again."
        }
    }
}
