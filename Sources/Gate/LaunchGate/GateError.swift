import Glibc

/// Why the gate could not start, or could not go on. `sentence` says what was wrong and what to do.
public struct GateError: Error, Equatable, Sendable {
    public enum Code: String, Sendable {
        /// The command line is wrong.
        case usage
        /// The socket for the daemon can't be made safely.
        case socket
        /// Nobody holds a duplicate of the group's descriptor, so the gate's death would open everything.
        case descriptorStore
        /// The kernel refused something that the gate can't do without.
        case kernel
        /// The file of known apps can't be read.
        case knownApps
        /// A tracer could let everything go on.
        case traced
    }

    public var code: Code
    public var sentence: String
    /// The errno behind it; 0 where there is none.
    public var cause: Int32

    public init(_ code: Code, _ sentence: String, cause: Int32 = 0) {
        self.code = code
        self.sentence = cause == 0 ? sentence : sentence + " (" + String(cString: strerror(cause)) + ")"
        self.cause = cause
    }
}

/// Writes one line to standard error, where the supervisor or the journal picks it up. Never called between an event
/// and its answer. A line that nobody has room for is lost: the gate waits for no reader.
func report(_ line: String) {
    let bytes = Array(("applocker-gate: " + line).utf8.prefix(4000)) + [UInt8(ascii: "\n")]
    var output = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
    guard poll(&output, 1, 0) == 1, output.revents & Int16(POLLOUT) != 0 else { return }
    _ = write(2, bytes, bytes.count)
}
