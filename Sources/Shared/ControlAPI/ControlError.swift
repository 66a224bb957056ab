/// The error of a request on the control socket: a code for programs, a sentence for people.
public struct ControlError: Error, Codable, Equatable, Sendable {
    public enum Code: String, Codable, CaseIterable, Sendable {
        /// The request itself is wrong: a missing field, a value out of range, a body that is not JSON.
        case badRequest = "bad_request"
        /// No passcode was set yet: run `applocker setup` first.
        case notSetUp = "not_set_up"
        case alreadySetUp = "already_set_up"
        case wrongPasscode = "wrong_passcode"
        /// Too many wrong passcodes; try again after `retryAfterSeconds`.
        case lockedOut = "locked_out"
        /// The request needs an open management session (`Authorization: Bearer`).
        case sessionNeeded = "session_needed"
        /// The resource belongs to another user.
        case notYours = "not_yours"
        case noSuchApp = "no_such_app"
        /// The name fits more than one app; the message lists them.
        case ambiguousApp = "ambiguous_app"
        /// The program is one that the system, the desktop or AppLocker itself needs.
        case essential = "essential"
        case noSuchCategory = "no_such_category"
        /// The launch no longer waits.
        case noSuchPrompt = "no_such_prompt"
        case passcodeTooShort = "passcode_too_short"
        /// The vault's keys are not in memory, or they are for another user: run `applocker vault unlock` first.
        case vaultLocked = "vault_locked"
        /// No such note, file, photo or blob.
        case noSuchItem = "no_such_item"
        /// The name fits more than one of them.
        case ambiguousItem = "ambiguous_item"
        /// The input can't be opened: a wrong passphrase, damaged data or an unknown version.
        case notReadable = "not_readable"
        case tooLarge = "too_large"
        /// There is no hub, or it does not answer, or it refused.
        case hub
        case busy = "busy"
        /// The change could not be written or enforced; nothing was changed.
        case failed = "failed"
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

    /// The HTTP status (RFC 9110 section 15) that carries this code.
    public var status: Int {
        switch code {
        case .badRequest, .passcodeTooShort: 400
        case .wrongPasscode, .notYours: 403
        case .sessionNeeded, .vaultLocked: 401
        case .noSuchApp, .noSuchCategory, .noSuchPrompt, .noSuchItem: 404
        case .notReadable: 422
        case .notSetUp, .alreadySetUp, .ambiguousApp, .ambiguousItem, .essential: 409
        case .tooLarge: 413
        case .lockedOut: 429
        case .busy, .hub: 503
        case .failed: 500
        }
    }
}

/// The body of every answer that is not 2xx.
public struct ControlErrorBody: Codable, Sendable {
    public var error: ControlError
    public init(error: ControlError) { self.error = error }
}
