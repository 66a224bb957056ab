import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Memory for secrets: whole pages of their own, kept out of swap, core files and forked children as far as the system
/// can. Keys share such pages in slots: ten thousand items are opened with ten thousand keys, and a mapping for each would
/// cost more than the cryptography.
enum SecretPages {
    struct Piece: Sendable {
        let address: UInt
        let count: Int
        let isLocked: Bool

        var bytes: UnsafeMutableRawBufferPointer {
            UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: count)
        }
    }

    /// Bytes of a slot; what is longer gets pages of its own.
    static let slotLength = 64
    /// Pages that are mapped at once for slots; they stay mapped.
    private static let pagesOfSlots = 4

    private static let freeSlots = Mutex<[Piece]>([])

    /// Zeroed memory of at least `capacity` bytes.
    static func take(atLeast capacity: Int) -> Piece {
        guard capacity <= slotLength else {
            let pageSize = Int(getpagesize())
            return map((capacity + pageSize - 1) / pageSize * pageSize)
        }
        return freeSlots.withLock { free in
            if let slot = free.popLast() { return slot }
            let pages = map(pagesOfSlots * Int(getpagesize()))
            free = stride(from: 0, to: pages.count, by: slotLength).map {
                Piece(address: pages.address + UInt($0), count: slotLength, isLocked: pages.isLocked)
            }
            return free.removeLast()
        }
    }

    /// Overwrites it and takes it back.
    static func deallocate(_ piece: Piece) {
        wipe(piece.bytes)
        if piece.count == slotLength {
            freeSlots.withLock { $0.append(piece) }
        } else {
            munmap(piece.bytes.baseAddress, piece.count)
        }
    }

    private static func map(_ size: Int) -> Piece {
        guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | mapAnonymous, -1, 0),
            start != MAP_FAILED
        else { fatalError("SecretPages: no memory") }
        #if os(Linux)
            madvise(start, size, adviceDontDump)
            madvise(start, size, adviceWipeOnFork)
        #endif
        return Piece(address: UInt(bitPattern: start), count: size, isLocked: mlock(start, size) == 0)
    }
}

#if canImport(Darwin)
    private let mapAnonymous = MAP_ANON
#else
    private let mapAnonymous = Int32(MAP_ANONYMOUS)
#endif
#if os(Linux)
    /// MADV_DONTDUMP, Linux 3.4.
    private let adviceDontDump: Int32 = 16
    /// MADV_WIPEONFORK, Linux 4.14.
    private let adviceWipeOnFork: Int32 = 18
#endif
