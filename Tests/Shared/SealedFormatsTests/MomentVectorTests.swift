import Crypto
import Foundation
import TestSupport
import Testing

@testable import SealedFormats

/// Moments, photos with their sizes, and hashes for duplicates, by an independent implementation.
struct MomentVectorTests {
    struct Document: Decodable {
        struct Part<Opening: Decodable, Refusal: Decodable>: Decodable {
            let opens: [Opening]
            let refused: [Refusal]
        }
        let moments: Part<Moment, Refused>
        let photos: Part<Photo, Refused>
        let hashes: [Hash]
    }

    struct Moment: Decodable {
        let name: String
        let record: RecordFields
        let vaultKey: String
        let envelope: String
        let content: MomentBody
    }

    struct Refused: Decodable {
        let name: String
        let record: RecordFields
        let blobs: [ItemID]?
        let vaultKey: String
        let envelope: String
        let error: String
    }

    struct PhotoContent: Decodable, Equatable {
        let width: Int
        let height: Int
        let taken: Double?
        let original: PhotoBody.Size
        let medium: PhotoBody.Size?
    }

    struct Photo: Decodable {
        struct Stream: Decodable {
            let seed: Int
            let header: String
            let sealedSize: Int
            let sealedSHA256: String
        }
        let name: String
        let record: RecordFields
        let blobs: [ItemID]
        let vaultKey: String
        let envelope: String
        let content: PhotoContent
        let thumbnail: String
        let streams: [String: Stream]
    }

    struct Hash: Decodable {
        let name: String
        let vaultKey: String
        let epoch: UInt32
        let vault: ItemID
        let fileSHA256: String
        let hash: String
    }

    private func open(_ envelope: String, _ record: RecordFields, _ vaultKey: String) throws -> Data {
        try RecordEnvelope(bytes: bytes(hex: envelope)).open(as: record.name, vaultKey: secret(hex: vaultKey))
    }

    @Test func momentsOpen() throws {
        let vectors = try Vectors.load("moments.json", as: Document.self).moments
        #expect(vectors.opens.count == 5 && vectors.refused.count == 21)
        for vector in vectors.opens {
            let body = try MomentBody(bytes: open(vector.envelope, vector.record, vector.vaultKey))
            #expect(body == vector.content, "\(vector.name)")
            #expect(try MomentBody(bytes: body.bytes()) == body)
        }
        for vector in vectors.refused {
            let bytes = try open(vector.envelope, vector.record, vector.vaultKey)
            let error = #expect(throws: SealedFormatsError.self, "\(vector.name)") { _ = try MomentBody(bytes: bytes) }
            #expect(error?.code.rawValue == vector.error)
        }
    }

    @Test func photosOpenWithTheirSizes() throws {
        let vectors = try Vectors.load("moments.json", as: Document.self).photos
        #expect(vectors.opens.count == 12 && vectors.refused.count == 26)
        for vector in vectors.opens {
            let opened = try open(vector.envelope, vector.record, vector.vaultKey)
            let body = try PhotoBody(bytes: opened, blobs: vector.blobs)
            let content = PhotoContent(
                width: body.width, height: body.height, taken: body.taken, original: body.original, medium: body.medium)
            #expect(content == vector.content, "\(vector.name)")
            #expect(Array(body.thumbnail) == bytes(hex: vector.thumbnail))
            #expect(try PhotoBody(bytes: body.bytes(), blobs: vector.blobs) == body)
            let sizes = ["original": body.original, "medium": body.medium]
            // The largest ones have no content.
            #expect([0, vector.blobs.count].contains(vector.streams.count))
            for (which, expected) in vector.streams {
                let size = try #require(sizes[which] ?? nil)
                #expect(Int(size.sealedSize) == expected.sealedSize)
                let name = ContentStream.Name(vault: vector.record.vault, collection: .photos, id: vector.record.id)
                let key = Array(size.key).withUnsafeBytes { SecretBytes(copying: $0) }
                let plain = (0..<size.size).map { UInt8(truncatingIfNeeded: expected.seed + $0 + $0 / 256 * 31) }
                let stream = try ContentStream(opening: bytes(hex: expected.header), name: name, key: key)
                let sealed = SealedContent.seal(plain, with: stream)
                #expect(sealed.count == expected.sealedSize)
                #expect(Array(SHA256.hash(data: sealed)) == bytes(hex: expected.sealedSHA256), "\(which)")
                #expect(try SealedContent.open(sealed, name: name, key: key) == plain)
            }
        }
        for vector in vectors.refused {
            let opened = try open(vector.envelope, vector.record, vector.vaultKey)
            let error = #expect(throws: SealedFormatsError.self, "\(vector.name)") {
                _ = try PhotoBody(bytes: opened, blobs: vector.blobs ?? [])
            }
            #expect(error?.code.rawValue == vector.error)
        }
    }

    @Test func hashesIdentifyTheSameFile() throws {
        let vectors = try Vectors.load("moments.json", as: Document.self).hashes
        #expect(vectors.count == 4)
        for vector in vectors {
            let hash = PhotoHash.make(
                vaultKey: secret(hex: vector.vaultKey), epoch: vector.epoch, vault: vector.vault,
                digest: bytes(hex: vector.fileSHA256))
            #expect(hash == vector.hash, "\(vector.name)")
            #expect(PhotoHash.epoch(of: hash) == vector.epoch)
        }
    }
}
