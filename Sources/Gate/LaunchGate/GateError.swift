import Glibc

/// Why the gate could not start or continue. `sentence` states the problem and what to do.
public struct GateError: Error, Equatable, Sendable {
    public enum Code: String, Sendable {
        /// The command line is invalid.
        case usage
        /// The socket for the daemon can't be created safely.
        case socket
        /// No process holds a duplicate of the group's descriptor: if the gate died, the kernel would allow every held
        /// launch.
        case descriptorStore
        /// The kernel refused something that the gate requires.
        case kernel
        /// The file of known apps can't be read.
        case knownApps
        /// A tracer could allow every launch.
        case traced
    }

    public var code: Code
    public var sentence: String
    /// The underlying errno; 0 if there is none.
    public var cause: Int32

    public init(_ code: Code, _ sentence: String, cause: Int32 = 0) {
        self.code = code
        self.sentence = cause == 0 ? sentence : sentence + " (" + String(cString: strerror(cause)) + ")"
        self.cause = cause
    }
}

/// Writes one line to standard error. Never called between an event and its answer. The write does not block: a line
/// that does not fit into the pipe is lost.
func report(_ line: String) {
    let bytes = Array(("applocker-gate: " + line).utf8.prefix(4000)) + [UInt8(ascii: "\n")]
    var output = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
    guard poll(&output, 1, 0) == 1, output.revents & Int16(POLLOUT) != 0 else { return }
    _ = write(2, bytes, bytes.count)
}
