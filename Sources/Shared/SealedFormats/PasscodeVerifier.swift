/// What is stored to recognise a passcode: enough to check one, never enough to open anything.
///
/// The current kind is scrypt with a random salt of 32 bytes; its output goes through HKDF-SHA256 together with the
/// machine secret, 32 random bytes that are kept apart from the database, so that a copy of the database alone can't be
/// searched. Two older kinds are only ever checked, and replaced at the next right passcode.
///
/// A passcode is its bytes of UTF-8, as they are: no normalisation. It holds no zero bytes: at its end they would not
/// count, as HMAC pads its key with them (RFC 2104 section 2).
public struct PasscodeVerifier: Hashable, Sendable {
    public enum Algorithm: Hashable, Sendable {
        case scrypt(ScryptCost)
        /// PBKDF2-HMAC-SHA256 with 200,000 rounds and a salt of 32 bytes. Checked only.
        case pbkdf2
        /// SHA-256 of the passcode followed by the salt. Checked only.
        case sha256
    }

    public struct Verification: Hashable, Sendable {
        public let matches: Bool
        /// When the passcode matches, make a new verifier from it and store that instead.
        public let needsUpgrade: Bool
    }

    public let algorithm: Algorithm
    /// Whether the machine secret is mixed in.
    public let usesMachineSecret: Bool
    /// 32 bytes; for `.sha256` 8 to 64.
    let salt: [UInt8]
    /// 32 bytes.
    let tag: [UInt8]

    /// In bytes.
    public static let machineSecretLength = 32

    static let pbkdf2Rounds = 200_000

    init(algorithm: Algorithm, usesMachineSecret: Bool, salt: [UInt8], tag: [UInt8]) {
        self.algorithm = algorithm
        self.usesMachineSecret = usesMachineSecret
        self.salt = salt
        self.tag = tag
    }

    /// A verifier of the current kind with a fresh salt.
    ///
    /// Blocks for about a second and needs `cost.memory` bytes: call it on a thread of its own, one at a time.
    /// - Parameter machineSecret: 32 bytes; nil makes a verifier that its text alone is enough to search.
    /// - Throws: `SealedFormatsError` with code `machineSecretUnusable` or `derivationFailed`.
    public init(
        passcode: SecretBytes, cost: ScryptCost, machineSecret: SecretBytes?
    ) throws(SealedFormatsError) {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<32).map { _ -> UInt8 in generator.next() }
        let untagged = PasscodeVerifier(
            algorithm: .scrypt(cost), usesMachineSecret: machineSecret != nil, salt: salt, tag: [])
        let tag = try untagged.expectedTag(passcode, machineSecret: machineSecret)
        self.init(
            algorithm: untagged.algorithm, usesMachineSecret: untagged.usesMachineSecret, salt: salt,
            tag: tag.withUnsafeBytes { Array($0) })
    }

    /// Takes over the older kind, SHA-256 of the passcode followed by the salt.
    /// - Throws: `SealedFormatsError` with code `malformed` unless the salt has 8 to 64 bytes and the digest 32.
    public init(olderSHA256 digest: [UInt8], salt: [UInt8]) throws(SealedFormatsError) {
        self.init(algorithm: .sha256, usesMachineSecret: false, salt: salt, tag: digest)
        try checkLengths()
    }

    /// Takes over the older kind, PBKDF2-HMAC-SHA256 with 200,000 rounds.
    /// - Throws: `SealedFormatsError` with code `malformed` unless the salt and the key have 32 bytes each.
    public init(olderPBKDF2 key: [UInt8], salt: [UInt8]) throws(SealedFormatsError) {
        self.init(algorithm: .pbkdf2, usesMachineSecret: false, salt: salt, tag: key)
        try checkLengths()
    }

    /// Checks a passcode, comparing in constant time. The caller counts the attempt before it asks.
    ///
    /// Blocks for up to a few seconds and needs `ScryptCost.memory` bytes: call it on a thread of its own.
    /// - Parameter machineSecret: 32 bytes. Not used, and no error, where the verifier was made without it: it then
    ///   needs an upgrade.
    /// - Throws: `SealedFormatsError` with code `machineSecretMissing`, `machineSecretUnusable` or `derivationFailed`.
    public func verify(
        passcode: SecretBytes, machineSecret: SecretBytes? = nil
    ) throws(SealedFormatsError) -> Verification {
        let expected = try expectedTag(passcode, machineSecret: machineSecret)
        let matches = expected.withUnsafeBytes { expected in tag.withUnsafeBytes { equalInConstantTime(expected, $0) } }
        return Verification(
            matches: matches, needsUpgrade: algorithm.isOlder || (machineSecret != nil && !usesMachineSecret))
    }

    private func expectedTag(
        _ passcode: SecretBytes, machineSecret: SecretBytes?
    ) throws(SealedFormatsError) -> SecretBytes {
        if let machineSecret, machineSecret.count != Self.machineSecretLength {
            throw SealedFormatsError(
                .machineSecretUnusable,
                "The machine secret has \(machineSecret.count) bytes instead of \(Self.machineSecretLength); restore it "
                    + "from a backup.")
        }
        switch algorithm {
        case .scrypt(let cost):
            if usesMachineSecret && machineSecret == nil {
                throw SealedFormatsError(
                    .machineSecretMissing,
                    "The passcode can't be checked without the machine secret it was set with; restore its file.")
            }
            return KeyDerivation.hkdf(
                try cost.derive(passcode, salt: salt), salt: usesMachineSecret ? machineSecret : nil, info: header)
        case .pbkdf2:
            return try KeyDerivation.pbkdf2(passcode, salt: salt, rounds: Self.pbkdf2Rounds, count: 32)
        case .sha256:
            return KeyDerivation.sha256(passcode, salt: salt)
        }
    }
}

extension PasscodeVerifier: CustomStringConvertible, CustomReflectable {
    /// Without salt and tag, so that a log can't hold them; `text` is the stored form.
    public var description: String { "PasscodeVerifier" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
