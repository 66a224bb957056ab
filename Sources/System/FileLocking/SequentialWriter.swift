import CLinux
import Glibc
import SealedFormats

/// Writes a file from the start in whole blocks, optionally with holes for zeros, and makes the disk start writing
/// while more is produced.
///
/// The kernel caches written data in pieces of the blocks' size, each in contiguous memory; unaligned sealed chunks
/// would cost it several times as much. Blocks are as large as those of `cp`. Larger ones would use memory that has
/// been free for long, which a virtual machine's host must provide again; that can take longer than everything else.
final class SequentialWriter {
    /// Size in bytes.
    private static let blockSize = 256 << 10
    /// The shortest hole, in bytes.
    private static let granularity = 64 << 10
    /// The bytes after which the disk starts writing.
    private static let writeBehind: UInt64 = 8 << 20

    private let file: OpenFile
    private let leavesHoles: Bool
    private let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4096)
    /// The filled bytes of the block.
    private var filled = 0
    /// The offset of the block in bytes; everything before it is written.
    private(set) var offset: UInt64 = 0
    private var begun: UInt64 = 0

    init(_ file: OpenFile, leavesHoles: Bool = false) {
        self.file = file
        self.leavesHoles = leavesHoles
    }

    deinit {
        wipe(block)
        block.deallocate()
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            if filled == 0, rest.count >= Self.blockSize {
                try write(UnsafeRawBufferPointer(rebasing: rest[..<Self.blockSize]))
                rest = UnsafeRawBufferPointer(rebasing: rest[Self.blockSize...])
                continue
            }
            let count = min(rest.count, Self.blockSize - filled)
            UnsafeMutableRawBufferPointer(rebasing: block[filled..<filled + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            filled += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if filled == Self.blockSize { try flush() }
        }
    }

    /// Writes the remaining bytes, and sets the file's size.
    func finish() throws {
        try flush()
        try file.setSize(offset)
    }

    private func flush() throws {
        try write(UnsafeRawBufferPointer(rebasing: block[..<filled]))
        filled = 0
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        if leavesHoles { try writeAroundHoles(bytes) } else { try file.write(bytes, at: offset) }
        offset += UInt64(bytes.count)
        guard offset - begun >= Self.writeBehind else { return }
        clinux_start_writing(file.descriptor, Int64(begun), Int64(offset - begun))
        begun = offset
    }

    private func writeAroundHoles(_ bytes: UnsafeRawBufferPointer) throws {
        var written = 0
        for position in stride(from: 0, to: bytes.count, by: Self.granularity) {
            let end = min(position + Self.granularity, bytes.count)
            guard Self.isZero(UnsafeRawBufferPointer(rebasing: bytes[position..<end])) else { continue }
            try file.write(
                UnsafeRawBufferPointer(rebasing: bytes[written..<position]), at: offset + UInt64(written))
            written = end
        }
        try file.write(UnsafeRawBufferPointer(rebasing: bytes[written...]), at: offset + UInt64(written))
    }

    /// Compares each byte with the next one: fast, and for most content finished at the first one.
    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        return bytes[0] == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
    }
}
