import Foundation
import Glibc

/// Searches this process' writable memory for some bytes.
enum MemoryScan {
    /// - Parameter disguised: the bytes with each bit inverted, so that the search does not find its own copy.
    static func holds(_ disguised: [UInt8]) -> Bool {
        // Foundation reads only about 4 kB of a file of /proc, because its size is reported as 0.
        guard let file = FileHandle(forReadingAtPath: "/proc/self/maps"), let bytes = try? file.readToEnd() else {
            return true
        }
        let maps = String(decoding: bytes, as: UTF8.self)
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { return true }
        defer { close(memory) }
        return maps.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            let bounds = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard bounds.count == 2, fields[1].hasPrefix("rw") else { return false }
            return holds(disguised, in: bounds[0]..<bounds[1], of: memory)
        }
    }

    private static func holds(_ disguised: [UInt8], in range: Range<Int>, of memory: Int32) -> Bool {
        let piece = 1 << 20
        var buffer = [UInt8](repeating: 0, count: piece + disguised.count - 1)
        // Pieces overlap, so that a match on a boundary is found.
        for start in stride(from: range.lowerBound, to: range.upperBound, by: piece) {
            let wanted = min(buffer.count, range.upperBound - start)
            let count = buffer.withUnsafeMutableBytes { pread(memory, $0.baseAddress, wanted, off_t(start)) }
            guard count > 0 else { continue }
            if buffer.withUnsafeBytes({ holds(disguised, in: UnsafeRawBufferPointer(rebasing: $0[..<count])) }) {
                // The match may be in this buffer, which is part of the memory.
                wipeCopy(&buffer)
                return true
            }
            wipeCopy(&buffer)
        }
        return false
    }

    private static func wipeCopy(_ buffer: inout [UInt8]) {
        // With memset: a loop over each byte of the process takes ten times as long as the search.
        buffer.withUnsafeMutableBytes { _ = memset($0.baseAddress!, 0, $0.count) }
    }

    /// Searches for the first byte that is not zero: most memory is zeros, and stopping at each takes minutes.
    private static func holds(_ disguised: [UInt8], in bytes: UnsafeRawBufferPointer) -> Bool {
        let anchor = disguised.firstIndex { $0 != 0xFF } ?? 0
        var start = 0
        while start + disguised.count <= bytes.count,
            let found = memchr(
                bytes.baseAddress! + start + anchor, Int32(~disguised[anchor]), bytes.count - start - anchor)
        {
            start = UnsafeRawPointer(found) - bytes.baseAddress! - anchor
            guard start + disguised.count <= bytes.count else { return false }
            if disguised.indices.allSatisfy({ bytes[start + $0] == ~disguised[$0] }) { return true }
            start += 1
        }
        return false
    }
}
