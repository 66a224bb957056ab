import CLinux
import Glibc

/// A descriptor that is closed with its owner.
final class OwnedDescriptor {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { if number >= 0 { close(number) } }
}

/// Both ends close on exec.
struct Pipe {
    let read: OwnedDescriptor
    let write: OwnedDescriptor

    init() throws(ConfinedProcessError) {
        var ends: [Int32] = [-1, -1]
        let failure = clinux_pipe(&ends)
        guard failure == 0 else { throw .failed("a pipe", code: failure) }
        read = OwnedDescriptor(ends[0])
        write = OwnedDescriptor(ends[1])
    }
}
