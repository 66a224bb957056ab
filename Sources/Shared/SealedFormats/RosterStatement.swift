/// What one entry of a roster says. For a hub, which stores the chain; the devices check who may change it.
public struct RosterStatement: Sendable {
    public enum Change: Sendable {
        case admit(RosterMember)
        case revoke(ItemID)
    }

    /// From 1.
    public let number: UInt64
    /// The device that signed it.
    public let author: ItemID
    public let change: Change

    /// - Parameters:
    ///   - last: the entry that it follows.
    ///   - key: the signing key of an author.
    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion`, or `damaged` where it does not follow `last`
    ///   or its author has not signed it.
    public init(
        _ bytes: [UInt8], after last: [UInt8], key: (ItemID) -> DevicePublicKey?
    ) throws(SealedFormatsError) {
        let (entry, before) = (try RosterEntry(bytes: bytes), try RosterEntry(bytes: last))
        guard entry.previous == before.hash, before.number < .max, entry.number == before.number + 1,
            let key = key(entry.author), entry.isSigned(bytes, by: key)
        else { throw Roster.broken }
        number = entry.number
        author = entry.author
        change =
            switch entry.change {
            case .admit(let member): .admit(member)
            case .revoke(let device): .revoke(device)
            }
    }
}
