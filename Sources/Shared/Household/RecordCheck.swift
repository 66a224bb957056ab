import Foundation
public import HubAPI
public import SealedFormats

/// A record of the hub whose author, signature and vault are valid.
public struct CheckedRecord: Sendable {
    public let name: RecordName
    public let epoch: UInt32
    public let author: RosterMember
    /// Nil: a tombstone.
    public let sealed: [UInt8]?
    public let blobs: [ItemID]
    public let sequence: UInt64
    /// Versions that it replaced, as the hub reports them (unsigned).
    public let ancestors: [UInt8]
}

/// Why a record of the hub is rejected.
public enum RecordRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    case malformed
    /// Its author is not a current member of the household.
    case unknownAuthor
    case wrongSignature
    /// Its author may not write it.
    case wrongWriter
    /// Of another household, or in the wrong collection.
    case wrongVault
    /// Not above the known revision: an older state was served again.
    case notNewer
    /// It can't be opened with the keys of the household.
    case unreadable

    /// What the hub served.
    public var description: String {
        switch self {
        case .malformed: "an invalid record"
        case .unknownAuthor: "a record of a device that is not in the household"
        case .wrongSignature: "a record that was changed in transit"
        case .wrongWriter: "a record of a device that may not write it"
        case .wrongVault: "a record of another household or collection"
        case .notNewer: "an older state than before"
        case .unreadable: "a record that does not open"
        }
    }
}

/// The checks of each record before it is opened (docs/formats.md, "Signed record").
public struct RecordCheck: Sendable {
    private let roster: Roster
    private let departing: Set<ItemID>

    /// - Parameter departing: revoked devices whose earlier records of vaults are not all read yet, so they are accepted.
    public init(_ roster: Roster, departing: Set<ItemID> = []) {
        self.roster = roster
        self.departing = departing
    }

    private static let ofHousehold: Set<RecordCollection> = [
        .keys, .devices, .status, .apps, .icons, .events, .requests, .commands,
    ]

    /// Whether records of this collection are the household's own, under its status key.
    public static func isOfHousehold(_ collection: RecordCollection) -> Bool { ofHousehold.contains(collection) }

    /// - Parameters:
    ///   - known: its known revision; 0 for a new record.
    ///   - knownEpoch: the epoch of that revision; 0 for a new record. By default no record of a former member is accepted.
    public func check(
        _ record: HubRecord, known: UInt64, knownEpoch: UInt32 = .max
    ) throws(RecordRefusal) -> CheckedRecord {
        guard let collection = RecordCollection(rawValue: record.collection), record.epoch > 0,
            1...HubRecord.maximumNumber ~= record.revision, record.sequence ?? 0 <= HubRecord.maximumNumber,
            record.blobs.count <= HubRecord.maximumBlobs
        else { throw .malformed }
        guard let author = author(of: record, in: collection, knownEpoch) else { throw .unknownAuthor }
        let name = RecordName(
            vault: record.vault.item, collection: collection, id: record.id.item, revision: record.revision)
        let blobs = record.blobs.map(\.item)
        let sealed = record.sealed.map { [UInt8]($0) }
        guard
            RecordSignature.verify(
                [UInt8](record.signature), name, epoch: record.epoch, blobs: blobs, sealed: sealed,
                author: author.signingKey)
        else { throw .wrongSignature }
        guard Self.ofHousehold.contains(collection) == (name.vault == roster.household) else { throw .wrongVault }
        guard mayWrite(author, name), blobs.isEmpty || !Self.ofHousehold.contains(collection) else {
            throw .wrongWriter
        }
        guard record.revision > known else { throw .notNewer }
        return CheckedRecord(
            name: name, epoch: record.epoch, author: author, sealed: sealed, blobs: blobs,
            sequence: record.sequence ?? 0, ancestors: [UInt8](record.ancestors ?? Data()))
    }

    private func author(
        of record: HubRecord, in collection: RecordCollection, _ knownEpoch: UInt32
    ) -> RosterMember? {
        let id = record.author.item
        if let member = roster.member(id) { return member }
        guard !Self.ofHousehold.contains(collection) else { return nil }
        return departing.contains(id) || isFromMembership(record, knownEpoch) ? roster.former[id] : nil
    }

    /// Whether a former member wrote it under keys that it had as a member. In a vault whose keys all members make, it stays
    /// until another member has signed it. The id says that it is one: no other vault has it.
    private func isFromMembership(_ record: HubRecord, _ knownEpoch: UInt32) -> Bool {
        guard record.vault.item == EpochKeys.vault(of: roster.household),
            let last = roster.lastKeysEpoch(of: record.author.item)
        else { return false }
        return record.epoch <= last && knownEpoch <= record.epoch
    }

    private func mayWrite(_ author: RosterMember, _ name: RecordName) -> Bool {
        switch name.collection {
        case .commands: author.role.isCompanion == (name.revision == 1)
        // A computer writes only its own.
        case .status, .apps, .icons: author.role == .computer && author.id == name.id
        // Events never change.
        case .events: author.role == .computer && name.revision == 1
        case .keys, .devices: author.role.administers
        case .requests, .intruders: author.role == .computer
        default: true
        }
    }
}
