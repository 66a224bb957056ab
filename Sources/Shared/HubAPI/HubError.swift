/// The refusal of a request to the hub: a code for programs, a sentence for people.
public struct HubError: Error, Codable, Equatable, Sendable {
    public enum Code: String, Codable, CaseIterable, Sendable {
        /// A missing field, a value out of range, a body that is not JSON.
        case badRequest = "bad_request"
        /// No token, or an unknown or revoked one.
        case unauthorized
        /// The token's device may not do this.
        case forbidden
        /// No such route, record, blob, invitation or share.
        case notFound = "not_found"
        /// The write names a revision that is not the current one; the answer has the current record.
        case conflict
        /// An invitation or a share that existed and does not any more.
        case gone
        case tooLarge = "too_large"
        /// The household holds as much as it may.
        case quotaExceeded = "quota_exceeded"
        /// Too many requests, or wrong PINs; try again after `retryAfterSeconds`.
        case tooMany = "too_many"
        case wrongPIN = "wrong_pin"
        /// The hub can't write now, or is about to end. Try again.
        case unavailable
        case failed
    }

    public var code: Code
    /// One sentence: what was wrong and what to do.
    public var message: String
    public var retryAfterSeconds: Int?

    public init(_ code: Code, _ message: String, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// The HTTP status (RFC 9110 section 15, RFC 6585 section 4) that carries this code.
    public var status: Int {
        switch code {
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden, .wrongPIN: 403
        case .notFound: 404
        case .conflict: 409
        case .gone: 410
        case .tooLarge: 413
        case .tooMany: 429
        case .failed: 500
        case .unavailable: 503
        case .quotaExceeded: 507
        }
    }
}

/// The body of every answer of the hub that is not 2xx.
public struct HubErrorBody: Codable, Sendable {
    public var error: HubError
    /// With `conflict` on a record: the one that is stored.
    public var current: HubRecord?
    public init(error: HubError, current: HubRecord? = nil) {
        self.error = error
        self.current = current
    }
}
