import Glibc

/// Why AppLocker could not be started or kept running.
public struct SupervisorError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// Another `applocker up` runs with the same state directory.
        case alreadyRunning
        /// The state directory can't be used in its present state.
        case stateDirectory
        case executableMissing
        case socket
        case processStart
        case notPermitted
    }

    public let code: Code
    /// One sentence: what failed and what to do.
    public let sentence: String
    /// The errno, if any.
    public let cause: Int32?

    public var description: String {
        guard let cause else { return sentence }
        return sentence + " (" + String(cString: strerror(cause)) + ")"
    }

    init(_ code: Code, _ sentence: String, cause: Int32? = nil) {
        self.code = code
        self.sentence = sentence
        self.cause = cause
    }
}
