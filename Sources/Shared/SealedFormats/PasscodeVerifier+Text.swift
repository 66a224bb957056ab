// The stored form is one line of ASCII, seven fields separated by colons, with one spelling for each value:
//
//     applocker-passcode:1:scrypt:ln=17,r=8,p=1:machine:<salt, 64 digits>:<tag, 64 digits>
//
//     1  magic        applocker-passcode
//     2  version      1
//     3  algorithm    scrypt | pbkdf2-sha256 | sha256
//     4  parameters   ln=17 to ln=20 (log2 N), always r=8,p=1 | rounds=200000 | -
//     5  secrets      machine: the machine secret is mixed in | passcode: it is not (always so for the older two)
//     6  salt         lower-case hexadecimal: 32 bytes | 32 bytes | 8 to 64 bytes
//     7  tag          lower-case hexadecimal, 32 bytes
//
// scrypt:         tag = HKDF-SHA256(IKM = scrypt(passcode, salt, N, 8, 1, 32), salt = machine secret or nothing,
//                                   info = fields 1 to 6 with the colon that follows them, L = 32)
// pbkdf2-sha256:  tag = PBKDF2-HMAC-SHA256(passcode, salt, 200,000, 32)
// sha256:         tag = SHA-256(passcode ‖ salt)
extension PasscodeVerifier {
    /// The stored form, without a line break.
    public var text: String { header + Hexadecimal.encode(tag) }

    /// Reads the stored form; refuses whatever `text` would not have written.
    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion`, `unknownAlgorithm` or
    ///   `parametersOutOfRange`.
    public init(text: String) throws(SealedFormatsError) {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard text.utf8.count <= 512, fields.count >= 2, fields[0] == Self.magic else {
            throw SealedFormatsError(
                .malformed, "This is not a stored passcode of AppLocker; restore it from a backup.")
        }
        guard fields[1] == Self.version else {
            throw SealedFormatsError(
                .unknownVersion,
                "The stored passcode has version \(Self.quoted(fields[1])), this AppLocker reads version "
                    + "\(Self.version); install a newer one.")
        }
        guard fields.count == 7, let salt = Hexadecimal.decode(fields[5]), let tag = Hexadecimal.decode(fields[6]),
            let usesMachineSecret = ["machine": true, "passcode": false][fields[4]]
        else {
            throw SealedFormatsError(.malformed, "The stored passcode is damaged; restore it from a backup.")
        }
        self.init(
            algorithm: try Self.algorithm(fields[2], parameters: fields[3]), usesMachineSecret: usesMachineSecret,
            salt: salt, tag: tag)
        try checkLengths()
    }

    /// Fields 1 to 6 with the colon that follows them.
    var header: String {
        let secrets = usesMachineSecret ? "machine" : "passcode"
        return "\(Self.magic):\(Self.version):\(algorithm.name):\(algorithm.parameters):\(secrets):"
            + "\(Hexadecimal.encode(salt)):"
    }

    func checkLengths() throws(SealedFormatsError) {
        let saltLengths = algorithm == .sha256 ? 8...64 : 32...32
        guard saltLengths.contains(salt.count), tag.count == 32, !(algorithm.isOlder && usesMachineSecret) else {
            throw SealedFormatsError(
                .malformed,
                "The stored passcode has an invalid salt, tag or secret; restore it from a backup.")
        }
    }

    private static let magic = "applocker-passcode"
    private static let version = "1"

    private static func algorithm(
        _ name: Substring, parameters: Substring
    ) throws(SealedFormatsError) -> Algorithm {
        let known: [Algorithm]
        switch name {
        case "scrypt":
            known = ScryptCost.allowedLogarithms.compactMap { ScryptCost(logarithm: $0).map(Algorithm.scrypt) }
        case "pbkdf2-sha256": known = [.pbkdf2]
        case "sha256": known = [.sha256]
        default:
            throw SealedFormatsError(
                .unknownAlgorithm,
                "The stored passcode uses the unknown \(quoted(name)); install a newer AppLocker.")
        }
        let spelt = known.map(\.parameters)
        guard let index = spelt.firstIndex(of: String(parameters)) else {
            throw SealedFormatsError(
                .parametersOutOfRange,
                "The stored passcode requires \(name) with \(quoted(parameters)), allowed is "
                    + "\(spelt.joined(separator: " or ")); restore it from a backup.")
        }
        return known[index]
    }

    private static func quoted(_ text: Substring) -> String { String(reflecting: String(text.prefix(40))) }
}

extension PasscodeVerifier.Algorithm {
    /// Only ever checked, never made.
    var isOlder: Bool {
        switch self {
        case .scrypt: false
        case .pbkdf2, .sha256: true
        }
    }

    fileprivate var name: String {
        switch self {
        case .scrypt: "scrypt"
        case .pbkdf2: "pbkdf2-sha256"
        case .sha256: "sha256"
        }
    }

    fileprivate var parameters: String {
        switch self {
        case .scrypt(let cost): "ln=\(cost.logarithm),r=\(ScryptCost.blockSize),p=\(ScryptCost.parallelism)"
        case .pbkdf2: "rounds=\(PasscodeVerifier.pbkdf2Rounds)"
        case .sha256: "-"
        }
    }
}
