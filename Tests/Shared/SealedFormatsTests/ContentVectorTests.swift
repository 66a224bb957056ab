import Crypto
import Foundation
import TestSupport
import Testing

@testable import SealedFormats

/// Streams, and the files that contain one, sealed by an independent implementation.
struct ContentVectorTests {
    struct Stream: Decodable {
        struct Name: Decodable {
            let vault: ItemID?
            let collection: String?
            let id: ItemID?
            let purpose: String?

            func name() throws -> ContentStream.Name {
                if let purpose { return ContentStream.Name(purpose: purpose) }
                let collection = try #require(collection.flatMap { RecordCollection(rawValue: $0) })
                return ContentStream.Name(vault: try #require(vault), collection: collection, id: try #require(id))
            }
        }
        let name: String
        let stream: Name
        let contentKey: String
        let size: Int
        let seed: Int
        let contentSHA256: String
        let header: String
        let sealedSize: UInt64
        let sealedSHA256: String

        /// Byte i is (seed + i + floor(i / 256) * 31) mod 256.
        var content: [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: seed + $0 + $0 / 256 * 31) } }

        /// The stream with the given header: with it, sealing is deterministic.
        func sealed() throws -> [UInt8] {
            let stream = try ContentStream(
                opening: bytes(hex: header), name: try self.stream.name(), key: secret(hex: contentKey))
            return SealedContent.seal(content, with: stream)
        }
    }

    struct RefusedStream: Decodable {
        enum Edit: Decodable {
            case none
            case number(String, Int, Int)
            case append([UInt8])

            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                guard !list.isAtEnd else {
                    self = .none
                    return
                }
                let operation = try list.decode(String.self)
                if operation == "append" {
                    self = .append(bytes(hex: try list.decode(String.self)))
                } else {
                    let first = try list.decode(Int.self)
                    self = .number(operation, first, list.isAtEnd ? 0 : try list.decode(Int.self))
                }
            }

            func apply(to sealed: [UInt8]) throws -> [UInt8] {
                var sealed = sealed
                let size = (1 << 16) + 16
                var chunks = stride(from: 72, to: sealed.count, by: size).map { Array(sealed[$0...].prefix(size)) }
                switch self {
                case .none: return sealed
                case .append(let bytes): return sealed + bytes
                case .number("flip", let position, let bit): sealed[position] ^= 1 << bit
                case .number("set", let position, let value): sealed[position] = UInt8(value)
                case .number("cut", let length, _): sealed = Array(sealed[..<length])
                case .number("swap", let one, let other):
                    chunks.swapAt(one, other)
                    return Array(sealed[..<72] + chunks.joined())
                case .number("drop", let one, _):
                    chunks.remove(at: one)
                    return Array(sealed[..<72] + chunks.joined())
                case .number("repeat", let one, _):
                    chunks.insert(chunks[one], at: one)
                    return Array(sealed[..<72] + chunks.joined())
                case .number(let operation, _, _): Issue.record("unknown edit \(operation)")
                }
                return sealed
            }
        }
        let name: String
        let of: String
        let edit: Edit
        let stream: Stream.Name?
        let contentKey: String?
        let error: SealedFormatsError.Code
    }

    @Test func validStreamsOpenAndInvalidOnesAreRefused() throws {
        let vectors = try Vectors.load("stream.json", as: SealedVectors<Stream, RefusedStream>.self)
        #expect(vectors.opens.count == 10 && vectors.refused.count == 29)
        var made: [String: (vector: Stream, sealed: [UInt8])] = [:]
        for vector in vectors.opens {
            let sealed = try vector.sealed()
            #expect(UInt64(sealed.count) == vector.sealedSize, "\(vector.name)")
            #expect(SHA256.hash(data: sealed).map { $0 } == bytes(hex: vector.sealedSHA256), "\(vector.name)")
            let content = try SealedContent.open(
                sealed, name: try vector.stream.name(), key: secret(hex: vector.contentKey))
            #expect(content == vector.content, "\(vector.name)")
            #expect(SHA256.hash(data: content).map { $0 } == bytes(hex: vector.contentSHA256), "\(vector.name)")
            made[vector.name] = (vector, sealed)
        }
        for vector in vectors.refused {
            let (original, sealed) = try #require(made[vector.of])
            let edited = try vector.edit.apply(to: sealed)
            let name = try (vector.stream ?? original.stream).name()
            let code = try refusal {
                try SealedContent.open(
                    edited, name: name, key: secret(hex: vector.contentKey ?? original.contentKey))
            }
            #expect(code == vector.error, "\(vector.name)")
        }
    }

    struct LockedFile: Decodable {
        let name: String
        let vaultKey: String
        let file: Data
        let vault: ItemID?
        let id: ItemID?
        let body: String?
        let content: String?
        let error: SealedFormatsError.Code?

        func open() throws -> (body: Data, content: [UInt8]) {
            struct Body: Decodable { let contentKey: Data }
            let file = Array(self.file)
            let length = try LockedFileHeader.envelopeLength(inFixed: Array(file.prefix(LockedFileHeader.fixedLength)))
            let start = LockedFileHeader.fixedLength + length
            let header = try LockedFileHeader(bytes: Array(file.prefix(start)))
            let body = try header.envelope.open(
                as: LockedFileHeader.name(vault: header.vault, id: header.id), vaultKey: secret(hex: vaultKey))
            let contentKey = try JSONDecoder().decode(Body.self, from: body).contentKey
            let content = try SealedContent.open(
                Array(file.dropFirst(start)), name: LockedFileHeader.streamName(vault: header.vault, id: header.id),
                key: secret(contentKey))
            return (body, content)
        }
    }

    @Test func validLockedFilesOpenAndInvalidOnesAreRefused() throws {
        let vectors = try Vectors.load("locked_file.json", as: SealedVectors<LockedFile, LockedFile>.self)
        #expect(vectors.opens.count == 1 && vectors.refused.count == 16)
        for vector in vectors.opens {
            let opened = try vector.open()
            #expect(String(decoding: opened.body, as: UTF8.self) == vector.body)
            #expect(String(decoding: opened.content, as: UTF8.self) == vector.content)
        }
        for vector in vectors.refused {
            #expect(try refusal { try vector.open() } == vector.error, "\(vector.name)")
        }
    }

    struct Backup: Decodable {
        struct Entry: Decodable, Equatable {
            let kind: UInt8
            let content: Data
        }
        let name: String
        let passphrase: String?
        let rootKey: String
        let entries: [Entry]?
        let file: Data
        let error: SealedFormatsError.Code?
    }

    @Test func validBackupsOpenAndInvalidOnesAreRefused() throws {
        let vectors = try Vectors.load("backup.json", as: SealedVectors<Backup, Backup>.self)
        #expect(vectors.opens.count == 1 && vectors.refused.count == 23)
        for vector in vectors.opens {
            let header = try BackupHeader(bytes: Array(vector.file.prefix(BackupHeader.length)))
            let passphrase = try #require(vector.passphrase)
            let stretched = try header.slots.stretch(SecretBytes(utf8: passphrase), mixedSecret: nil)
            let rootKey = try #require(header.slots.open(stretched)).rootKey
            #expect(hex(rootKey) == vector.rootKey)
            let entries = try SealedContent.backupEntries(Array(vector.file), rootKey: rootKey)
            #expect(entries.map { Backup.Entry(kind: $0.kind.rawValue, content: Data($0.content)) } == vector.entries)
        }
        for vector in vectors.refused {
            let code = try refusal {
                try SealedContent.backupEntries(Array(vector.file), rootKey: secret(hex: vector.rootKey))
            }
            #expect(code == vector.error, "\(vector.name)")
        }
    }

    struct Earlier: Decodable {
        let name: String
        let purpose: String
        let passcode: String?
        let plaintext: Data?
        let file: Data
        let error: SealedFormatsError.Code?

        func open() throws -> Data {
            let (passcode, purpose) = (
                try #require(passcode), try #require(EarlierContainer.Purpose(rawValue: purpose))
            )
            return try EarlierContainer.open(Array(file), passcode: SecretBytes(utf8: passcode), purpose: purpose)
        }
    }

    @Test func validContainersOfTheEarlierFormatOpenAndInvalidOnesAreRefused() throws {
        let vectors = try Vectors.load("earlier.json", as: SealedVectors<Earlier, Earlier>.self)
        #expect(vectors.opens.count == 4 && vectors.refused.count == 14)
        for vector in vectors.opens {
            #expect(EarlierContainer.isOne(Array(vector.file)) == (vector.purpose != "plain"))
            guard vector.purpose != "plain" else { continue }
            #expect(try vector.open() == vector.plaintext, "\(vector.name)")
        }
        for vector in vectors.refused {
            #expect(try refusal { try vector.open() } == vector.error, "\(vector.name)")
        }
    }
}
