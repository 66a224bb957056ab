import Crypto

/// What a person types where a link can be neither scanned nor pasted: 80 random bits, from which the invitation's id and
/// secret are derived. docs/formats.md, "Typed code".
///
/// It is valid for five minutes, too short to search 80 bits, even with all data of the hub.
public struct PairingCode: Sendable {
    /// In bytes.
    static let secretLength = 10
    private static let groups = 4
    private static let digitsInGroup = 4

    private let secret: SecretBytes

    /// A fresh one.
    public init() { secret = .random(count: Self.secretLength) }

    /// - Parameter secret: 10 bytes.
    init(secret: SecretBytes) { self.secret = secret }

    /// Reads a typed code: any case, spaces and dashes anywhere, I and L for 1, O for 0.
    /// - Throws: `SealedFormatsError` with code `malformed`.
    public init(text: String) throws(SealedFormatsError) {
        let mistake = SealedFormatsError(
            .malformed, "The code has a typing mistake; compare it with the one that is shown.")
        var values: [UInt8] = []
        values.reserveCapacity(text.utf8.count)
        defer { values.withUnsafeMutableBytes { wipe($0) } }
        for byte in text.utf8 where byte != UInt8(ascii: "-") && !(9...13 ~= byte) && byte != UInt8(ascii: " ") {
            guard let value = Crockford.value(byte) else { throw mistake }
            values.append(value)
        }
        let length = Self.digitsInGroup + 1
        guard values.count == Self.groups * length else { throw mistake }
        var bits: [UInt8] = []
        bits.reserveCapacity(Self.groups * Self.digitsInGroup)
        defer { bits.withUnsafeMutableBytes { wipe($0) } }
        for group in 0..<Self.groups {
            let typed = values[(group * length)..<((group + 1) * length)].map { Crockford.digits[Int($0)] }
            guard Self.check(Array(typed.dropLast()), group: UInt8(group)) == typed.last else { throw mistake }
            bits += values[(group * length)..<((group + 1) * length - 1)]
        }
        secret = Crockford.secret(bits, count: Self.secretLength)
    }

    /// "7KQ2F-9D3MX-0V7TB-AAZ4C": Crockford's base 32 in groups of four digits, each with a check digit after it, so that
    /// a mistake is noticed in the group in which it was made.
    public var text: String {
        var values = Crockford.values(of: secret)
        defer { values.withUnsafeMutableBytes { wipe($0) } }
        return (0..<Self.groups).map { group in
            let start = group * Self.digitsInGroup
            let typed = values[start..<(start + Self.digitsInGroup)].map { Crockford.digits[Int($0)] }
            return String(decoding: typed + [Self.check(typed, group: UInt8(group))], as: UTF8.self)
        }.joined(separator: "-")
    }

    /// The number of the group is part of it: exchanged groups are noticed too.
    private static func check(_ typed: [UInt8], group: UInt8) -> UInt8 {
        var fields = Fields("applocker/1/pair-code-check")
        fields.add([group])
        fields.add(typed)
        return Crockford.digits[Int(Array(SHA256.hash(data: fields.bytes))[0] >> 3)]
    }

    /// What the hub returns the rest of the invitation for, 32 bytes.
    public var proof: [UInt8] { Invitation.proof(of: invitationSecret) }

    /// Of the invitation.
    public var id: ItemID {
        KeyDerivation.hkdf(secret, salt: nil, info: Array("applocker/1/pair-code-id".utf8), count: ItemID.length)
            .withUnsafeBytes { ItemID(bytes: Array($0))! }
    }

    /// Of the invitation, 32 bytes.
    var invitationSecret: SecretBytes {
        KeyDerivation.hkdf(secret, salt: nil, info: "applocker/1/pair-code-secret")
    }
}
