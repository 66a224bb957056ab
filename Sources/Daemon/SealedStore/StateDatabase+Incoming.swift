import Foundation
import GRDB
import Household
import HubAPI
public import SealedFormats
public import Sync

// What comes from the hub. A hub whose store was restored serves older states: they are compared with what is here by their versions,
// so that the newest stays, and of two that don't know of each other both.
extension StateDatabase {
    /// A record as it is stored here, with what is known of it at the hub.
    struct Local {
        var record: StoredRecord
        var known: KnownRevision
        /// That the hub ever had, as far as is known; what it has is the last.
        var versions: [[UInt8]]
        /// Of the outbox, where a change waits.
        var line: Int64?
    }

    static func createVersions(_ database: Database) throws {
        try database.alter(table: "record") { table in
            // The highest revision that the hub ever had, and the versions that it had, one after the other, what it has last.
            table.add(column: "seen", .integer).notNull().defaults(to: 0)
            table.add(column: "versions", .blob).notNull().defaults(to: Data())
        }
        try database.execute(sql: "UPDATE record SET seen = synced")
        for row in try Row.fetchAll(database, sql: "SELECT * FROM record WHERE synced > 0 AND synced = revision") {
            let record = try record(row)
            let version = record.version
            try database.execute(
                sql: "UPDATE record SET versions = ? WHERE collection = ? AND id = ?",
                arguments: [Data(version), record.name.collection.rawValue, Data(record.name.id.bytes)])
        }
    }

    public func ingest(_ incoming: IncomingChange) async throws {
        try await pool.write { [maximumEarlierBytes] database in
            for record in incoming.vaultRecords { try Self.ingest(record, device: self.device.id, in: database) }
            if let time = incoming.vaultRecords.map(\.received).max() {
                try Self.pruneEarlier(at: time, maximumBytes: maximumEarlierBytes, in: database)
            }
            for record in incoming.householdRecords { try Self.keep(record, in: database) }
            try Self.write(incoming.documents, to: database)
        }
    }

    static func local(_ name: RecordName, in database: Database) throws -> Local? {
        let arguments: StatementArguments = [name.collection.rawValue, Data(name.id.bytes)]
        guard
            let row = try Row.fetchOne(
                database, sql: "SELECT * FROM record WHERE collection = ? AND id = ?", arguments: arguments)
        else { return nil }
        let (synced, seen, sequence): (Int64, Int64, Int64) = try (
            row.decode(forColumn: "synced"), row.decode(forColumn: "seen"), row.decode(forColumn: "sequence")
        )
        let versions: Data = try row.decode(forColumn: "versions")
        return Local(
            record: try record(row),
            known: KnownRevision(
                revision: UInt64(clamping: seen), sequence: UInt64(clamping: sequence), atHub: UInt64(clamping: synced)),
            versions: RecordVersion.versions(in: [UInt8](versions)),
            line: try Int64.fetchOne(
                database, sql: "SELECT number FROM outbox WHERE collection = ? AND id = ?", arguments: arguments))
    }

    private static func ingest(_ incoming: IncomingRecord, device: ItemID, in database: Database) throws {
        guard let local = try local(incoming.record.name, in: database) else { return try put(incoming, in: database) }
        guard local.known.isCompared else { return try compare(incoming, local, device: device, in: database) }
        guard incoming.record.name.revision > local.known.revision else { return }
        try follow(incoming, local, device: device, in: database)
    }

    /// It is newer than what the hub had.
    private static func follow(
        _ incoming: IncomingRecord, _ local: Local, device: ItemID, in database: Database
    ) throws {
        let record = incoming.record
        if let line = local.line {
            if local.known.revision == 0, local.record.name.revision == 1 || record.name.revision == 1 {
                // New here and known there: a copy of a conflict that another device made, too.
                if local.record.name.revision > 1 { return try setSynced(record, incoming.sequence, in: database) }
                try unqueue(line, in: database)
                return try put(incoming, in: database)
            }
            let isOwn =
                record.author == device
                && (record.name.revision < local.record.name.revision || record.version == local.record.version)
            if isOwn {
                // What was sent from here and whose answer was lost; where it was changed since, that still waits. Another
                // one of the same revision was written before this computer's state was restored.
                if record.name.revision == local.record.name.revision { try unqueue(line, in: database) }
                return try setSynced(record, incoming.sequence, in: database)
            }
            let keepsBoth = keepsBoth(record)
            if local.record.sealed == nil, !keepsBoth {
                if record.sealed != nil { return try removeAgain(incoming, local, by: device, in: database) }
            } else if local.record.sealed != nil, keepsBoth {
                try setAside(local.record, in: database)
            }
            try unqueue(line, in: database)
        }
        try put(incoming, in: database)
    }

