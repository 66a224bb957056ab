import Crypto
import Foundation
import TestSupport
import Testing

@testable import SealedFormats

/// Published vectors, for the functions that the formats use.
struct PublishedVectorTests {
    struct File<Vector: Decodable>: Decodable { let vectors: [Vector] }

    struct Sealed: Decodable {
        let key: String
        let iv: String
        let aad: String
        let msg: String
        let ct: String
        let tag: String
        let result: String

        /// Whether it opens and seals as the vector states, or is refused.
        func holds() -> Bool {
            let key = SymmetricKey(data: bytes(hex: key))
            let (nonce, data) = (bytes(hex: iv), bytes(hex: aad))
            let sealed = bytes(hex: ct + tag)
            let opened = GCM.open(sealed, key: key, nonce: nonce, data: data).map { Array($0) }
            guard result == "valid" else { return opened == nil }
            let sealedAgain = Array(GCM.seal(bytes(hex: msg), key: key, nonce: nonce, data: data))
            return opened == bytes(hex: msg) && sealedAgain == sealed
        }
    }

    @Test(arguments: [("nist_aes_gcm.json", 298, 100), ("wycheproof_aes_gcm.json", 66, 27)])
    func sealingIsAES256GCM(_ file: String, count: Int, invalid: Int) throws {
        let vectors = try Vectors.load(file, as: File<Sealed>.self).vectors
        #expect(vectors.count == count)
        #expect(vectors.filter { $0.result == "invalid" }.count == invalid)
        for (index, vector) in vectors.enumerated() { #expect(vector.holds(), "\(index)") }
    }

    struct Derived: Decodable {
        let material: String
        let salt: String
        let info: String
        let length: Int
        let output: String
    }

    @Test func committedKeysAreDerivedByHKDF() throws {
        let vectors = try Vectors.load("rfc5869_hkdf_sha256.json", as: File<Derived>.self).vectors
        #expect(vectors.count == 3)
        for vector in vectors {
            let derived = CommittedKey(
                secret(hex: vector.material), salt: bytes(hex: vector.salt), info: bytes(hex: vector.info))
            let output = derived.key.withUnsafeBytes { Array($0) } + derived.commitment + derived.noncePrefix
            // Output of another length has the same prefix.
            #expect(output.prefix(vector.length) == bytes(hex: vector.output).prefix(71))
        }
    }

    struct HPKEContext: Decodable {
        struct Encryption: Decodable {
            let aad: String
            let ct: String
            let pt: String
        }
        let info: String
        let skRm: String
        let pkRm: String
        let enc: String
        let encryptions: [Encryption]
    }

    /// Only the first message of the context, because a box contains one.
    @Test func boxesAreHPKE() throws {
        let vectors = try Vectors.load("rfc9180_p256.json", as: File<HPKEContext>.self).vectors
        #expect(vectors.count == 1)
        for vector in vectors {
            let keys = try BoxKeyPair(privateKey: secret(hex: vector.skRm))
            #expect(keys.publicKey.bytes == bytes(hex: vector.pkRm))
            let message = try #require(vector.encryptions.first)
            let opened = try PublicKeyBox.openMessage(
                bytes(hex: message.ct), encapsulatedKey: bytes(hex: vector.enc), info: Data(bytes(hex: vector.info)),
                data: bytes(hex: message.aad), with: keys)
            #expect(Array(opened) == bytes(hex: message.pt))
        }
    }

    struct Signed: Decodable {
        let tcId: Int
        let comment: String
        let publicKey: String
        let msg: String
        let sig: String
        let result: String
    }

    @Test func signaturesAreECDSAWithP256() throws {
        let vectors = try Vectors.load("wycheproof_ecdsa_p256.json", as: File<Signed>.self).vectors
        #expect(vectors.count == 252)
        for vector in vectors {
            let key = try DevicePublicKey(bytes: bytes(hex: vector.publicKey))
            let isValid = key.isSignature(bytes(hex: vector.sig), over: bytes(hex: vector.msg))
            #expect(isValid == (vector.result == "valid"), "\(vector.tcId): \(vector.comment)")
        }
    }

    struct Point: Decodable {
        let tcId: Int
        let comment: String
        let `public`: String
        let result: String
    }

    /// Only uncompressed points: Wycheproof's "acceptable" results are compressed points.
    @Test func onlyUncompressedPointsOfTheCurveAreKeys() throws {
        let vectors = try Vectors.load("wycheproof_p256_points.json", as: File<Point>.self).vectors
        #expect(vectors.count == 65)
        for vector in vectors {
            let code = try refusal { try BoxPublicKey(bytes: bytes(hex: vector.public)) }
            #expect(code == (vector.result == "valid" ? nil : .malformed), "\(vector.tcId): \(vector.comment)")
        }
    }
}
