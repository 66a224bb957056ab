public import Foundation
public import SealedFormats

/// Seals content that is read from anywhere, one chunk in memory at a time.
///
/// `@unchecked Sendable`: it may go from thread to thread, but is used by one at a time.
public final class ContentSealer: @unchecked Sendable {
    /// Fills the buffer from the content's next bytes and returns how many there were; fewer than the buffer holds only
    /// at the end of the content.
    public typealias Reading = (UnsafeMutableRawBufferPointer) throws -> Int

    private let stream: ContentStream
    private let read: Reading
    /// One chunk is sealed while the next is known: only so is the last one known to be the last.
    private var current: ChunkBuffer
    private var following: ChunkBuffer
    private var index: UInt32 = 0
    private var state = State.header

    private enum State { case header, firstChunk, chunks, end }

    /// Of the plaintext so far, in bytes.
    public private(set) var contentSize: UInt64 = 0

    /// - Parameter stream: made for sealing, and used for this alone.
    public init(_ stream: ContentStream, reading read: @escaping Reading) {
        self.stream = stream
        self.read = read
        current = ChunkBuffer(stream.chunkSize.bytes)
        following = ChunkBuffer(stream.chunkSize.bytes)
    }

    /// The next sealed bytes: the header, then one chunk at a time; nil after the last. Blocks as far as reading does.
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
        // A chunk that is not full is the last without a look at what follows.
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

/// Room for a chunk of plaintext, wiped at the end.
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

    /// What was filled in; valid until it is filled again.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    func fill(_ read: (UnsafeMutableRawBufferPointer) throws -> Int) throws { count = try read(memory) }
}

/// Cuts sealed content into pieces of one size, for a place that takes no larger ones.
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

    /// Of the plaintext so far, in bytes.
    public var contentSize: UInt64 { sealer.contentSize }

    /// The next piece; nil after the last. The work is done on a thread of its own.
    public func next() async throws -> [UInt8]? {
        try await FileThread.run { cancellation in
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
