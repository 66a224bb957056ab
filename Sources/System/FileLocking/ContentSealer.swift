import BlockingThread
public import Foundation
public import SealedFormats

/// Seals content from any source, with one chunk in memory at a time.
///
/// `@unchecked Sendable`: may move between threads, but is used by one at a time.
public final class ContentSealer: @unchecked Sendable {
    /// Fills the buffer with the content's next bytes and returns their number, which is less than the buffer's size
    /// only at the end of the content.
    public typealias Reading = (UnsafeMutableRawBufferPointer) throws -> Int

    private let stream: ContentStream
    private let read: Reading
    /// A chunk is sealed after the next one was read, because the last one must be marked as the last.
    private var current: ChunkBuffer
    private var following: ChunkBuffer
    private var index: UInt32 = 0
    private var state = State.header

    private enum State { case header, firstChunk, chunks, end }

    /// The plaintext so far, in bytes.
    public private(set) var contentSize: UInt64 = 0

    /// - Parameter stream: created for sealing, and used for nothing else.
    public init(_ stream: ContentStream, reading read: @escaping Reading) {
        self.stream = stream
        self.read = read
        current = ChunkBuffer(stream.chunkSize.bytes)
        following = ChunkBuffer(stream.chunkSize.bytes)
    }

    /// The next sealed bytes: the header, then one chunk at a time; nil after the last. Blocks if reading blocks.
    /// - Throws: what reading throws; `FileLockingError` with code `tooLarge` after 2^32 chunks.
    public func next() throws -> Data? {
        switch state {
        case .header:
            state = .firstChunk
            return Data(stream.header)
        case .firstChunk:
            try current.fill(read)
            state = .chunks
        case .chunks:
            break
        case .end:
            return nil
        }
        // A chunk that is not full must be the last one.
        let isShort = current.count < stream.chunkSize.bytes
        if !isShort { try following.fill(read) }
        let isLast = isShort || following.count == 0
        let sealed = stream.seal(current.bytes, index: index, isLast: isLast)
        contentSize += UInt64(current.count)
        swap(&current, &following)
        if isLast {
            state = .end
        } else {
            guard index < .max else {
                throw FileLockingError(.tooLarge, "The content has more pieces than can be sealed; split it first.")
            }
            index += 1
        }
        return sealed
    }
}

/// A buffer for a chunk of plaintext, wiped at the end.
final class ChunkBuffer {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ capacity: Int) {
        memory = .allocate(byteCount: capacity, alignment: 4096)
    }

    deinit {
        wipe(memory)
        memory.deallocate()
    }

    var room: UnsafeMutableRawBufferPointer { memory }

    /// The filled part; valid until the buffer is filled again.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    func fill(_ read: (UnsafeMutableRawBufferPointer) throws -> Int) throws { count = try read(memory) }
}

/// Splits sealed content into pieces of one size, for a destination with a limit.
///
/// `@unchecked Sendable`: as `ContentSealer`.
public final class SealedPieces: @unchecked Sendable {
    private let sealer: ContentSealer
    private let size: Int
    private var waiting = Data()

    /// - Parameter size: of every piece but the last, in bytes.
    public init(_ sealer: ContentSealer, size: Int) {
        self.sealer = sealer
        self.size = size
    }

    /// The plaintext so far, in bytes.
    public var contentSize: UInt64 { sealer.contentSize }

    /// The next piece; nil after the last. Runs on a thread of its own.
    public func next() async throws -> [UInt8]? {
        try await runBlocking { cancellation in
            while self.waiting.count < self.size, let sealed = try self.sealer.next() {
                try cancellation.check()
                self.waiting.append(sealed)
            }
            guard !self.waiting.isEmpty else { return nil }
            let piece = Array(self.waiting.prefix(self.size))
            self.waiting = Data(self.waiting.dropFirst(self.size))
            return piece
        }
    }
}
