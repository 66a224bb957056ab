import Crypto
import Foundation
import HubAPI
import Testing

@testable import WebPush

/// RFC 8291 and RFC 8292, by their own example and by invalid input.
struct MessageEncryptionTests {
    private struct Example: Decodable {
        let plaintext: String
        let senderPrivate: String
        let senderPublic: String
        let receiverPrivate: String
        let receiverPublic: String
        let auth: String
        let salt: String
        let body: String
    }

    private func example() throws -> Example {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Vectors/web-push.json")
        return try JSONDecoder().decode(Example.self, from: Data(contentsOf: file))
    }

    private func bytes(_ text: String) throws -> Data { try #require(Base64URL.decode(text)) }

    @Test func theRFCsExampleIsReproducedByteForByte() throws {
        let example = try example()
        let sender = try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(example.senderPrivate))
        #expect(sender.publicKey.x963Representation == (try bytes(example.senderPublic)))
        let recipient = try PushRecipient(p256dh: example.receiverPublic, auth: example.auth)
        let body = try MessageEncryption.encrypt(
            bytes(example.plaintext), for: recipient, sender: sender, salt: bytes(example.salt))
        #expect(Base64URL.encode(body) == example.body)

        let receiver = PushReceiver(
            key: try .init(rawRepresentation: bytes(example.receiverPrivate)), secret: try bytes(example.auth))
        #expect(receiver.p256dh == example.receiverPublic)
        #expect(
            String(decoding: try receiver.open(bytes(example.body)), as: UTF8.self)
                == "When I grow up, I want to be a watermelon")
    }

    @Test func everyMessageHasTheSameLength() throws {
        let receiver = PushReceiver()
        for length in [0, 1, 100, 3_071, 3_072] {
            let message = Data((0..<length).map { UInt8(truncatingIfNeeded: $0) })
            let body = try MessageEncryption.encrypt(message, for: receiver.recipient(), paddedTo: 3_072)
            #expect(body.count == 86 + 3_072 + 1 + 16)
            #expect(try receiver.open(body) == message)
        }
    }

    @Test func aMessageThatNoPushServiceAcceptsIsRefused() throws {
        let recipient = try PushReceiver().recipient()
        let longest = MessageEncryption.maximumPlaintextBytes
        #expect(try MessageEncryption.encrypt(Data(count: longest), for: recipient).count == 4_096)
        #expect(throws: WebPushError.tooLong(bytes: longest + 1)) {
            try MessageEncryption.encrypt(Data(count: longest + 1), for: recipient)
        }
    }

    @Test func messagesAreUniqueAndOpenOnlyWithTheirOwnKeys() throws {
        let (one, other) = (PushReceiver(), PushReceiver())
        let message = Data("the same".utf8)
        let bodies = try (0..<8).map { _ in try MessageEncryption.encrypt(message, for: one.recipient()) }
        #expect(Set(bodies).count == 8)
        #expect(throws: (any Error).self) { try other.open(bodies[0]) }
        for index in [0, 16, 25, 86, bodies[0].count - 1] {
            var changed = bodies[0]
            changed[index] ^= 1
            if index == 16 { continue }  // the record size does not matter for a single record
            #expect(throws: (any Error).self) { try one.open(changed) }
        }
    }

    @Test func invalidKeysAreRefused() throws {
        let good = PushReceiver()
        #expect(throws: WebPushError.badPublicKey) { try PushRecipient(p256dh: "", auth: good.auth) }
        #expect(throws: WebPushError.badPublicKey) { try PushRecipient(p256dh: good.p256dh + "=", auth: good.auth) }
        // A point that is not on the curve.
        let nowhere = Base64URL.encode([4] + [UInt8](repeating: 1, count: 64))
        #expect(throws: WebPushError.badPublicKey) { try PushRecipient(p256dh: nowhere, auth: good.auth) }
        let compressed = Base64URL.encode(good.key.publicKey.compressedRepresentation)
        #expect(throws: WebPushError.badPublicKey) { try PushRecipient(p256dh: compressed, auth: good.auth) }
        #expect(throws: WebPushError.badSecret) {
            try PushRecipient(p256dh: good.p256dh, auth: Base64URL.encode([UInt8](repeating: 0, count: 15)))
        }
        #expect(throws: WebPushError.badPrivateKey) { try ApplicationServerKey(rawRepresentation: Data(count: 32)) }
    }

    @Test func base64URLIsCanonical() {
        for count in 0..<70 {
            let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) })
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        for bad in ["a", "ab=", "+A", "/A", "AB\n", "AB ", "AR", "é"] {
            #expect(Base64URL.decode(bad) == nil, "\(bad)")
        }
    }

    @Test func aTokenIsValidOnlyForItsService() throws {
        let key = ApplicationServerKey()
        let header = try key.authorization(
            for: "https://Push.example.com:8443/send/abc?x=1", contact: "mailto:a@example.org", expires: 1_000)
        let token = try #require(header.split(separator: "t=").last?.split(separator: ",").first)
        let parts = token.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        #expect(String(decoding: try bytes(parts[0]), as: UTF8.self) == #"{"typ":"JWT","alg":"ES256"}"#)
        #expect(
            String(decoding: try bytes(parts[1]), as: UTF8.self)
                == #"{"aud":"https://push.example.com:8443","exp":1000,"sub":"mailto:a@example.org"}"#)
        #expect(header.hasSuffix("k=" + key.publicKey))
        let signing = try P256.Signing.PublicKey(x963Representation: bytes(key.publicKey))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes(parts[2]))
        #expect(signing.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8)))
    }

    @Test func onlyAnHTTPSAddressWithAHostIsAnEndpoint() throws {
        #expect(try ApplicationServerKey.origin(of: "https://a.example/x") == "https://a.example")
        #expect(try ApplicationServerKey.origin(of: "https://a.example:443/x") == "https://a.example")
        #expect(try ApplicationServerKey.origin(of: "http://a.example:80/x", allowsPlain: true) == "http://a.example")
        for bad in ["http://a.example/", "https:///x", "https://u:p@a.example/", "ftp://a.example", "a.example", ""] {
            #expect(throws: WebPushError.badEndpoint, "\(bad)") { try ApplicationServerKey.origin(of: bad) }
        }
    }
}