    /// The hub may have lost what it had.
    private static func compare(
        _ incoming: IncomingRecord, _ local: Local, device: ItemID, in database: Database
    ) throws {
        let record = incoming.record
        if record.name.collection == .audit { return try setAtHub(incoming, local, in: database) }
        let version = record.version
        if local.versions.contains(version) {
            // The very same, which another device sent again maybe, or an older state of what is here.
            try setAtHub(incoming, local, in: database)
            let isSame = local.record.name.revision == record.name.revision && local.record.sealed == record.sealed
            guard isSame else { return try queue(record.name, in: database) }
            if let line = local.line { try unqueue(line, in: database) }
            return
        }
        // Ancestors are not signed: a version that follows the stored one has a higher revision, whatever they name.
        let isLater = record.name.revision > local.known.revision
        let own = local.record.version
        let continues = RecordVersion.versions(in: incoming.ancestors).contains(own)
        if isLater, continues || local.line != nil { return try follow(incoming, local, device: device, in: database) }
        // Two versions that don't know of each other.
        let isNewerHere = local.record.name.revision > record.name.revision
        let keepsBoth = keepsBoth(record)
        switch (local.record.sealed, record.sealed) {
        case (nil, nil): if isNewerHere { return try sendAgain(incoming, local, in: database) }
        // For a note a change wins over a removal; for other records the removal wins.
        case (nil, _?):
            if !keepsBoth {
                if isNewerHere { return try sendAgain(incoming, local, in: database) }
                return try removeAgain(incoming, local, by: device, in: database)
            }
        case (_?, nil):
            if isNewerHere { return try sendAgain(incoming, local, in: database) }
            if keepsBoth { try setAside(local.record, in: database) }
        case (_?, _?):
            if isNewerHere {
                if keepsBoth { try setAside(record, in: database) }
                return try sendAgain(incoming, local, in: database)
            }
            if keepsBoth { try setAside(local.record, in: database) }
        }
        if let line = local.line { try unqueue(line, in: database) }
        try put(incoming, in: database)
    }

    private static func keepsBoth(_ record: StoredRecord) -> Bool {
        [RecordCollection.notes, .moments].contains(record.name.collection)
    }

    /// The local version replaces the hub's.
    private static func sendAgain(_ incoming: IncomingRecord, _ local: Local, in database: Database) throws {
        try setAtHub(incoming, local, in: database)
        try queue(incoming.record.name, in: database)
    }

