import Crypto

/// Every lasting key a device has, as the root key opens them.
public struct KeyRing: Sendable {
    public enum Kind: UInt8, Comparable, Sendable {
        case vault = 1
        case inbox = 2
        case device = 3
        /// On every device of a household, open or locked; the "vault" is the household.
        case status = 4

        public static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    public struct Entry: Sendable {
        public let kind: Kind
        public let vault: ItemID
        /// From 1; the highest seals, older ones only open.
        public let epoch: UInt32
        /// 32 bytes.
        public let key: SecretBytes

        public init(kind: Kind, vault: ItemID, epoch: UInt32, key: SecretBytes) {
            precondition(key.count == 32 && epoch > 0, "a key of a ring has 32 bytes and an epoch from 1")
            self.kind = kind
            self.vault = vault
            self.epoch = epoch
            self.key = key
        }

        fileprivate var order: (Kind, ItemID, UInt32) { (kind, vault, epoch) }

        fileprivate struct Name: Hashable {
            let kind: Kind
            let vault: ItemID
            let epoch: UInt32
        }

        fileprivate var name: Name { Name(kind: kind, vault: vault, epoch: epoch) }
    }

    public static let maximumEntries = 4_096
    private static let entryLength = 53

    /// Ordered by kind, vault and epoch.
    public private(set) var entries: [Entry]

    /// Where the same key is there twice, it is kept once.
    public init(_ entries: [Entry]) {
        var distinct: [Entry] = []
        for entry in entries.sorted(by: { $0.order < $1.order }) {
            if let last = distinct.last, last.order == entry.order {
                // Written, such a ring would never open again.
                precondition(last.key == entry.key, "a key ring has one key for a kind, vault and epoch")
            } else {
                distinct.append(entry)
            }
        }
        precondition(distinct.count <= Self.maximumEntries, "a key ring has at most 4,096 entries")
        self.entries = distinct
    }

    public func key(_ kind: Kind, vault: ItemID, epoch: UInt32) -> SecretBytes? {
        entries.first { $0.kind == kind && $0.vault == vault && $0.epoch == epoch }?.key
    }

    /// The newest key of this kind.
    public func current(_ kind: Kind, vault: ItemID) -> Entry? {
        entries.last { $0.kind == kind && $0.vault == vault }
    }

    /// Another key for the same kind, vault and epoch is a mistake of the caller.
    public mutating func add(_ entry: Entry) { self = KeyRing(entries + [entry]) }

    /// This ring with keys that may come from elsewhere; where it has one already under the same name, that one stays.
    /// - Throws: `SealedFormatsError` with code `tooLarge` where there would be more than a ring holds.
    public func adding(_ further: [Entry]) throws(SealedFormatsError) -> KeyRing {
        let known = Set(entries.map(\.name))
        let missing = further.filter { !known.contains($0.name) }
        guard entries.count + missing.count <= Self.maximumEntries else {
            throw SealedFormatsError(
                .tooLarge, "A key ring has at most \(Self.maximumEntries) keys.")
        }
        return KeyRing(entries + missing)
    }

    /// Adds what another ring has and this one has not.
    /// - Throws: as `adding`; the ring then stays as it is.
    public mutating func addMissing(of other: KeyRing) throws(SealedFormatsError) { self = try adding(other.entries) }

    // MARK: Bytes

    /// Sealed under the root key, 32 bytes.
    public func sealed(under rootKey: SecretBytes) -> [UInt8] {
        let salt = CommittedKey.freshSalt()
        let committed = CommittedKey(rootKey, salt: salt, info: Self.boundData)
        return Array("APKR".utf8) + [1] + salt + committed.commitment
            + GCM.seal(plaintext, key: committed.key, data: Self.boundData)
    }

    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion`, `wrongKey` or `damaged`.
    public init(sealed bytes: [UInt8], rootKey: SecretBytes) throws(SealedFormatsError) {
        var reader = ByteReader(bytes, subject: "key ring")
        try reader.magic("APKR")
        let salt = try reader.bytes(CommittedKey.saltLength)
        let commitment = try reader.bytes(CommittedKey.commitmentLength)
        let committed = CommittedKey(rootKey, salt: salt, info: Self.boundData)
        guard committed.matches(commitment) else {
            throw SealedFormatsError(.wrongKey, "The key ring belongs to another root key; restore it from a backup.")
        }
        guard let ring = GCM.openSecret(reader.rest(), key: committed.key, data: Self.boundData) else {
            throw SealedFormatsError(.damaged, "The key ring was changed or truncated; restore it from a backup.")
        }
        try self.init(plaintext: ring)
    }

    /// As it stands inside a sealed ring and in a backup.
    package var plaintext: SecretBytes {
        SecretBytes(capacity: 2 + entries.count * Self.entryLength) { buffer in
            buffer.copyBytes(from: UInt16(entries.count).bigEndianBytes)
            var offset = 2
            for entry in entries {
                buffer[offset] = entry.kind.rawValue
                let vault = entry.vault.bytes + entry.epoch.bigEndianBytes
                for (index, byte) in vault.enumerated() { buffer[offset + 1 + index] = byte }
                entry.key.withUnsafeBytes { key in
                    for (index, byte) in key.enumerated() { buffer[offset + 21 + index] = byte }
                }
                offset += Self.entryLength
            }
            return offset
        }
    }

    /// - Throws: `SealedFormatsError` with code `malformed`.
    package init(plaintext: SecretBytes) throws(SealedFormatsError) {
        let malformed = SealedFormatsError(.malformed, "The key ring is damaged or was not made by AppLocker.")
        let count = plaintext.withUnsafeBytes { $0.count < 2 ? -1 : Int($0[0]) << 8 | Int($0[1]) }
        guard 0...Self.maximumEntries ~= count, plaintext.count == 2 + count * Self.entryLength else { throw malformed }
        var entries: [Entry] = []
        for index in 0..<count {
            let entry: Entry? = plaintext.withUnsafeBytes { bytes in
                let entry = UnsafeRawBufferPointer(rebasing: bytes[(2 + index * Self.entryLength)...].prefix(53))
                let epoch = entry[17..<21].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                guard let kind = Kind(rawValue: entry[0]), let vault = ItemID(bytes: entry[1..<17]), epoch > 0 else {
                    return nil
                }
                let key = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: entry[21...]))
                return Entry(kind: kind, vault: vault, epoch: epoch, key: key)
            }
            guard let entry, entries.last.map({ $0.order < entry.order }) ?? true else { throw malformed }
            entries.append(entry)
        }
        self.entries = entries
    }

    private static var boundData: [UInt8] { Fields("applocker/1/ring").bytes }
}
