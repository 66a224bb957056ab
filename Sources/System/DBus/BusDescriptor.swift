import Glibc
import Synchronization

/// An open file descriptor that was received from the bus, or will be sent over it. Closed when the last reference is
/// released, or earlier.
public final class BusDescriptor: Sendable, Equatable {
    private let number: Mutex<Int32?>

    /// Takes a duplicate, closed on execve; the given number stays its owner's.
    ///
    /// - Throws: `BusError` with `invalid` where it can't be duplicated.
    public init(duplicating descriptor: Int32) throws {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw BusError(errno: errno, "A file descriptor can't be duplicated", .invalid) }
        number = Mutex(copy)
    }

    deinit { close() }

    public var isOpen: Bool { number.withLock { $0 != nil } }

    /// Closes it now; a second time does nothing.
    public func close() {
        number.withLock { number in
            if let open = number { _ = Glibc.close(open) }
            number = nil
        }
    }

    /// Calls `body` with the open number, which stays open meanwhile; nil when it is closed.
    public func withNumber<Result>(_ body: (Int32) throws -> Result) rethrows -> Result? {
        var result: Result?
        try number.withLock { number in
            if let number { result = try body(number) }
        }
        return result
    }

    public static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }
}
