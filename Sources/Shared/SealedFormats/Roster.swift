import Crypto

/// A device that belongs to a household.
public struct RosterMember: Hashable, Sendable {
    public let role: DeviceRole
    public let signingKey: DevicePublicKey
    public let boxKey: BoxPublicKey

    public var id: ItemID { signingKey.id }

    public init(role: DeviceRole, signingKey: DevicePublicKey, boxKey: BoxPublicKey) {
        self.role = role
        self.signingKey = signingKey
        self.boxKey = boxKey
    }
}

/// The members of a household: a chain of entries, each signed by a device that administers and was a member before it.
///
/// A server can't add, change or omit an entry in the middle, and can't truncate the chain for a device that has read
/// it.
public struct Roster: Sendable {
    /// The newest entry. A device that stores it detects an older or another chain.
    public struct Head: Hashable, Sendable {
        /// From 1.
        public let number: UInt64
        /// 32 bytes.
        public let hash: [UInt8]

        public init(number: UInt64, hash: [UInt8]) {
            self.number = number
            self.hash = hash
        }
    }

    /// The first 16 bytes of the first entry's hash, which identify the chain.
    public let household: ItemID
    /// Whether a phone founded it: its keys are distributed as those of a shared vault (docs/formats.md).
    public let isPhoneFounded: Bool
    public private(set) var head: Head
    /// In the order of admission.
    public private(set) var members: [RosterMember]
    public private(set) var revoked: Set<ItemID>
    /// Those that were revoked, as they were admitted.
    public private(set) var former: [ItemID: RosterMember] = [:]
    /// As they were signed; the first is the founding.
    public private(set) var entries: [[UInt8]]

