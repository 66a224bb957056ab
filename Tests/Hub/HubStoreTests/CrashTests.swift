import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import SystemTestSupport
import TestSupport
import Testing

/// The process that owns the database is killed while it writes, repeatedly.
@Suite struct CrashTests {
    /// 200 times with APPLOCKER_LONG=1.
    private var rounds: Int { ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1" ? 200 : 10 }

    @Test func afterAKillEverythingAcknowledgedIsStoredAndNoPINCounterIsRewound() async throws {
        let directory = try TemporaryDirectory()
        let (household, computer) = (HubID.random(), HubID.random())
        var acknowledged = Acknowledged()
        for round in 0..<rounds {
            let writer = try ChildProcess(
                try BuiltProducts.path("hub-store-writer"),
                [directory.path, household.description, computer.description])
            // It is killed after a number of records, blobs or PIN attempts, however fast the machine is.
            let (kind, count) = [
                ("\nr ", Int.random(in: 30...60)), ("\nb ", Int.random(in: 1...4)), ("\na ", Int.random(in: 5...9)),
            ][round % 3]
            await eventually(every: .microseconds(Int.random(in: 1...5_000)), "\(count) are acknowledged") {
                writer.output.components(separatedBy: kind).count > count
            }
            writer.kill(SIGKILL)
            _ = try await writer.wait()
            acknowledged.read(writer.output)
            let store = try SQLiteHubStore(path: directory.path("hub.sqlite"))
            let blobs = try DirectoryBlobStore(path: directory.path("blobs"))
            try await acknowledged.check(store, blobs, household: household, computer: computer, round: round)
            try await store.close()
        }
        #expect(acknowledged.records.count > rounds * 10, "it was killed while it wrote")
        #expect(acknowledged.blobs.count > rounds / 4)
        #expect(acknowledged.attempts > rounds)
        print(
            "\(rounds) kills: \(acknowledged.records.count) records, \(acknowledged.blobs.count) blobs and "
                + "\(acknowledged.attempts) PIN attempts were acknowledged")
    }
}

/// The writes that the writers reported.
private struct Acknowledged {
    var records: [String: (revision: UInt64, sequence: UInt64)] = [:]
    var blobs: [String: UInt64] = [:]
    var attempts = 0
    /// The lowest possible counter on disk; 0 if it may have been reset.
    var failures = 0

    mutating func read(_ output: String) {
        // The last line may be incomplete.
        for line in output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "r": records[words[1]] = (UInt64(words[2]) ?? 0, UInt64(words[3]) ?? 0)
            case "b": blobs[words[1]] = UInt64(words[2])
            case "a":
                attempts += 1
                failures = Int(words[1]) ?? 0
            case "s": failures = 0
            default: break
            }
        }
    }

    func check(
        _ store: SQLiteHubStore, _ bytes: DirectoryBlobStore, household: HubID, computer: HubID, round: Int
    ) async throws {
        let page = try await store.records(
            of: household, after: 0, limit: 10_000_000, maximumBytes: 1 << 40)
        let stored = Dictionary(uniqueKeysWithValues: page.records.map { ($0.id.description, $0) })
        for (id, record) in records {
            let found = try #require(stored[id], "round \(round): record \(id) is gone")
            #expect(found.revision >= record.revision, "round \(round)")
            if found.revision == record.revision { #expect(found.sequence == record.sequence, "round \(round)") }
        }
        // Each second revision replaced the number of its first: as many numbers are missing as second revisions exist.
        let totals = try await store.household(household)
        let replaced = page.records.filter { $0.revision == 2 }.count
        #expect(UInt64(page.records.count + replaced) == totals.sequence, "round \(round): a gap")
        #expect(page.records.last?.sequence ?? 0 == totals.sequence)
        #expect(totals.records == page.records.count)
        for (id, size) in blobs {
            let blob = try #require(HubID(id))
            let state = try #require(try await store.blob(blob, of: household)).state
            #expect(state.received >= size, "round \(round)")
            let found = try await bytes.read(
                StoredBlobID(household: household, blob: blob), offset: 0, length: Int(size))
            let digits = Array(id.utf8)
            #expect(found == (0..<Int(size)).map { digits[$0 % 32] ^ UInt8(truncatingIfNeeded: $0) })
        }
        if let counter = try await store.pinShare(device: computer, household: household) {
            #expect(counter.failures >= failures, "round \(round): the counter was rewound")
        } else {
            #expect(failures == 0)
        }
    }
}
