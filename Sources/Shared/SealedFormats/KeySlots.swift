/// A block of key slots: it turns a passcode, a PIN or a recovery code into the root key.
///
/// Eight slots, always full: an unused one is random bytes that can't be distinguished from a used one, and each opening tries
/// all of them. `docs/formats.md` has the bytes.
public struct KeySlots: Hashable, Sendable {
    /// How a passcode becomes a key.
    public enum Derivation: Hashable, Sendable {
        case scrypt(ScryptCost)
        /// For what a browser opens: HMAC-SHA-256, 600,000 to 10,000,000 rounds.
        case pbkdf2(rounds: UInt32)

        public static let allowedRounds: ClosedRange<UInt32> = 600_000...10_000_000
    }

    public static let count = 8
    /// Of the whole block, in bytes.
    public static let length = headerLength + count * slotLength
    /// Of the root key and of a mixed secret, in bytes.
    public static let keyLength = 32

    static let headerLength = 44
    static let slotLength = 112

    public let derivation: Derivation
    /// Whether a secret that is kept elsewhere is mixed in.
    public let usesMixedSecret: Bool
    /// 32 bytes.
    let salt: [UInt8]
    /// 8 times 112 bytes.
    private(set) var slots: [[UInt8]]

    /// A block in which nothing is stored yet.
    public init(derivation: Derivation, usesMixedSecret: Bool) {
        self.derivation = derivation
        self.usesMixedSecret = usesMixedSecret
        salt = randomBytes(32)
        slots = (0..<Self.count).map { _ in randomBytes(Self.slotLength) }
    }

    /// What a passcode is stretched to. The costly part: about a second on a computer.
    ///
    /// Blocks: call it on a thread of its own.
    /// - Parameter mixedSecret: 32 bytes where the block was made with one, else nil.
    /// - Throws: `SealedFormatsError` with code `machineSecretMissing`, `machineSecretUnusable` or `derivationFailed`.
    public func stretch(_ passcode: SecretBytes, mixedSecret: SecretBytes?) throws(SealedFormatsError) -> StretchedKey {
        guard usesMixedSecret == (mixedSecret != nil) else {
            throw SealedFormatsError(
                .machineSecretMissing,
                usesMixedSecret
                    ? "This can't be opened without the machine secret it was made with; restore its file."
                    : "This was made without a machine secret; open it without one.")
        }
        if let mixedSecret, mixedSecret.count != Self.keyLength {
            throw SealedFormatsError(
                .machineSecretUnusable,
                "The machine secret has \(mixedSecret.count) bytes instead of \(Self.keyLength); restore it from a backup."
            )
        }
        let stretched =
            switch derivation {
            case .scrypt(let cost): try cost.derive(passcode, salt: salt)
            case .pbkdf2(let rounds):
                try KeyDerivation.pbkdf2(passcode, salt: salt, rounds: Int(rounds), count: Self.keyLength)
            }
        return StretchedKey(
            key: KeyDerivation.hkdf(stretched, salt: mixedSecret, info: "applocker/1/kek"))
    }

    /// A passcode that was stretched for one block.
    public struct StretchedKey: Sendable {
        /// 32 bytes.
        let key: SecretBytes
    }

    /// Puts the root key, 32 bytes, behind the passcode. What the slot held before is gone.
    public mutating func set(_ index: Int, to rootKey: SecretBytes, behind passcode: StretchedKey) {
        precondition(rootKey.count == Self.keyLength, "a root key has 32 bytes")
        let salt = CommittedKey.freshSalt()
        let committed = CommittedKey(passcode.key, salt: salt, info: boundData)
        slots[index] = salt + committed.commitment + GCM.seal(rootKey, key: committed.key, data: boundData)
    }

    /// Fills the slot with random bytes.
    public mutating func clear(_ index: Int) { slots[index] = randomBytes(Self.slotLength) }

    /// The root key behind the passcode, 32 bytes, and its slot; nil where there is none. Tries every slot, whichever it
    /// finds.
    public func open(_ passcode: StretchedKey) -> (rootKey: SecretBytes, slot: Int)? {
        var found: (SecretBytes, Int)?
        for (index, slot) in slots.enumerated() {
            let committed = CommittedKey(passcode.key, salt: Array(slot[..<32]), info: boundData)
            let isCommitted = committed.matches(Array(slot[32..<64]))
            let rootKey = GCM.openSecret(Array(slot[64...]), key: committed.key, data: boundData)
            if isCommitted, let rootKey, found == nil { found = (rootKey, index) }
        }
        return found
    }

    private var boundData: [UInt8] {
        var fields = Fields("applocker/1/slot")
        fields.add(header)
        return fields.bytes
    }
}

// MARK: Bytes

extension KeySlots {
    /// 940 bytes.
    public var bytes: [UInt8] { header + slots.joined() }

    private var header: [UInt8] {
        let (algorithm, cost): (UInt8, UInt32) =
            switch derivation {
            case .scrypt(let cost): (1, UInt32(cost.logarithm))
            case .pbkdf2(let rounds): (2, rounds)
            }
        return Array("APKS".utf8) + [1, algorithm, usesMixedSecret ? 1 : 0, UInt8(Self.count)] + cost.bigEndianBytes
            + salt
    }

    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion`, `unknownAlgorithm` or
    ///   `parametersOutOfRange`.
    public init(bytes: [UInt8]) throws(SealedFormatsError) {
        var reader = ByteReader(bytes, subject: "key-slot block")
        try reader.magic("APKS")
        let algorithm = try reader.number(UInt8.self)
        let mixedSecret = try reader.number(UInt8.self)
        let count = try reader.number(UInt8.self)
        let cost = try reader.number(UInt32.self)
        guard mixedSecret <= 1, count == Self.count else { throw reader.malformed() }
        switch algorithm {
        case 1:
            guard let cost = ScryptCost(logarithm: Int(cost)) else {
                throw Self.absurd("scrypt with log2 N of \(cost)")
            }
            derivation = .scrypt(cost)
        case 2:
            guard Derivation.allowedRounds.contains(cost) else { throw Self.absurd("PBKDF2 with \(cost) rounds") }
            derivation = .pbkdf2(rounds: cost)
        default:
            throw SealedFormatsError(
                .unknownAlgorithm,
                "The key-slot block uses the unknown derivation \(algorithm); install a newer AppLocker."
            )
        }
        usesMixedSecret = mixedSecret == 1
        salt = try reader.bytes(32)
        var slots: [[UInt8]] = []
        for _ in 0..<Self.count { slots.append(try reader.bytes(Self.slotLength)) }
        self.slots = slots
        try reader.end()
    }

    private static func absurd(_ what: String) -> SealedFormatsError {
        SealedFormatsError(
            .parametersOutOfRange,
            "The key-slot block requires \(what), which AppLocker never writes; restore it from a backup.")
    }
}
