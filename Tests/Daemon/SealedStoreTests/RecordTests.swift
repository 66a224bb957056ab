import ControlAPI
import DaemonCore
import Foundation
import GRDB
import SealedFormats
import Sync
import TestSupport
import Testing

@testable import SealedStore

@Suite struct RecordTests {
    private let directory: TemporaryDirectory
    private let database: StateDatabase
    private let sample = SampleRecord()

    init() throws {
        directory = try TemporaryDirectory()
        database = try StateDatabase(path: directory.path("state.sqlite"))
    }

    /// The database and the files that SQLite has beside it.
    private func files() throws -> [(name: String, bytes: Data)] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).map {
            ($0, try Data(contentsOf: URL(fileURLWithPath: directory.path($0))))
        }
    }

    private func outbox() throws -> [Data] {
        try DatabaseQueue(path: directory.path("state.sqlite")).read {
            try Data.fetchAll($0, sql: "SELECT id FROM outbox ORDER BY number")
        }
    }

    // MARK: Revisions

    @Test func aRevisionMustBeTheOneAfterTheStoredOne() async throws {
        let id = sample.id
        func conflict(_ revision: UInt64) async throws -> UInt64? {
            let record = try sample.sealed(title: "\(revision)", body: "", revision: revision)
            do {
                try await database.write(StateChange(records: [record]))
                return nil
            } catch let error as RevisionConflict {
                #expect(error.name == record.name)
                return error.current
            }
        }
        #expect(try await conflict(2) == 0)
        #expect(try await conflict(1) == nil)
        #expect(try await conflict(1) == 1)
        #expect(try await conflict(3) == 1)
        #expect(try await conflict(2) == nil)
        #expect(try await conflict(1) == 2)
        let stored = try #require(try await database.record(.notes, id))
        #expect(stored.name.revision == 2)
        #expect(try sample.opened(stored)["title"] == "2")
    }

    /// The losing version is returned to its writer, who stores it as another record; the winning one is unchanged.
    @Test func twoChangesOfOneRevisionCanBothBeKept() async throws {
        try await database.write(StateChange(records: [try sample.sealed(title: "plan", body: "one")]))
        let ours = try sample.sealed(title: "plan", body: "ours", revision: 2)
        let theirs = try sample.sealed(title: "plan", body: "theirs", revision: 2)
        try await database.write(StateChange(records: [ours]))
        await #expect(throws: RevisionConflict(name: theirs.name, current: 2)) {
            try await database.write(StateChange(records: [theirs]))
        }
        var copy = sample
        copy.id = .random()
        try await database.write(StateChange(records: [try copy.sealed(title: "plan (conflict)", body: "theirs")]))
        let bodies = try await database.records(in: .notes).compactMap { record in
            try (record.name.id == sample.id ? sample : copy).opened(record)["body"]
        }
        #expect(bodies.sorted() == ["ours", "theirs"])
    }

    @Test func aChangeReplacesOnlyTheVersionThatItNames() async throws {
        let (seen, stored) = (
            try sample.sealed(title: "plan", body: "seen"), try sample.sealed(title: "plan", body: "stored")
        )
        try await database.write(StateChange(records: [stored]))
        var change = StateChange(records: [try sample.sealed(title: "plan", body: "change", revision: 2)])
        for other in [seen, nil] {
            let tag = [UInt8]((other?.sealed ?? []).suffix(RecordStamp.tagLength))
            change.replaced = [change.records[0].name: RecordStamp(revision: 1, tag: tag)]
            await #expect(throws: RevisionConflict(name: change.records[0].name, current: 1)) {
                try await database.write(change)
            }
            var resealed = StateChange()
            (resealed.resealed, resealed.replaced) = (change.records, change.replaced)
            await #expect(throws: RevisionConflict.self) { try await database.write(resealed) }
        }
        let tag = [UInt8](try #require(stored.sealed).suffix(RecordStamp.tagLength))
        change.replaced = [change.records[0].name: RecordStamp(revision: 1, tag: tag)]
        try await database.write(change)
        #expect(try await database.record(.notes, sample.id)?.name.revision == 2)
    }

    @Test func concurrentWritersNeverUseTheSameRevision() async throws {
        try await database.write(StateChange(records: [try sample.sealed(title: "0", body: "")]))
        let database = database
        let winners = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...20 {
                let record = try sample.sealed(title: "\(number)", body: "", revision: 2)
                group.addTask {
                    do {
                        try await database.write(StateChange(records: [record]))
                        return number
                    } catch is RevisionConflict { return 0 }
                }
            }
            return try await group.reduce(into: []) { if $1 > 0 { $0.append($1) } }
        }
        #expect(winners.count == 1)
        let stored = try #require(try await database.record(.notes, sample.id))
        #expect(try sample.opened(stored)["title"] == "\(winners[0])")
    }

    @Test func aChangeIsAtomic() async throws {
        var other = sample
        other.id = .random()
        try await database.save([1], as: "a")
        let outdated = try sample.sealed(title: "t", body: "b", revision: 7)
        let change = StateChange(
            documents: ["a": [2], "new": [3]], records: [try other.sealed(title: "t", body: "b"), outdated])
        await #expect(throws: RevisionConflict.self) { try await database.write(change) }
        #expect(try await database.records(in: .notes).isEmpty)
        #expect(try await database.document("a") == [1])
        #expect(try await database.document("new") == nil)
        #expect(try outbox().isEmpty)
    }

    // MARK: Tombstones

    @Test func aRemovedRecordLeavesATombstoneWithoutItsBody() async throws {
        let record = try sample.sealed(title: "gone", body: "gone")
        try await database.write(StateChange(records: [record]))
        try await database.write(StateChange(records: [sample.tombstone(revision: 2)]))
        #expect(try await database.records(in: .notes).isEmpty)
        #expect(try await database.record(.notes, sample.id) == sample.tombstone(revision: 2))
        // The record exists again only with a later revision.
        await #expect(throws: RevisionConflict.self) { try await database.write(StateChange(records: [record])) }
        try await database.write(StateChange(records: [try sample.sealed(title: "back", body: "", revision: 3)]))
        #expect(try await database.records(in: .notes).count == 1)
    }

    @Test func theOutboxHasEachRecordOnceInTheOrderOfItsLastChange() async throws {
        var second = sample
        second.id = .random()
        try await database.write(StateChange(records: [try sample.sealed(title: "a", body: "")]))
        try await database.write(StateChange(records: [try second.sealed(title: "b", body: "")]))
        #expect(try outbox() == [Data(sample.id.bytes), Data(second.id.bytes)])
        try await database.write(StateChange(records: [sample.tombstone(revision: 2)]))
        #expect(try outbox() == [Data(second.id.bytes), Data(sample.id.bytes)])
    }

    // MARK: Clear text on disk

    @Test func onlyNamesAndSizesAreInClear() async throws {
        let words = ["Titelmarke", "Textmarke-12-34-56"]
        for number in 0..<50 {
            var one = sample
            one.id = .random()
            try await database.write(
                StateChange(records: [try one.sealed(title: words[0], body: "\(words[1]) \(number)")]))
        }
        let key = sample.key.withUnsafeBytes { Data($0) }
        func search() throws {
            let files = try files()
            #expect(files.contains { $0.name.hasSuffix("-wal") } && files.contains { $0.name == "state.sqlite" })
            for marker in words.map({ Data($0.utf8) }) + [key] {
                for file in files { #expect(file.bytes.range(of: marker) == nil, "\(file.name)") }
                // In the forms in which SQLite or JSON would contain it.
                for file in files { #expect(file.bytes.range(of: marker.base64EncodedData().dropLast(4)) == nil) }
            }
            // A text that is in clear is found.
            #expect(files.contains { $0.bytes.range(of: Data(sample.vault.bytes)) != nil })
        }
        try search()
        try await DatabaseQueue(path: directory.path("state.sqlite")).writeWithoutTransaction {
            _ = try $0.checkpoint(.truncate)
        }
        try search()
        let (columns, earlier) = try await DatabaseQueue(path: directory.path("state.sqlite")).read {
            (try $0.columns(in: "record").map(\.name), try $0.columns(in: "earlier").map(\.name))
        }
        // The last seven: the hub's revision, its sequence number, the ids of sealed content, the highest revision that
        // the hub ever had, hashes of its versions, the author of the change, and its time of arrival.
        #expect(
            columns == [
                "collection", "id", "vault", "revision", "epoch", "author", "sealed", "synced", "sequence", "blobs",
                "seen", "versions", "writer", "received",
            ])
        #expect(
            earlier == [
                "number", "collection", "id", "vault", "revision", "epoch", "author", "sealed", "blobs", "writer",
                "replacer", "replaced", "stood", "size",
            ])
    }

    @Test func theSizeRevealsLittleOfTheContent() throws {
        func size(_ count: Int) throws -> Int {
            try sample.sealed(title: "t", body: String(repeating: "x", count: count)).sealed?.count ?? 0
        }
        // All short bodies have one size.
        #expect(try Set((0...200).map(size)).count == 1)
        // Longer ones share a size with similar ones: at most 12 % and a header are added.
        #expect(try Set((10_000..<10_100).map(size)).count <= 2)
        for count in [1_000, 10_000, 100_000, 1_000_000] {
            let size = try size(count)
            #expect(size >= count && Double(size) <= Double(count) * 1.12 + 256)
        }
    }

    @Test func aRecordWhoseColumnsWereChangedIsRefused() async throws {
        try await database.write(StateChange(records: [try sample.sealed(title: "t", body: "b")]))
        let original = try #require(try await database.record(.notes, sample.id))
        for edit in ["revision = 'x'", "revision = -1", "epoch = 5000000000", "vault = x'00'", "author = 7"] {
            try await DatabaseQueue(path: directory.path("state.sqlite")).write {
                try $0.execute(sql: "UPDATE record SET \(edit)")
            }
            let database = database
            await #expect(throws: (any Error).self, "\(edit)") {
                let found = try await database.records(in: .notes)
                // If SQLite converted it to a number, the envelope does not open under another name.
                _ = try sample.opened(#require(found.first))
            }
            try await DatabaseQueue(path: directory.path("state.sqlite")).write {
                try $0.execute(
                    sql: "UPDATE record SET revision = 1, epoch = 1, vault = ?, author = ?",
                    arguments: [Data(sample.vault.bytes), Data(sample.author.bytes)])
            }
        }
        #expect(try await database.record(.notes, sample.id) == original)
    }

    // MARK: Erasing

    @Test func erasedContentIsNotInTheFiles() async throws {
        let records = try (0..<20).map { _ in
            var one = sample
            one.id = .random()
            return try one.sealed(title: "t", body: "b")
        }
        try await database.write(
            StateChange(documents: ["secret": Array("a marker of a document".utf8)], records: records))
        try await database.append([ActivityEvent(time: 1, kind: .locked, sentence: "a marker of an event")])
        let bodies = records.compactMap { $0.sealed.map { Data($0.suffix(48)) } }
        #expect(try files().contains { file in bodies.contains { file.bytes.range(of: $0) != nil } })
        try await database.eraseAll()
        for file in try files() {
            for body in bodies + [Data("a marker".utf8)] { #expect(file.bytes.range(of: body) == nil, "\(file.name)") }
        }
        #expect(try await database.records(in: .notes).isEmpty)
        // Records that a caller still has can't be written.
        await #expect(throws: (any Error).self) { try await database.save([1], as: "apps") }
        await #expect(throws: (any Error).self) { try await database.write(StateChange(records: records)) }
        await #expect(throws: (any Error).self) {
            try await database.append([ActivityEvent(time: 1, kind: .locked, sentence: "late")])
        }
        #expect(try await database.document("apps") == nil)
        // The next start creates a new database, with another key.
        let key = DeviceSigningKey()
        let anew = try StateDatabase(path: directory.path("state.sqlite"), signingKey: key)
        try await anew.append([ActivityEvent(time: 1, kind: .locked, sentence: "new")])
        try await anew.write(StateChange(records: [try sample.sealed(title: "t", body: "b")]))
        let verified = try await anew.verifyLog(known: nil)
        #expect(verified.isWhole && verified.links == 1)
    }
}
