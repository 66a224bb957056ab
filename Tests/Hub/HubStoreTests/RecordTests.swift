import Foundation
import HubAPI
import HubStore
import SealedFormats
import Testing

extension Conformance {
    @Suite struct Records {
        @Test(arguments: StoreKind.allCases)
        func aRecordIsReadAsItWasWritten(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            var blobs: [HubID] = []
            for _ in 0..<HubRecord.maximumBlobs {
                let blob = HubID.random()
                _ = try await store.beginBlob(
                    NewBlobRequest(id: blob, size: 1, hash: .random(32)), by: household.computer,
                    household: household.id, at: now)
                try await store.advanceBlob(blob, of: household.id, from: 0, to: 1, isComplete: true, at: now)
                blobs.append(blob)
            }
            var records = [household.record(blobs: blobs), household.record(bytes: 0), household.record(bytes: nil)]
            records[0].epoch = .max
            #expect(
                try await store.write(records, household: household.id, at: now)
                    == (1...3).map { HubWriteOutcome(sequence: UInt64($0)) })
            for index in records.indices { records[index].sequence = UInt64(index + 1) }
            let page = try await store.records(
                of: household.id, after: 0, limit: 9, maximumBytes: 1 << 20)
            #expect(page.records == records)
            #expect(page.next == 3 && !page.more)
            for record in records {
                #expect(try await store.record(record.collection, record.id, of: household.id) == record)
            }
            for (limit, maximum, bytes) in [(9, 1 << 20, 100 + 3 * 512), (2, 1 << 20, 612 + 512), (0, 0, 612)] {
                let counted = try await store.recordBytes(
                    of: household.id, after: 0, limit: limit, maximumBytes: maximum)
                #expect(counted == bytes)
            }
            for after: UInt64 in [3, .max] {
                let counted = try await store.recordBytes(of: household.id, after: after, limit: 9, maximumBytes: 9)
                #expect(counted == 0)
            }
            #expect(try await store.recordBytes("notes", records[0].id, of: household.id) == 612)
            #expect(try await store.recordBytes("notes", records[2].id, of: household.id) == 512)
            #expect(try await store.recordBytes("notes", .random(), of: household.id) == 0)
            let stored = try await store.household(household.id)
            #expect(stored.sequence == 3 && stored.records == 2 && stored.bytes == 100 + 8 * 4_608 + 3 * 512)
        }