    private static func queue(_ name: RecordName, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO outbox (collection, id) SELECT collection, id FROM record WHERE collection = ? AND id = ?
                    AND NOT EXISTS (SELECT 1 FROM outbox WHERE collection = record.collection AND id = record.id)
                """, arguments: [name.collection.rawValue, Data(name.id.bytes)])
    }

    private static func unqueue(_ line: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM outbox WHERE number = ?", arguments: [line])
    }

    /// The hub has this; what is here stays.
    private static func setAtHub(_ incoming: IncomingRecord, _ local: Local, in database: Database) throws {
        let older = RecordVersion.versions(in: incoming.ancestors).filter { !local.versions.contains($0) }
        let version = incoming.record.version
        try database.execute(
            sql: "UPDATE record SET synced = ?, sequence = ?, versions = ? WHERE collection = ? AND id = ?",
            arguments: [
                Int64(clamping: incoming.record.name.revision), Int64(clamping: incoming.sequence),
                kept(older + local.versions, version),
                incoming.record.name.collection.rawValue, Data(incoming.record.name.id.bytes),
            ])
    }

    /// The hub has this record, which was sent from here; where it was changed since, the change stays.
    static func setSynced(_ record: StoredRecord, _ sequence: UInt64, in database: Database) throws {
        guard let local = try local(record.name, in: database), local.known.atHub < record.name.revision else { return }
        let version = record.version
        try database.execute(
            sql: """
                UPDATE record SET synced = ?, sequence = ?, seen = MAX(seen, ?), versions = ?
                WHERE collection = ? AND id = ?
                """,
            arguments: [
                Int64(clamping: record.name.revision), Int64(clamping: sequence), Int64(clamping: record.name.revision),
                kept(local.versions, version), record.name.collection.rawValue, Data(record.name.id.bytes),
            ])
    }

    /// - Parameter atHub: what the hub has of them now.
    static func kept(_ versions: [[UInt8]], _ atHub: [UInt8]) -> Data {
        let all = versions.filter { $0 != atHub } + [atHub]
        return Data(all.suffix(4 * RecordVersion.maximumCount).flatMap { $0 })
    }

    /// What the hub has, whatever was here, of which the version before is kept.
    private static func put(_ incoming: IncomingRecord, in database: Database) throws {
        let record = incoming.record
        try keepEarlier(record, Requester(device: record.author, time: incoming.received), in: database)
        let ancestors = RecordVersion.versions(in: incoming.ancestors)
        let version = record.version
        let known = try local(record.name, in: database)?.versions ?? []
        try database.execute(
            sql: """
                INSERT INTO record (collection, id, vault, revision, epoch, author, sealed, blobs, synced, sequence, seen,
                    versions, received) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (collection, id) DO UPDATE SET vault = excluded.vault, revision = excluded.revision,
                    epoch = excluded.epoch, author = excluded.author, sealed = excluded.sealed, blobs = excluded.blobs,
                    synced = excluded.synced, sequence = excluded.sequence, seen = excluded.seen,
                    versions = excluded.versions, writer = NULL, received = excluded.received
                """,
            arguments: [
                record.name.collection.rawValue, Data(record.name.id.bytes), Data(record.name.vault.bytes),
                Int64(clamping: record.name.revision), record.epoch, Data(record.author.bytes),
                record.sealed.map { Data($0) },
                blobs(record), Int64(clamping: record.name.revision), Int64(clamping: incoming.sequence),
                Int64(clamping: record.name.revision),
                kept(known.filter { !ancestors.contains($0) } + ancestors, version),
                incoming.received,
            ])
    }

    /// A tombstone after what came, which still waits for the hub, of no earlier epoch than the one that is here.
    private static func removeAgain(
        _ incoming: IncomingRecord, _ local: Local, by device: ItemID, in database: Database
    ) throws {
        try put(incoming, in: database)
        try database.execute(
            sql: """
                UPDATE record SET revision = revision + 1, sealed = NULL, author = ?, epoch = MAX(epoch, ?)
                WHERE collection = ? AND id = ?
                """,
            arguments: [
                Data(device.bytes), local.record.epoch, incoming.record.name.collection.rawValue,
                Data(incoming.record.name.id.bytes),
            ])
        try queue(incoming.record.name, in: database)
    }

    private static func setAside(_ local: StoredRecord, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO conflict (collection, id, vault, revision, epoch, author, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                local.name.collection.rawValue, Data(local.name.id.bytes), Data(local.name.vault.bytes),
                Int64(clamping: local.name.revision), local.epoch, Data(local.author.bytes),
                local.sealed.map { Data($0) },
            ])
    }

    // MARK: Another store at the hub

    public func beginComparing(of device: ItemID, documents: [String: [UInt8]?]) async throws {
        try await pool.write { database in
            try database.execute(sql: "UPDATE record SET synced = 0, sequence = 0 WHERE seen > 0")
            try database.execute(sql: "UPDATE household SET sequence = 0")
            let kept = try Data.fetchAll(
                database, sql: "SELECT record FROM household WHERE collection IN ('keys', 'devices')")
            for data in kept {
                var record = try JSONDecoder().decode(HubRecord.self, from: data)
                guard record.author == HubID(device) else { continue }
                (record.sequence, record.replaces) = (nil, 0)
                try Self.queue([record], in: database)
            }
            try Self.write(documents, to: database)
        }
    }

    public func endComparing(documents: [String: [UInt8]?]) async throws -> Int {
        let kept = sentByAuthorAlone.map(\.rawValue)
        let count = try await pool.write { database in
            try database.execute(
                sql: """
                    INSERT INTO outbox (collection, id) SELECT collection, id FROM record WHERE synced = 0 AND seen > 0
                        AND collection NOT IN (\(databaseQuestionMarks(count: kept.count)))
                        AND NOT EXISTS (SELECT 1 FROM outbox WHERE collection = record.collection AND id = record.id)
                    """, arguments: StatementArguments(kept))
            try Self.write(documents, to: database)
            return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM outbox") ?? 0
        }
        outboxSignal.yield()
        return count
    }

    public func newestSequence() async throws -> UInt64 {
        try await pool.read { database in
            let newest = try Int64.fetchOne(
                database,
                sql: """
                    SELECT MAX((SELECT COALESCE(MAX(sequence), 0) FROM record),
                        (SELECT COALESCE(MAX(sequence), 0) FROM household))
                    """)
            return UInt64(clamping: newest ?? 0)
        }
    }
}
