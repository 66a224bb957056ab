package import Foundation
package import HubAPI
import SealedFormats

/// The result of writing one record, given what is stored under its name. Both stores use it.
package enum RecordDecision: Sendable {
    case isStored(sequence: UInt64)
    /// It replaces what is stored.
    case isNext
    case refused(HubWriteOutcome)

    package init(_ record: HubRecord, stored: HubRecord?) {
        guard Self.isWellFormed(record) else {
            self = .refused(HubWriteOutcome(error: .badRecord))
            return
        }
        let replaced = record.replaces ?? record.revision - 1
        guard let stored else {
            self =
                if replaced != 0 {
                    .refused(HubWriteOutcome(error: .noFirstRevision))
                } else if record.revision > Self.largestFirst {
                    .refused(HubWriteOutcome(error: .farRevision))
                } else {
                    .isNext
                }
            return
        }
        guard record.vault == stored.vault else {
            self = .refused(HubWriteOutcome(error: .otherVault))
            return
        }
        var same = record
        same.sequence = stored.sequence
        (same.replaces, same.replacedVersion) = (nil, nil)
        same.ancestors = stored.ancestors
        if let sequence = stored.sequence, same == stored {
            self = .isStored(sequence: sequence)
        } else if replaced == stored.revision, record.revision > stored.revision,
            record.replacedVersion.map({ [UInt8]($0) == Self.version(of: stored) }) ?? true
        {
            let isNear = record.revision - stored.revision <= Self.largestStep
            self = isNear ? .isNext : .refused(HubWriteOutcome(error: .farRevision))
        } else {
            self = .refused(HubWriteOutcome(conflict: stored))
        }
    }

    /// The most revisions that one record may skip. A device that was offline skips some, and a newly set up hub sees
    /// only the last; but never so many that the numbers could run out.
    private static let largestStep: UInt64 = 1 << 20
    private static let largestFirst: UInt64 = 1 << 32

    private static func version(of record: HubRecord) -> [UInt8] {
        RecordVersion.digest(revision: record.revision, sealed: record.sealed.map { [UInt8]($0) })
    }

    /// The versions that a record replaces: the stored one, its ancestors, and those that the writing device reports.
    package static func ancestors(of record: HubRecord, after stored: HubRecord?) -> Data? {
        var versions = RecordVersion.versions(in: [UInt8](stored?.ancestors ?? Data()))
        if let stored { versions.append(version(of: stored)) }
        let known = RecordVersion.versions(in: [UInt8](record.ancestors ?? Data()))
        versions = versions.filter { !known.contains($0) } + known
        return versions.isEmpty ? nil : Data(versions.suffix(RecordVersion.maximumCount).flatMap { $0 })
    }

    /// The bytes that a record counts for in its household: a row of the store and its sealed bytes. A tombstone is
    /// kept, so it counts too, but no more than any record that it can replace: a removal always fits.
    package static func bytes(of record: HubRecord) -> Int64 { bytes(sealed: record.sealed?.count ?? 0) }

    package static func bytes(sealed: Int) -> Int64 { rowBytes + Int64(sealed) }

    package static let rowBytes: Int64 = 512

    /// Whether every store can hold the record.
    package static func isWellFormed(_ record: HubRecord) -> Bool {
        isCollection(record.collection) && (1...UInt64(Int64.max)).contains(record.revision)
            && record.blobs.count <= HubRecord.maximumBlobs
    }

    /// In SQL, the collections whose records expire. Both stores have an index of these alone: other writes need none.
    package static let expiring = "collection IN ('commands', 'events', 'requests')"

    package static func isCollection(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count) && name.utf8.allSatisfy { (97...122).contains($0) || $0 == 45 }
    }
}

/// A page of records under construction, limited by a number of records and of sealed bytes.
package struct RecordPage: Sendable {
    private let limit: Int
    private let maximumBytes: Int
    private var bytes = 0
    private var records: [HubRecord] = []
    private var more = false

    package init(limit: Int, maximumBytes: Int) {
        self.limit = max(1, limit)
        self.maximumBytes = maximumBytes
    }

    /// - Parameter sealed: the records that follow, by their sealed bytes.
    /// - Returns: the bytes of those that fit.
    package func bytes(sealed sizes: [Int]) -> Int {
        var (sealed, count) = (0, 0)
        for size in sizes.prefix(limit) {
            guard count == 0 || sealed + size <= maximumBytes else { break }
            (sealed, count) = (sealed + size, count + 1)
        }
        return sealed + count * Int(RecordDecision.rowBytes)
    }

    /// - Returns: false if the record doesn't fit; no further one does.
    package mutating func append(_ record: HubRecord) -> Bool {
        let size = record.sealed?.count ?? 0
        guard records.isEmpty || (records.count < limit && bytes + size <= maximumBytes) else {
            more = true
            return false
        }
        bytes += size
        records.append(record)
        return true
    }

    /// - Parameters:
    ///   - newest: the household's newest sequence number in the same snapshot.
    ///   - found: how many records there were, if not all of them were offered.
    package func finished(newest: UInt64, found: Int = 0) -> HubRecordPage {
        let more = more || found > records.count
        return HubRecordPage(records: records, next: more ? records.last?.sequence ?? newest : newest, more: more)
    }
}