        @Test(arguments: StoreKind.allCases)
        func theSameRecordAgainKeepsItsNumber(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let record = household.record()
            let outcomes = try await store.write(
                [record, household.record(), record], household: household.id, at: now)
            #expect(outcomes.map(\.sequence) == [1, 2, 1])
            #expect(
                try await store.write([record], household: household.id, at: now + 5) == [HubWriteOutcome(sequence: 1)])
            let stored = try await store.household(household.id)
            #expect(stored.sequence == 2 && stored.records == 2 && stored.bytes == 2 * 612)
        }

        @Test(arguments: StoreKind.allCases)
        func aRevisionThatIsNotTheNextReturnsTheStoredRecordAndBlocksNoOther(
            _ kind: StoreKind
        ) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let id = HubID.random()
            let first = household.record(id)
            var second = household.record(id, revision: 2)
            _ = try await store.write([first, second], household: household.id, at: now)
            (second.sequence, second.ancestors) = (2, RecordDecision.ancestors(of: second, after: first))
            #expect(second.ancestors?.count == 8)
            for revision in [1, 2, 4, UInt64(Int64.max)] {
                let outcomes = try await store.write(
                    [household.record(), household.record(id, revision: revision), household.record()],
                    household: household.id, at: now)
                #expect(outcomes[1] == HubWriteOutcome(conflict: second))
                #expect(outcomes[0].sequence != nil && outcomes[2].sequence == outcomes[0].sequence.map { $0 + 1 })
            }
            // Without a stored record it has to be 1.
            let outcomes = try await store.write([household.record(revision: 2)], household: household.id, at: now)
            #expect(outcomes[0].error?.code == .conflict && outcomes[0].conflict == nil)
            #expect(try await store.record("notes", id, of: household.id) == second)
        }

        /// A record with the highest possible revision could never be replaced.
        @Test(arguments: StoreKind.allCases)
        func aRevisionMaySkipOthersOnlyUpToALimit(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let id = HubID.random()
            func write(_ revision: UInt64, instead replaced: UInt64) async throws -> HubWriteOutcome {
                var record = household.record(id, revision: revision)
                record.replaces = replaced
                return try await store.write([record], household: household.id, at: now)[0]
            }
            for revision: UInt64 in [(1 << 32) + 1, UInt64(Int64.max)] {
                #expect(try await write(revision, instead: 0).error?.code == .badRequest)
            }
            #expect(try await write(7, instead: 0).sequence == 1)
            for revision: UInt64 in [6, 7] { #expect(try await write(revision, instead: 7).conflict?.revision == 7) }
            for revision: UInt64 in [8 + (1 << 20), UInt64(Int64.max)] {
                #expect(try await write(revision, instead: 7).error?.code == .badRequest)
            }
            #expect(try await write(7 + (1 << 20), instead: 7).sequence == 2)
            #expect(try await write(8 + (1 << 20), instead: 7 + (1 << 20)).sequence == 3)
        }

        @Test(arguments: StoreKind.allCases)
        func onlyTheRecordThatCannotBeStoredIsRefused(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let bad = [
                household.record(in: ""), household.record(in: "Notes"), household.record(in: "a\0b"),
                household.record(in: String(repeating: "a", count: 33)), household.record(revision: 0),
                household.record(revision: .max),
                household.record(blobs: (0..<9).map { _ in .random() }), household.record(blobs: [.random()]),
            ]
            let outcomes = try await store.write(bad + [household.record()], household: household.id, at: now)
            #expect(outcomes.dropLast().allSatisfy { $0.error?.code == .badRequest })
            #expect(outcomes.last?.sequence == 1)
        }

        @Test(arguments: StoreKind.allCases)
        func aNewerRevisionReplacesTheNumberAndATombstoneFreesTheSealedBytes(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let id = HubID.random()
            _ = try await store.write([household.record(id, bytes: 70)], household: household.id, at: now)
            _ = try await store.write(
                [household.record(), household.record(id, revision: 2, bytes: 40)], household: household.id, at: now)
            #expect(try await store.household(household.id).bytes == 612 + 552)
            let page = try await store.records(
                of: household.id, after: 0, limit: 9, maximumBytes: 999)
            #expect(page.records.map(\.sequence) == [2, 3])
            _ = try await store.write(
                [household.record(id, revision: 3, bytes: nil)], household: household.id, at: now)
            let stored = try await store.household(household.id)
            #expect(stored.bytes == 612 + 512 && stored.records == 1 && stored.sequence == 4)
            // A later revision has content again.
            _ = try await store.write(
                [household.record(id, revision: 4, bytes: 5)], household: household.id, at: now)
            let again = try await store.household(household.id)
            #expect(again.bytes == 612 + 517 && again.records == 2)
        }

        @Test(arguments: StoreKind.allCases)
        func pagesEndAtTheirLimitsAndContinueFromNext(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            _ = try await store.write(
                (0..<10).map { household.record(in: $0.isMultiple(of: 2) ? "notes" : "events") },
                household: household.id, at: now)
            func page(_ after: UInt64, limit: Int = 100, bytes: Int = 100_000) async throws -> HubRecordPage {
                try await store.records(of: household.id, after: after, limit: limit, maximumBytes: bytes)
            }
            var got = try await page(0, limit: 3)
            #expect(got.records.map(\.sequence) == [1, 2, 3] && got.next == 3 && got.more)
            got = try await page(3, bytes: 250)
            #expect(got.records.map(\.sequence) == [4, 5] && got.next == 5 && got.more)
            got = try await page(3, bytes: 1)
            #expect(got.records.map(\.sequence) == [4] && got.next == 4 && got.more)
            got = try await page(7, limit: 3)
            #expect(got.records.map(\.sequence) == [8, 9, 10] && got.next == 10 && !got.more)
            got = try await page(10)
            #expect(got.records.isEmpty && got.next == 10 && !got.more)
            got = try await page(.max)
            #expect(got.records.isEmpty && got.next == 10 && !got.more)
        }

        @Test(arguments: StoreKind.allCases)
        func householdsDoNotSeeEachOthersRecords(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (one, two) = (
                try await SampleHousehold.founded(in: store), try await SampleHousehold.founded(in: store)
            )
            let id = HubID.random()
            _ = try await store.write([one.record(id)], household: one.id, at: now)
            #expect(try await store.record("notes", id, of: two.id) == nil)
            let outcomes = try await store.write([two.record(id)], household: two.id, at: now)
            #expect(outcomes[0].sequence == 1)
            #expect(try await store.record("notes", id, of: one.id)?.author == one.computer)
            let page = try await store.records(of: two.id, after: 0, limit: 9, maximumBytes: 999)
            #expect(page.records.map(\.author) == [two.computer])
        }

        @Test(arguments: StoreKind.allCases)
        func pruningRemovesOldRecordsAndReusesNoNumber(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (old, gone) = (HubID.random(), HubID.random())
            _ = try await store.write(
                [
                    household.record(old, in: "events"), household.record(in: "notes"),
                    household.record(gone, in: "notes", bytes: nil), household.record(in: "events", bytes: nil),
                ], household: household.id, at: now)
            _ = try await store.write(
                [household.record(in: "events"), household.record(in: "notes", bytes: nil)], household: household.id,
                at: now + 10)

            #expect(try await store.prune(["events"], of: household.id, writtenBefore: now) == 0)
            #expect(try await store.prune(["notes"], of: household.id, writtenBefore: now + 10) == 0)
            #expect(try await store.prune(["events", "commands"], of: household.id, writtenBefore: now + 10) == 2)
            #expect(try await store.record("events", old, of: household.id) == nil)
            #expect(try await store.record("notes", gone, of: household.id) != nil)
            let stored = try await store.household(household.id)
            #expect(stored.records == 2 && stored.bytes == 2 * 612 + 2 * 512 && stored.sequence == 6)
            let outcomes = try await store.write([household.record()], household: household.id, at: now)
            #expect(outcomes[0].sequence == 7)
        }

        @Test(arguments: StoreKind.allCases)
        func aChangeReplacesOnlyTheVersionThatItNames(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let id = HubID.random()
            let (seen, stored) = (household.record(id), household.record(id))
            func version(_ record: HubRecord) -> Data {
                Data(RecordVersion.digest(revision: record.revision, sealed: record.sealed.map { [UInt8]($0) }))
            }
            _ = try await store.write([stored], household: household.id, at: now)
            var change = household.record(id, revision: 2)
            change.replacedVersion = version(seen)
            let refused = try await store.write([change], household: household.id, at: now)[0]
            #expect(refused.conflict?.sealed == stored.sealed)
            change.replacedVersion = version(stored)
            #expect(
                try await store.write([change, change], household: household.id, at: now).map(\.sequence) == [2, 2])
            #expect(try await store.record("notes", id, of: household.id)?.replacedVersion == nil)
        }

        @Test(arguments: StoreKind.allCases)
        func aFirstRevisionThatReplacesSomethingIsRefused(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let household = try await SampleHousehold.founded(in: open.store)
            var record = household.record(bytes: nil)
            record.replaces = 1
            let outcome = try await open.store.write([record], household: household.id, at: now)[0]
            #expect(outcome.error?.code == .conflict && outcome.sequence == nil)
        }

        @Test(arguments: StoreKind.allCases)
        func aRecordStaysInItsVault(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let id = HubID.random()
            var record = household.record(id)
            _ = try await store.write([record], household: household.id, at: now)
            record = household.record(id, revision: 2)
            record.vault = .random()
            let outcome = try await store.write([record], household: household.id, at: now)[0]
            #expect(outcome.error?.code == .badRequest && outcome.sequence == nil)
            #expect(try await store.record("notes", id, of: household.id)?.vault == household.id)
        }

        @Test(arguments: StoreKind.allCases)
        func sequenceNumbersHaveNoGapUnder64Writers(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (one, two) = (
                try await SampleHousehold.founded(in: store), try await SampleHousehold.founded(in: store)
            )
            let numbers = try await withThrowingTaskGroup(of: [UInt64].self) { group in
                for writer in 0..<64 {
                    let household = writer.isMultiple(of: 4) ? two : one
                    group.addTask {
                        var numbers: [UInt64] = []
                        for round in 0..<20 {
                            // One of them is refused and gets no number.
                            let records = [household.record(), household.record(revision: 9), household.record()]
                            let outcomes = try await store.write(
                                round.isMultiple(of: 5) ? records : [records[0]], household: household.id, at: now)
                            numbers += outcomes.compactMap(\.sequence)
                        }
                        return household.id == one.id ? numbers : []
                    }
                }
                return try await group.reduce(into: [UInt64]()) { $0 += $1 }
            }
            let expected = 48 * (16 + 4 * 2)
            #expect(numbers.sorted() == Array(1...UInt64(expected)))
            #expect(try await store.household(one.id).sequence == UInt64(expected))
            #expect(try await store.household(two.id).sequence == UInt64(16 * (16 + 4 * 2)))
            let page = try await store.records(
                of: one.id, after: 0, limit: 10_000, maximumBytes: 1 << 30)
            #expect(page.records.compactMap(\.sequence) == Array(1...UInt64(expected)))
        }
    }
}
