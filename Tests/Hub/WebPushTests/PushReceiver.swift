import Crypto
import Foundation
import HubAPI

@testable import WebPush

/// A browser's side of RFC 8291: its subscription, and how it opens messages.
struct PushReceiver {
    let key: P256.KeyAgreement.PrivateKey
    let secret: Data

    init(key: P256.KeyAgreement.PrivateKey = .init(), secret: Data = MessageEncryption.randomSalt()) {
        self.key = key
        self.secret = secret
    }

    var p256dh: String { Base64URL.encode(key.publicKey.x963Representation) }
    var auth: String { Base64URL.encode(secret) }

    func recipient() throws -> PushRecipient { try PushRecipient(p256dh: p256dh, auth: auth) }

    struct Malformed: Error {}

    /// One record with any padding.
    func open(_ body: Data) throws -> Data {
        let body = Data(body)
        guard body.count > 86, body[20] == 65 else { throw Malformed() }
        let sender = try P256.KeyAgreement.PublicKey(x963Representation: body[21..<86])
        let keys = try MessageEncryption.keys(
            shared: key.sharedSecretFromKeyAgreement(with: sender), secret: secret, receiver: key.publicKey,
            sender: sender, salt: body.prefix(16))
        let box = try AES.GCM.SealedBox(
            nonce: keys.nonce, ciphertext: body[86..<(body.count - 16)], tag: body.suffix(16))
        let plaintext = try AES.GCM.open(box, using: keys.key)
        guard let end = plaintext.lastIndex(where: { $0 != 0 }), plaintext[end] == 2 else { throw Malformed() }
        return plaintext[..<end]
    }
}