    /// Founds a household with this device as its first member.
    /// - Parameters:
    ///   - time: seconds since 1970; for people.
    ///   - role: one that administers: readers refuse a chain that begins with another.
    public init(founder key: DeviceSigningKey, boxKey: BoxPublicKey, role: DeviceRole = .computer, at time: UInt64) {
        let member = RosterMember(role: role, signingKey: key.publicKey, boxKey: boxKey)
        let beginning = Head(number: 0, hash: [UInt8](repeating: 0, count: 32))
        let entry = RosterEntry(
            number: 1, previous: beginning.hash, time: time, author: member.id, change: .admit(member))
        let hash = entry.hash
        guard let household = ItemID(bytes: hash.prefix(ItemID.length)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        self.household = household
        isPhoneFounded = role == .administrator
        head = Head(number: 1, hash: hash)
        members = [member]
        revoked = []
        entries = [entry.signed(by: key)]
    }

    /// Reads a chain from its first entry.
    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion` or `damaged` where anything is not as it has
    ///   to be.
    public init(entries: [[UInt8]]) throws(SealedFormatsError) {
        guard let first = entries.first else {
            throw SealedFormatsError(.malformed, "The list of devices is empty.")
        }
        let entry = try RosterEntry(bytes: first)
        guard case .admit(let member) = entry.change, entry.number == 1, member.role.administers,
            entry.previous == [UInt8](repeating: 0, count: 32), entry.author == member.id,
            entry.isSigned(first, by: member.signingKey),
            let household = ItemID(bytes: entry.hash.prefix(ItemID.length))
        else { throw Self.broken }
        self.household = household
        isPhoneFounded = member.role == .administrator
        head = Head(number: 1, hash: entry.hash)
        members = [member]
        revoked = []
        self.entries = [first]
        for entry in entries.dropFirst() { try append(entry) }
    }

    /// Follows the chain by an entry that was read.
    /// - Throws: as `init(entries:)`; the roster then stays as it is.
    public mutating func append(_ bytes: [UInt8]) throws(SealedFormatsError) {
        let entry = try RosterEntry(bytes: bytes)
        guard entry.number == head.number + 1, entry.previous == head.hash,
            let author = member(entry.author), author.role.administers, entry.isSigned(bytes, by: author.signingKey)
        else { throw Self.broken }
        switch entry.change {
        case .admit(let member):
            guard self.member(member.id) == nil, !revoked.contains(member.id) else { throw Self.broken }
            members.append(member)
        case .revoke(let id):
            guard let member = member(id) else { throw Self.broken }
            let remaining = members.contains { $0.role.administers && $0.id != id }
            guard remaining else { throw Self.broken }
            members.removeAll { $0.id == id }
            revoked.insert(id)
            former[id] = member
        }
        head = Head(number: entry.number, hash: entry.hash)
        entries.append(bytes)
    }

    /// The device that an entry admits, without checking the chain: the id is the hash of the key.
    public static func memberAdmitted(by entry: [UInt8]) -> RosterMember? {
        guard case .admit(let member)? = (try? RosterEntry(bytes: entry))?.change else { return nil }
        return member
    }

    public func member(_ id: ItemID) -> RosterMember? { members.first { $0.id == id } }

    /// Whether the chain has this entry: a device refuses one that does not have the head it kept.
    public func contains(_ head: Head) -> Bool {
        guard head.number > 0, head.number <= UInt64(entries.count) else { return false }
        return (try? RosterEntry(bytes: entries[Int(head.number) - 1]).hash) == head.hash
    }

    /// The next entry, which admits a device. It is appended only after the hub has stored it.
    public func admitting(_ member: RosterMember, by key: DeviceSigningKey, at time: UInt64) -> [UInt8] {
        next(.admit(member), by: key, at: time)
    }

    /// The next entry, which revokes a device.
    public func revoking(_ device: ItemID, by key: DeviceSigningKey, at time: UInt64) -> [UInt8] {
        next(.revoke(device), by: key, at: time)
    }

    private func next(_ change: RosterEntry.Change, by key: DeviceSigningKey, at time: UInt64) -> [UInt8] {
        RosterEntry(
            number: head.number + 1, previous: head.hash, time: time, author: key.publicKey.id, change: change
        ).signed(by: key)
    }

    /// The device that admitted a device; the founder admitted itself. Nil for a device that was never admitted.
    public func admitter(of device: ItemID) -> ItemID? {
        history.first { $0.kind == .admit && $0.device == device }?.author
    }

    /// The decoded entries, oldest first.
    public var history: [RosterChange] {
        var roles: [ItemID: DeviceRole] = [:]
        return entries.compactMap { bytes in
            guard let entry = try? RosterEntry(bytes: bytes) else { return nil }
            switch entry.change {
            case .admit(let member):
                roles[member.id] = member.role
                return RosterChange(
                    number: entry.number, author: entry.author, kind: .admit, device: member.id, role: member.role)
            case .revoke(let device):
                guard let role = roles[device] else { return nil }
                return RosterChange(
                    number: entry.number, author: entry.author, kind: .revoke, device: device, role: role)
            }
        }
    }

    static var broken: SealedFormatsError {
        SealedFormatsError(
            .damaged, "The list of devices was changed without permission; it was rejected.")
    }
}

/// The content of one entry of a roster.
public struct RosterChange: Hashable, Sendable {
    public enum Kind: Sendable { case admit, revoke }

    public let number: UInt64
    /// The device that signed it.
    public let author: ItemID
    public let kind: Kind
    /// The device that is admitted or revoked.
    public let device: ItemID
    public let role: DeviceRole
}

/// One entry of a roster.
struct RosterEntry {
    enum Change {
        case admit(RosterMember)
        case revoke(ItemID)
    }

    let number: UInt64
    /// Hash of the entry before, 32 bytes.
    let previous: [UInt8]
    /// Seconds since 1970.
    let time: UInt64
    let author: ItemID
    let change: Change

    private static let signatureLength = 64

    init(number: UInt64, previous: [UInt8], time: UInt64, author: ItemID, change: Change) {
        self.number = number
        self.previous = previous
        self.time = time
        self.author = author
        self.change = change
    }

    /// - Throws: `SealedFormatsError` with code `malformed` or `unknownVersion`.
    init(bytes: [UInt8]) throws(SealedFormatsError) {
        var reader = ByteReader(bytes, subject: "entry of the list of devices")
        try reader.magic("APRO")
        let kind = try reader.number(UInt8.self)
        try reader.zeros(2)
        number = try reader.number()
        previous = try reader.bytes(32)
        time = try reader.number()
        author = try reader.id()
        switch kind {
        case 1:
            guard let role = DeviceRole(rawValue: try reader.number()) else { throw reader.malformed() }
            let signingKey = try DevicePublicKey(bytes: try reader.bytes(65))
            change = .admit(
                RosterMember(
                    role: role, signingKey: signingKey, boxKey: try BoxPublicKey(bytes: try reader.bytes(65))))
        case 2: change = .revoke(try reader.id())
        default: throw reader.malformed()
        }
        _ = try reader.bytes(Self.signatureLength)
        try reader.end()
    }

    private var signedBytes: [UInt8] {
        let (kind, payload): (UInt8, [UInt8]) =
            switch change {
            case .admit(let member): (1, [member.role.rawValue] + member.signingKey.bytes + member.boxKey.bytes)
            case .revoke(let id): (2, id.bytes)
            }
        return Array("APRO".utf8) + [1, kind, 0, 0] + number.bigEndianBytes + previous + time.bigEndianBytes
            + author.bytes + payload
    }

    /// 32 bytes. The signature is left out: ECDSA has several for the same bytes.
    var hash: [UInt8] {
        var fields = Fields("applocker/1/roster")
        fields.add(signedBytes)
        return Array(SHA256.hash(data: fields.bytes))
    }

    func signed(by key: DeviceSigningKey) -> [UInt8] {
        signedBytes + key.signature(of: signedBytes, purpose: "roster")
    }

    func isSigned(_ bytes: [UInt8], by key: DevicePublicKey) -> Bool {
        key.verify(Array(bytes.suffix(Self.signatureLength)), of: signedBytes, purpose: "roster")
    }
}
