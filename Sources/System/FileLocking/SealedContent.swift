public import Foundation
public import SealedFormats

/// Sealed content with random access: each chunk is authenticated separately.
///
/// `@unchecked Sendable`: may move between threads, but is used by one at a time.
public final class SealedContent: @unchecked Sendable {
    /// Fills the buffer with sealed bytes from an offset, counted from the stream's header, and returns their number,
    /// which is less than the buffer's size only at the end.
    public typealias Reading = (_ offset: UInt64, UnsafeMutableRawBufferPointer) throws -> Int

    public let layout: ContentStream.Layout
    private let stream: ContentStream
    private let read: Reading
    private let buffer: ChunkBuffer

    /// Reads the header.
    /// - Parameters:
    ///   - sealedSize: of the stream with its header, in bytes. It is trusted only after the last chunk was
    ///     authenticated.
    ///   - key: the content key, 32 bytes.
    /// - Throws: `SealedFormatsError` as `ContentStream` does; what reading throws.
    public init(
        sealedSize: UInt64, name: ContentStream.Name, key: SecretBytes, reading read: @escaping Reading
    ) throws {
        var header = [UInt8](repeating: 0, count: ContentStream.headerLength)
        let count = try header.withUnsafeMutableBytes { try read(0, $0) }
        stream = try ContentStream(opening: Array(header.prefix(count)), name: name, key: key)
        layout = try ContentStream.Layout(sealedSize: sealedSize, chunkSize: stream.chunkSize)
        self.read = read
        buffer = ChunkBuffer(stream.chunkSize.bytes + 16)
    }

    /// The plaintext of one chunk. Blocks if reading blocks.
    /// - Throws: `SealedFormatsError` with code `damaged`; what reading throws.
    public func chunk(_ index: UInt64) throws -> Data {
        let range = layout.range(ofChunk: index)
        try buffer.fill { room in
            try read(range.lowerBound, UnsafeMutableRawBufferPointer(rebasing: room[..<Int(range.count)]))
        }
        let sealed = Data(
            bytesNoCopy: buffer.room.baseAddress!, count: buffer.count, deallocator: .none)
        return try stream.open(sealed, index: UInt32(index), isLast: index == layout.chunkCount - 1)
    }
}

/// Sealed content that arrives in pieces, from the start.
///
/// `@unchecked Sendable`: as `SealedContent`.
public final class ArrivingContent: @unchecked Sendable {
    private let name: ContentStream.Name
    private let key: SecretBytes
    private let sealedSize: UInt64
    private var opened: (stream: ContentStream, layout: ContentStream.Layout)?
    private var index: UInt64 = 0
    private var waiting = Data()

    /// - Parameter sealedSize: of the stream with its header, in bytes.
    public init(sealedSize: UInt64, name: ContentStream.Name, key: SecretBytes) {
        self.sealedSize = sealedSize
        self.name = name
        self.key = key
    }

    /// Adds the next sealed bytes, and passes each chunk of plaintext that they complete to `write`.
    /// - Throws: `SealedFormatsError`; what `write` throws.
    public func add(_ bytes: [UInt8], write: (Data) throws -> Void) throws {
        waiting.append(contentsOf: bytes)
        if opened == nil, waiting.count >= ContentStream.headerLength {
            let stream = try ContentStream(
                opening: Array(waiting.prefix(ContentStream.headerLength)), name: name, key: key)
            opened = (stream, try ContentStream.Layout(sealedSize: sealedSize, chunkSize: stream.chunkSize))
            waiting = Data(waiting.dropFirst(ContentStream.headerLength))
        }
        guard let (stream, layout) = opened else { return }
        while index < layout.chunkCount {
            let length = layout.range(ofChunk: index).count
            guard waiting.count >= length else { return }
            let isLast = index == layout.chunkCount - 1
            try write(stream.open(waiting.prefix(length), index: UInt32(index), isLast: isLast))
            waiting = Data(waiting.dropFirst(length))
            index += 1
        }
    }

    /// Must be called after the last bytes: checks that the content is complete.
    /// - Throws: `FileLockingError` with code `damaged`.
    public func finish() throws {
        guard let opened, index == opened.layout.chunkCount, waiting.isEmpty else {
            throw FileLockingError(.damaged, "The sealed content ends too early; restore it from a backup.")
        }
    }
}
