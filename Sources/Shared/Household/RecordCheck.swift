import Foundation
public import HubAPI
public import SealedFormats

/// A record of the hub whose author, signature and place are right.
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
    /// Of a device that may not write this.
    case wrongWriter
    /// Of another household, or in a collection where it does not belong.
    case wrongVault
    /// Not above the revision that is known: an older state was served again.
    case notNewer
    /// It can't be opened with the keys of the household.
    case unreadable

    /// What it was that the hub served.
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

/// What devices check of each record before they look inside (docs/formats.md, "Signed record").
public struct RecordCheck: Sendable {
    private let roster: Roster
    private let departing: Set<ItemID>

    /// - Parameter departing: revoked devices whose records of vaults are still accepted, because those that they wrote while they
    ///   belonged were not all read yet.
    public init(_ roster: Roster, departing: Set<ItemID> = []) {
        self.roster = roster
        self.departing = departing
    }

    private static let ofHousehold: Set<RecordCollection> = [
        .keys, .devices, .status, .apps, .events, .requests, .commands,
    ]
    private static let ofComputers: Set<RecordCollection> = [
        .keys, .devices, .status, .apps, .events, .requests, .intruders,
    ]

    /// Whether records of this collection are the household's own, under its status key.
    public static func isOfHousehold(_ collection: RecordCollection) -> Bool { ofHousehold.contains(collection) }

    /// - Parameter known: the revision of it that is known, 0 where none is.
    public func check(_ record: HubRecord, known: UInt64) throws(RecordRefusal) -> CheckedRecord {
        guard let collection = RecordCollection(rawValue: record.collection), record.epoch > 0,
            1...HubRecord.maximumNumber ~= record.revision, record.sequence ?? 0 <= HubRecord.maximumNumber,
            record.blobs.count <= HubRecord.maximumBlobs
        else { throw .malformed }
        guard let author = author(of: record, in: collection) else { throw .unknownAuthor }
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

    private func author(of record: HubRecord, in collection: RecordCollection) -> RosterMember? {
        let id = record.author.item
        if let member = roster.member(id) { return member }
        guard departing.contains(id), !Self.ofHousehold.contains(collection) else { return nil }
        return roster.former[id]
    }

    private func mayWrite(_ author: RosterMember, _ name: RecordName) -> Bool {
        switch name.collection {
        case .commands: (author.role == .companion) == (name.revision == 1)
        // A computer speaks for itself alone.
        case .status, .apps: author.role == .computer && author.id == name.id
        // What happened is not changed afterwards.
        case .events: author.role == .computer && name.revision == 1
        default: author.role == .computer || !Self.ofComputers.contains(name.collection)
        }
    }
}
