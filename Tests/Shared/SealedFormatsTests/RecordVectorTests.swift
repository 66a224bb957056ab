import Foundation
import TestSupport
import Testing

@testable import SealedFormats

/// Records, boxes, signatures and the audit chain by an independent implementation.
struct RecordVectorTests {
    struct Envelope: Decodable {
        let name: String
        let record: RecordFields
        let vaultKey: String
        let envelope: String
        let body: String?
        let error: SealedFormatsError.Code?

        func open() throws -> Data {
            try RecordEnvelope(bytes: bytes(hex: envelope)).open(as: record.name, vaultKey: secret(hex: vaultKey))
        }
    }

    @Test func validRecordEnvelopesOpenAndInvalidOnesAreRefused() throws {
        let vectors = try Vectors.load("envelope.json", as: SealedVectors<Envelope, Envelope>.self)
        #expect(vectors.opens.count == 18 && vectors.refused.count == 32)
        for vector in vectors.opens {
            let body = try #require(vector.body)
            #expect(Array(try vector.open()) == bytes(hex: body), "\(vector.name)")
            #expect(try RecordEnvelope(bytes: bytes(hex: vector.envelope)).bytes == bytes(hex: vector.envelope))
        }
        for vector in vectors.refused {
            #expect(try refusal { try vector.open() } == vector.error, "\(vector.name)")
        }
    }

    struct Box: Decodable {
        let name: String
        let record: RecordFields
        let privateKey: String
        let publicKey: String?
        let box: String
        let body: String?
        let error: SealedFormatsError.Code?

        func open() throws -> Data {
            let keys = try BoxKeyPair(privateKey: secret(hex: privateKey))
            return try PublicKeyBox.open(bytes(hex: box), as: record.name, with: keys)
        }
    }

    @Test func validBoxesOpenAndInvalidOnesAreRefused() throws {
        let vectors = try Vectors.load("box.json", as: SealedVectors<Box, Box>.self)
        #expect(vectors.opens.count == 5 && vectors.refused.count == 22)
        for vector in vectors.opens {
            let keys = try BoxKeyPair(privateKey: secret(hex: vector.privateKey))
            let publicKey = try #require(vector.publicKey)
            #expect(keys.publicKey.bytes == bytes(hex: publicKey))
            let body = try #require(vector.body)
            #expect(Array(try vector.open()) == bytes(hex: body), "\(vector.name)")
        }
        for vector in vectors.refused {
            #expect(try refusal { try vector.open() } == vector.error, "\(vector.name)")
        }
    }

    struct Signature: Decodable {
        let name: String
        let publicKey: String
        let privateKey: String?
        let purpose: String
        let message: String
        let signature: String

        func isValid() throws -> Bool {
            try DevicePublicKey(bytes: bytes(hex: publicKey)).verify(
                bytes(hex: signature), of: bytes(hex: message), purpose: purpose)
        }
    }

    @Test func signaturesAreVerifiedOrRefused() throws {
        let vectors = try Vectors.load("signature.json", as: SealedVectors<Signature, Signature>.self)
        #expect(vectors.opens.count == 4 && vectors.refused.count == 13)
        for vector in vectors.opens {
            #expect(try vector.isValid(), "\(vector.name)")
            let privateKey = try #require(vector.privateKey)
            let key = try DeviceSigningKey(privateKey: secret(hex: privateKey))
            #expect(key.publicKey.bytes == bytes(hex: vector.publicKey))
        }
        for vector in vectors.refused { #expect(try !vector.isValid(), "\(vector.name)") }
    }

    struct Audit: Decodable {
        struct Event: Decodable {
            let time: Double
            let kind: String
            let app: String?
            let user: UInt32?
            let process: Int32?
            let path: String?
            let reason: String?
            let sentence: String
            let hash: String
            let signature: String

            var event: AuditChain.Event {
                AuditChain.Event(
                    time: time, kind: kind, app: app, user: user, process: process, path: path, reason: reason,
                    sentence: sentence)
            }
            var link: AuditChain.Link {
                AuditChain.Link(hash: bytes(hex: hash), signature: bytes(hex: signature))
            }
        }
        let name: String
        let publicKey: String
        let beginning: String?
        let events: [Event]
        let head: String?
        let firstBroken: UInt64?
    }

    @Test func auditChainsAreVerifiedToTheFirstInvalidLink() throws {
        let vectors = try Vectors.load("audit.json", as: SealedVectors<Audit, Audit>.self)
        #expect(vectors.opens.count == 1 && vectors.refused.count == 10)
        for vector in vectors.opens + vectors.refused {
            let device = try DevicePublicKey(bytes: bytes(hex: vector.publicKey))
            var chain = AuditChain(of: device)
            if let beginning = vector.beginning { #expect(chain.head.description == beginning) }
            let broken = vector.events.indices.first { index in
                let (event, link) = (vector.events[index].event, vector.events[index].link)
                return !chain.follow(event, number: UInt64(index + 1), link: link)
            }
            #expect(broken.map { UInt64($0 + 1) } == vector.firstBroken, "\(vector.name)")
            if let head = vector.head { #expect(chain.head.description == head) }
        }
    }
}
