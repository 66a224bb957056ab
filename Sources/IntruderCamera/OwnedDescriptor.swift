import CLinux
import DaemonCore
import Glibc

/// A descriptor that is closed with its owner, unless it was taken from it.
final class OwnedDescriptor {
    private(set) var number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { if number >= 0 { close(number) } }

    func taken() -> Int32 {
        defer { number = -1 }
        return number
    }
}

/// Both ends close on exec.
struct Pipe {
    let read: OwnedDescriptor
    let write: OwnedDescriptor

    init() throws(PhotoSourceError) {
        var ends: [Int32] = [-1, -1]
        let failure = clinux_pipe(&ends)
        guard failure == 0 else {
            throw PhotoSourceError(.failed, "No picture could be taken: \(String(cString: strerror(failure))).")
        }
        read = OwnedDescriptor(ends[0])
        write = OwnedDescriptor(ends[1])
    }
}
