import FileLocking
import Foundation
import Glibc
import SealedFormats
import TestSupport
import Testing

@Suite("Content as a stream")
struct ContentTests {
    let name = ContentStream.Name(purpose: "test")
    let key = SecretBytes.random(count: 32)

    /// Seals content of a source that hands out at most `most` bytes at a time.
    private func seal(_ plaintext: Data, chunkSize: ContentStream.ChunkSize) throws -> Data {
        var offset = 0
        let stream = ContentStream(sealing: name, key: key, chunkSize: chunkSize)
        let sealer = ContentSealer(stream) { buffer in
            let count = min(buffer.count, plaintext.count - offset)
            plaintext.copyBytes(to: buffer, from: offset..<offset + count)
            offset += count
            return count
        }
        var sealed = Data()
        while let piece = try sealer.next() { sealed.append(piece) }
        #expect(sealer.contentSize == plaintext.count)
        return sealed
    }

    @Test("is read at any offset, one chunk at a time", arguments: [0, 1, 65_536, 131_072, 200_001])
    func seek(size: Int) throws {
        let plaintext = content(size)
        let sealed = try seal(plaintext, chunkSize: .kibi64)
        #expect(sealed.count == ContentStream.Layout(contentSize: UInt64(size), chunkSize: .kibi64).sealedSize)
        let opened = try SealedContent(sealedSize: UInt64(sealed.count), name: name, key: key) { offset, buffer in
            let count = min(buffer.count, sealed.count - Int(offset))
            sealed.copyBytes(to: buffer, from: Int(offset)..<Int(offset) + count)
            return count
        }
        for _ in 0..<50 {
            let bounds = [Int.random(in: 0...size), Int.random(in: 0...size + 100)].sorted()
            let range = UInt64(bounds[0])..<UInt64(bounds[1])
            #expect(try opened.bytes(range) == plaintext.dropFirst(bounds[0]).prefix(bounds[1] - bounds[0]))
        }
        #expect(try opened.bytes(0..<UInt64(size)) == plaintext)
    }

    @Test("is stored and read in pieces of another size", arguments: [0, 10, 1 << 20, (3 << 20) + 7])
    func pieces(size: Int) async throws {
        let plaintext = content(size)
        let file = try TemporaryDirectory()
        let path = try file.write(plaintext, to: "content")
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        let sealer = ContentSealer(ContentStream(sealing: name, key: key)) { buffer in
            max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        let pieces = SealedPieces(sealer, size: 1 << 20)
        var sealed: [[UInt8]] = []
        while let piece = try await pieces.next() { sealed.append(piece) }
        #expect(sealed.dropLast().allSatisfy { $0.count == 1 << 20 })
        let arriving = ArrivingContent(sealedSize: UInt64(sealed.joined().count), name: name, key: key)
        var opened = Data()
        for piece in sealed { try arriving.add(piece) { opened.append($0) } }
        try arriving.finish()
        #expect(opened == plaintext)

        let cut = ArrivingContent(sealedSize: UInt64(sealed.joined().count), name: name, key: key)
        for piece in sealed.dropLast() { try cut.add(piece) { _ in } }
        #expect(throws: FileLockingError.self) { try cut.finish() }
    }
}

extension SealedContent {
    /// The plaintext of a range, truncated at the end of the content.
    fileprivate func bytes(_ range: Range<UInt64>) throws -> Data {
        let range = range.clamped(to: 0..<layout.contentSize)
        guard !range.isEmpty else { return Data() }
        let size = UInt64(layout.chunkSize.bytes)
        var bytes = Data(capacity: Int(range.count))
        for index in range.lowerBound / size...(range.upperBound - 1) / size {
            let start = index * size
            let chunk = try chunk(index)
            let wanted = range.clamped(to: start..<start + UInt64(chunk.count))
            bytes.append(chunk.dropFirst(Int(wanted.lowerBound - start)).prefix(wanted.count))
        }
        return bytes
    }
}
