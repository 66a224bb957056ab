import Glibc

/// Room for what a process writes. Wiped when it is released; memory is used only as far as it is filled.
public final class OutputBuffer {
    enum Filled {
        /// More may come.
        case more
        /// The other end is closed.
        case ended
        /// There is more than there is room for.
        case full
    }

    private let memory: UnsafeMutableRawBufferPointer
    public private(set) var count = 0

    /// - Parameter capacity: in bytes.
    init(capacity: Int) {
        // One more byte distinguishes complete output from truncated output.
        memory = .allocate(byteCount: capacity + 1, alignment: 1)
    }

    deinit {
        if let start = memory.baseAddress { explicit_bzero(start, count) }
        memory.deallocate()
    }

    /// Reads once, or with `untilEmpty` until the descriptor, which must not block then, has nothing more.
    func fill(from descriptor: Int32, untilEmpty: Bool) -> Filled {
        repeat {
            let room = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
            let length = read(descriptor, room.baseAddress, room.count)
            if length < 0, errno == EINTR { continue }
            guard length > 0 else { return .ended }
            count += length
            if count == memory.count { return .full }
        } while untilEmpty
        return .more
    }

    public subscript(_ index: Int) -> UInt8 { memory[index] }

    public func copy() -> [UInt8] { Array(memory[..<count]) }
}
