import Glibc

/// Why AppLocker could not be started or kept running.
public struct SupervisorError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// Another `applocker up` runs with the same state directory.
        case alreadyRunning
        /// The state directory can't be used as it is.
        case stateDirectory
        /// One of the project's executables is missing.
        case executableMissing
        /// A socket could not be made.
        case socket
        /// A process could not be started.
        case processStart
        /// What only root may do was asked for by somebody else.
        case notPermitted
    }

    public let code: Code
    /// One sentence: what was wrong and what to do.
    public let sentence: String
    /// The errno behind it, where there is one.
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
