/// A sealed value that can't be read, made or checked.
public struct SealedFormatsError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case malformed, unknownVersion, unknownAlgorithm, parametersOutOfRange
        case machineSecretMissing, machineSecretUnusable
        case derivationFailed
        /// No key that was tried opens it: a wrong passcode, another vault, or another author than claimed.
        case wrongKey
        /// The right key, but bytes that were changed, truncated or assembled from others.
        case damaged
        /// Sealed under a vault key that this device does not have.
        case keyMissing
        case tooLarge
    }

    public let code: Code
    /// What was wrong and what to do, as one sentence. Never holds a secret.
    public let sentence: String
    /// What a lower layer reported, where there was one.
    public let cause: (any Error)?

    init(_ code: Code, _ sentence: String, cause: (any Error)? = nil) {
        self.code = code
        self.sentence = sentence
        self.cause = cause
    }

    public var description: String { sentence }
}
