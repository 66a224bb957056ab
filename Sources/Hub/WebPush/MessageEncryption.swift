public import Crypto
public import Foundation
import HubAPI

/// The recipient of a push message: the keys of a browser's subscription (RFC 8291 section 3.1).
public struct PushRecipient: Sendable {
    let publicKey: P256.KeyAgreement.PublicKey
    let secret: Data

    /// - Parameters:
    ///   - p256dh: base64url without padding, 65 bytes X9.63.
    ///   - auth: base64url without padding, 16 bytes.
    /// - Throws: `WebPushError`.
    public init(p256dh: String, auth: String) throws(WebPushError) {
        guard let point = Base64URL.decode(p256dh), point.count == 65,
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: point)
        else { throw .badPublicKey }
        guard let secret = Base64URL.decode(auth), secret.count == 16 else { throw .badSecret }
        publicKey = key
        self.secret = secret
    }
}

/// Message encryption for Web Push (RFC 8291) in the content encoding aes128gcm (RFC 8188), one record a message.
public enum MessageEncryption {
    /// The largest body that every push service accepts, in bytes (RFC 8030 section 7.2).
    public static let maximumBodyBytes = 4_096
    /// Salt, record size, length and key of the sender, in bytes.
    static let headerBytes = 16 + 4 + 1 + 65
    /// The rest is for the delimiter of the last record and AES-GCM's tag.
    public static let maximumPlaintextBytes = maximumBodyBytes - headerBytes - 1 - 16

    /// The body of the request to the push service.
    ///
    /// - Parameters:
    ///   - paddedTo: shorter messages are padded with zeros to this length, so that the push service can't see theirs.
    ///   - sender: a fresh key for every message, except for published examples.
    ///   - salt: 16 fresh random bytes, except for published examples.
    /// - Throws: `WebPushError.tooLong`; CryptoKit's own errors if the keys don't match.
    public static func encrypt(
        _ message: Data, for recipient: PushRecipient, paddedTo length: Int = 0,
        sender: P256.KeyAgreement.PrivateKey = .init(), salt: Data = randomSalt()
    ) throws -> Data {
        let padding = max(0, length - message.count)
        guard message.count + padding <= maximumPlaintextBytes else {
            throw WebPushError.tooLong(bytes: message.count + padding)
        }
        let sealing = try keys(
            shared: sender.sharedSecretFromKeyAgreement(with: recipient.publicKey), secret: recipient.secret,
            receiver: recipient.publicKey, sender: sender.publicKey, salt: salt)
        // RFC 8188 section 2: delimiter 2 for the last record, then zeros.
        let plaintext = message + [2] + Data(count: padding)
        let box = try AES.GCM.seal(plaintext, using: sealing.key, nonce: sealing.nonce)
        var body = salt
        body.append(contentsOf: withUnsafeBytes(of: UInt32(maximumBodyBytes).bigEndian, Array.init))
        let point = sender.publicKey.x963Representation
        body.append(UInt8(point.count))
        body.append(point)
        body.append(box.ciphertext)
        body.append(box.tag)
        return body
    }

    /// 16 bytes.
    public static func randomSalt() -> Data {
        SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
    }

    /// Key and nonce of the only record (RFC 8291 section 3.4, RFC 8188 section 2.2 and 2.3; the record's number is 0).
    static func keys(
        shared: SharedSecret, secret: Data, receiver: P256.KeyAgreement.PublicKey, sender: P256.KeyAgreement.PublicKey,
        salt: Data
    ) throws -> (key: SymmetricKey, nonce: AES.GCM.Nonce) {
        let exchanged = HKDF<SHA256>.extract(
            inputKeyMaterial: shared.withUnsafeBytes { SymmetricKey(data: $0) }, salt: secret)
        let info = Data("WebPush: info\0".utf8) + receiver.x963Representation + sender.x963Representation
        let material = HKDF<SHA256>.expand(pseudoRandomKey: exchanged, info: info, outputByteCount: 32)
        let pseudoRandomKey = HKDF<SHA256>.extract(inputKeyMaterial: material, salt: salt)
        let key = HKDF<SHA256>.expand(
            pseudoRandomKey: pseudoRandomKey, info: Data("Content-Encoding: aes128gcm\0".utf8), outputByteCount: 16)
        let nonce = HKDF<SHA256>.expand(
            pseudoRandomKey: pseudoRandomKey, info: Data("Content-Encoding: nonce\0".utf8), outputByteCount: 12)
        return (key, try nonce.withUnsafeBytes { try AES.GCM.Nonce(data: $0) })
    }
}
