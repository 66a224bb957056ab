import Glibc

/// Owns one file descriptor and closes it with its last reference.
final class Descriptor {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    /// - Parameter result: the result of a function of CLinux: a descriptor or a negative errno.
    init(_ result: Int32, _ what: StaticString) throws(GateError) {
        guard result >= 0 else { throw GateError(.kernel, "\(what) failed", cause: -result) }
        number = result
    }

    deinit { close(number) }
}
