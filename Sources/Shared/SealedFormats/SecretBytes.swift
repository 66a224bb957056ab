#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Bytes that must not outlive their use: a passcode, a key.
///
/// They live in pages that hold nothing else, which are kept out of swap (where the process may lock memory), out of core
/// files and out of forked children (on Linux), and are overwritten as soon as they are not needed. Nothing prints them.
///
/// `@unchecked Sendable`: the bytes are written before `init` returns and only read from then on.
public final class SecretBytes: @unchecked Sendable {
    /// How many bytes there are; the memory is larger.
    public let count: Int
    /// Whether the pages are locked in memory. False where the limit for it (RLIMIT_MEMLOCK) is used up.
    public var isLockedInMemory: Bool { memory.isLocked }
    private let memory: SecretPages.Piece

    /// Secret bytes written in place, so that no other copy need exist.
    /// - Parameters:
    ///   - capacity: the most bytes that `fill` may write.
    ///   - fill: writes from the front of the zeroed buffer and returns how many bytes count.
    /// - Throws: what `fill` throws; what it had written is wiped.
    public init(capacity: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Int) rethrows {
        let memory = SecretPages.take(atLeast: capacity)
        do {
            let count = try fill(UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<capacity]))
            precondition(0...capacity ~= count, "SecretBytes: more bytes were filled than there is room for")
            self.count = count
        } catch {
            SecretPages.deallocate(memory)
            throw error
        }
        self.memory = memory
    }

    /// Copies bytes that stay the caller's to wipe.
    public convenience init(copying source: UnsafeRawBufferPointer) {
        self.init(capacity: source.count) { buffer in
            buffer.copyMemory(from: source)
            return source.count
        }
    }

    /// Copies the bytes and wipes where they came from.
    public convenience init(wiping source: UnsafeMutableRawBufferPointer) {
        self.init(copying: UnsafeRawBufferPointer(source))
        wipe(source)
    }

    /// Copies the bytes, then wipes and empties the array. Another array that shares its storage keeps its copy.
    public convenience init(wiping array: inout [UInt8]) {
        self.init(capacity: array.count) { buffer in
            buffer.copyBytes(from: array)
            return array.count
        }
        array.withUnsafeMutableBytes { wipe($0) }
        array = []
    }

    /// The text in UTF-8. A string can't be wiped: use this only where one exists already.
    public convenience init(utf8 text: String) {
        var text = text
        self.init(capacity: text.utf8.count) { buffer in
            text.withUTF8 { buffer.copyMemory(from: UnsafeRawBufferPointer($0)) }
            return buffer.count
        }
    }

    /// Fresh bytes from the kernel's random number generator.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(capacity: count) { buffer in
            var generator = SystemRandomNumberGenerator()
            for index in buffer.indices { buffer[index] = generator.next() }
            return count
        }
    }

    deinit { SecretPages.deallocate(memory) }

    /// Lends the bytes; the pointer must not leave the closure.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<count])) }
    }
}

extension SecretBytes: Equatable {
    /// Takes the same time wherever the bytes differ. Lengths are not secret.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { equalInConstantTime(left, $0) } }
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    public var description: String { "SecretBytes" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Overwrites memory in a way that the optimiser must not remove although it is never read again.
public func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress, !memory.isEmpty else { return }
    #if canImport(Darwin)
        memset_s(start, memory.count, 0, memory.count)
    #else
        explicit_bzero(start, memory.count)
    #endif
}

/// Whether the bytes are the same, in a time that depends on their number alone.
@inline(never)
package func equalInConstantTime(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
