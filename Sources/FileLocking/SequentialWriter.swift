import CLinux
import Glibc
import SealedFormats

/// Writes a file from the front in whole blocks, leaves holes for zeros where that is asked for, and has the disk begin
/// while more is being made.
///
/// The kernel keeps what is written in pieces of the blocks' size, for which it takes memory of that size in one piece;
/// sealed chunks, which lie across its pages, would cost it several times as much. Blocks are as large as those of `cp`: for
/// larger ones it takes free memory that nobody used for long, and a virtual machine's host has to provide that anew, which
/// can take longer than all the rest.
final class SequentialWriter {
    /// In bytes.
    private static let blockSize = 256 << 10
    /// A hole is at least as long, in bytes.
    private static let granularity = 64 << 10
    /// What the disk begins with at a time, in bytes.
    private static let writeBehind: UInt64 = 8 << 20

    private let file: OpenFile
    private let leavesHoles: Bool
    private let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4096)
    /// In the block.
    private var filled = 0
    /// Where the block belongs: what lies before it is written, in bytes.
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

    /// Writes what is left, and gives the file its size.
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

    /// Each byte is compared with the one after it: fast, and for most content over at the first one.
    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        return bytes[0] == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
    }
}
