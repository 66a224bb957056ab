import Foundation
import Testing

@testable import SealedFormats

struct ContentStreamTests {
    static let name = ContentStream.Name(purpose: "test")

    @Test(arguments: ContentStream.ChunkSize.allCases)
    func contentOfEverySizeAroundAChunkIsOpened(_ chunkSize: ContentStream.ChunkSize) throws {
        let key = FormatSamples.key()
        for size in [0, 1, chunkSize.bytes - 1, chunkSize.bytes, chunkSize.bytes + 1, 2 * chunkSize.bytes] {
            let content = [UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)
            let stream = ContentStream(sealing: Self.name, key: key, chunkSize: chunkSize)
            let sealed = SealedContent.seal(content, with: stream)
            let layout = try ContentStream.Layout(sealedSize: UInt64(sealed.count), chunkSize: chunkSize)
            #expect(layout.contentSize == UInt64(size))
            #expect(layout.sealedSize == UInt64(sealed.count))
            #expect(layout.range(ofChunk: layout.chunkCount - 1).upperBound == UInt64(sealed.count))
            #expect(try SealedContent.open(sealed, name: Self.name, key: key) == content)
        }
    }

    @Test func everyChunkOpensIndependently() throws {
        let key = FormatSamples.key()
        let content = FormatSamples.bytes(3 * (1 << 16) + 5)
        let sealed = SealedContent.seal(
            content, with: ContentStream(sealing: Self.name, key: key, chunkSize: .kibi64))
        let stream = try ContentStream(opening: Array(sealed.prefix(72)), name: Self.name, key: key)
        let layout = try ContentStream.Layout(sealedSize: UInt64(sealed.count), chunkSize: .kibi64)
        for index in [UInt64(2), 0, 3, 1] {
            let range = layout.range(ofChunk: index)
            let chunk = Data(sealed)[Int(range.lowerBound)..<Int(range.upperBound)]
            let opened = try stream.open(chunk, index: UInt32(index), isLast: index == 3)
            #expect(Array(opened) == Array(content.dropFirst(Int(index) << 16).prefix(1 << 16)))
            for other in UInt32(0)..<4 where other != UInt32(index) {
                #expect(try refusal { try stream.open(chunk, index: other, isLast: other == 3) } == .damaged)
            }
            #expect(try refusal { try stream.open(chunk, index: UInt32(index), isLast: index != 3) } == .damaged)
        }
    }

    @Test func everyPartOfTheNameIsAuthenticated() throws {
        let (vault, id, key) = (ItemID.random(), ItemID.random(), FormatSamples.key())
        let name = ContentStream.Name(vault: vault, collection: .files, id: id)
        let header = ContentStream(sealing: name, key: key).header
        _ = try ContentStream(opening: header, name: name, key: key)
        for other in [
            ContentStream.Name(vault: .random(), collection: .files, id: id),
            ContentStream.Name(vault: vault, collection: .notes, id: id),
            ContentStream.Name(vault: vault, collection: .files, id: .random()),
            ContentStream.Name(vault: id, collection: .files, id: vault),
            ContentStream.Name(purpose: "files"),
        ] {
            #expect(try refusal { try ContentStream(opening: header, name: other, key: key) } == .wrongKey)
        }
        let otherKey = FormatSamples.key()
        #expect(try refusal { try ContentStream(opening: header, name: name, key: otherKey) } == .wrongKey)
    }

    @Test func truncatedHeadersAndImpossibleSizesAreRefused() throws {
        let key = FormatSamples.key()
        let header = ContentStream(sealing: Self.name, key: key, chunkSize: .kibi64).header
        for length in 0..<72 {
            let code = try refusal { try ContentStream(opening: Array(header[..<length]), name: Self.name, key: key) }
            #expect(code == .malformed)
        }
        #expect(try refusal { try ContentStream(opening: header + [0], name: Self.name, key: key) } == .malformed)
        let chunk = UInt64(1 << 16) + 16
        let limit = 72 + (UInt64(1) << 32) * chunk
        for size in [0, 71, 72, 87, 72 + chunk + 1, 72 + chunk + 16, limit + 1, limit + chunk, .max] {
            let code = try refusal { try ContentStream.Layout(sealedSize: size, chunkSize: .kibi64) }
            #expect(code == .malformed, "\(size)")
        }
        for size in [88, 89, 72 + chunk, 72 + chunk + 17, limit] {
            let layout = try ContentStream.Layout(sealedSize: size, chunkSize: .kibi64)
            #expect(layout.sealedSize == size)
        }
        #expect(try ContentStream.Layout(sealedSize: limit, chunkSize: .kibi64).chunkCount == 1 << 32)
        #expect(ContentStream.Layout(contentSize: .max, chunkSize: .mebi1).chunkCount == 1 << 44)
    }
}
