public import Foundation

/// `PUT /v1/pin-share`: of the token's own device; `conflict` once a PIN of what is there was right. Always `count` entries,
/// unused ones random, so that a decoy PIN can't be detected.
public struct PINShareRequest: Codable, Sendable {
    public struct Entry: Codable, Sendable {
        /// 32 bytes, made from the stretched PIN and a secret of the device.
        public var verifier: Data
        /// 32 bytes.
        public var share: Data
        /// SHA-256 of the 32 random bytes that `PINReplaceRequest` changes this entry by.
        public var changeHash: Data
        public init(verifier: Data, share: Data, changeHash: Data) {
            self.verifier = verifier
            self.share = share
            self.changeHash = changeHash
        }
    }

    public var entries: [Entry]
    public init(entries: [Entry]) { self.entries = entries }

    public static let count = 4
}

/// `POST /v1/pin-share/attempt`. Counted durably before the response. A wrong PIN: `wrong_pin`; the 5th: `too_many` for
/// 60 s; the 10th: `gone`, the share is destroyed. The correct PIN resets this counter. Each entry also has its own
/// count, which only its own PIN resets: at 10 the entry is destroyed, and its PIN is answered as a wrong one.
public struct PINAttemptRequest: Codable, Sendable {
    public var verifier: Data
    public init(verifier: Data) { self.verifier = verifier }
}

/// `POST /v1/pin-share/replace`: puts an entry in the place of the one that this secret changes, and leaves the others alone, so
/// that one PIN changes without the secrets of another. No PIN leads to the secret, so it isn't counted as an attempt.
public struct PINReplaceRequest: Codable, Sendable {
    /// 32 bytes, whose SHA-256 is the entry's `changeHash`. It stays the same.
    public var changeSecret: Data
    /// 32 bytes.
    public var verifier: Data
    /// 32 bytes.
    public var share: Data
    public init(changeSecret: Data, verifier: Data, share: Data) {
        self.changeSecret = changeSecret
        self.verifier = verifier
        self.share = share
    }
}

public struct PINShareAnswer: Codable, Sendable {
    public var share: Data
    public init(share: Data) { self.share = share }
}

/// `GET /v1/pin-share`.
public struct PINShareState: Codable, Equatable, Sendable {
    public var failures: Int
    /// Seconds until the next attempt is looked at.
    public var retryAfterSeconds: Int
    public init(failures: Int, retryAfterSeconds: Int) {
        self.failures = failures
        self.retryAfterSeconds = retryAfterSeconds
    }

    public static let failuresToWait = 5
    public static let failuresToDestroy = 10
    public static let waitSeconds = 60
}
