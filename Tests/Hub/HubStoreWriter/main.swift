import Foundation
import Glibc
import HubAPI
import HubStore
import HubStoreSQLite

// Writes to the hub's database in the given directory, for the given household and computer, until it is killed. Each
// line on standard output reports an acknowledged write: "r ID REVISION SEQUENCE" a record, "b ID SIZE" the size of a
// blob, "a FAILURES" a counted PIN attempt; or "s": the counter is about to be reset.

func report(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

func randomID() -> HubID {
    HubID(String((0..<32).map { _ in "0123456789abcdef".randomElement() ?? "0" })) ?? randomID()
}

/// The byte at this offset of a blob, so that a reader detects any other.
func byte(_ id: HubID, _ place: Int) -> UInt8 {
    Array(id.description.utf8)[place % 32] ^ UInt8(truncatingIfNeeded: place)
}

let words = CommandLine.arguments
guard words.count == 4, let household = HubID(words[2]), let computer = HubID(words[3]) else {
    FileHandle.standardError.write(Data("usage: hub-store-writer DIRECTORY HOUSEHOLD COMPUTER\n".utf8))
    exit(64)
}
let store = try SQLiteHubStore(path: words[1] + "/hub.sqlite")
let blobs = try DirectoryBlobStore(path: words[1] + "/blobs")
let time: Int64 = 1_800_000_000
_ = try await store.foundHousehold(
    NewHouseholdRequest(
        household: household, device: computer, entry: Data([1]), tokenHash: Data(repeating: 7, count: 32)))
let share = PINShareRequest.Entry(
    verifier: Data(repeating: 1, count: 32), share: Data(repeating: 2, count: 32),
    changeHash: Data(repeating: 3, count: 32))
if try await store.pinShare(device: computer, household: household) == nil {
    try await store.setPINShare(
        PINShareRequest(entries: Array(repeating: share, count: PINShareRequest.count)), device: computer,
        household: household)
} else {
    report("s")
    _ = try await store.attemptPIN(share.verifier, device: computer, household: household, at: .max)
}
report("started")

func record(_ id: HubID, revision: UInt64, blobs: [HubID] = []) -> HubRecord {
    HubRecord(
        collection: "notes", id: id, vault: household, revision: revision, epoch: 1, author: computer,
        sealed: Data(repeating: UInt8(truncatingIfNeeded: revision), count: 1_024), blobs: blobs,
        signature: Data(count: 64))
}

try await withThrowingTaskGroup(of: Void.self) { group in
    for writer in 0..<12 {
        group.addTask {
            for _ in 0..<100_000 {
                let id = randomID()
                // A third of them write a second revision, which replaces the number of the first.
                for revision: UInt64 in 1...(writer.isMultiple(of: 3) ? 2 : 1) {
                    let outcome = try await store.write(
                        [record(id, revision: revision)], household: household, at: time)
                    guard let sequence = outcome[0].sequence else { throw HubError(.failed, "\(outcome)") }
                    report("r \(id) \(revision) \(sequence)")
                }
            }
        }
    }
    group.addTask {
        for _ in 0..<100_000 {
            let (id, size) = (randomID(), 20_000)
            _ = try await store.beginBlob(
                NewBlobRequest(id: id, size: UInt64(size), hash: Data(count: 32)), by: computer, household: household,
                limit: .max, at: time)
            for from in stride(from: 0, to: size, by: 5_000) {
                try await blobs.write(
                    (from..<from + 5_000).map { byte(id, $0) }, at: UInt64(from),
                    of: StoredBlobID(household: household, blob: id))
                try await store.advanceBlob(
                    id, of: household, from: UInt64(from), to: UInt64(from + 5_000), isComplete: from + 5_000 == size,
                    at: time)
                report("b \(id) \(from + 5_000)")
            }
            _ = try await store.write([record(randomID(), revision: 1, blobs: [id])], household: household, at: time)
        }
    }
    group.addTask {
        for attempt: Int64 in 1...1_000_000 {
            let wrong = Data(repeating: 9, count: 32)
            let counted = try await store.attemptPIN(wrong, device: computer, household: household, at: attempt * 60)
            guard case .wrong(let failures, _) = counted else { continue }
            report("a \(failures)")
            guard failures >= PINShareState.failuresToDestroy - 2 else { continue }
            report("s")
            _ = try await store.attemptPIN(
                share.verifier, device: computer, household: household, at: attempt * 60 + 60)
        }
    }
    try await group.waitForAll()
}
