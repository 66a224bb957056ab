import DaemonCore
import Foundation
import SealedFormats
import SealedStore
import Sync
import SystemTestSupport
import TestSupport
import Testing

@Suite struct CrashTests {
    /// 500 times with APPLOCKER_LONG=1.
    private var rounds: Int { ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1" ? 500 : 10 }

    @Test func afterAKillEverythingAcknowledgedIsStoredAndNoBlobIsPartial() async throws {
        let directory = try TemporaryDirectory()
        var acknowledged = Acknowledged()
        for round in 0..<rounds {
            let writer = try ChildProcess(try BuiltProducts.path("store-writer"), [directory.path])
            // It is killed after a number of records, or of blobs whose first ones are removed, however fast the
            // machine is.
            let (kind, count) =
                round.isMultiple(of: 2) ? ("\nr ", Int.random(in: 9...60)) : ("\nb ", Int.random(in: 2...5))
            await eventually(every: .microseconds(Int.random(in: 1...5_000)), "\(count) are acknowledged") {
                writer.output.components(separatedBy: kind).count > count
            }
            writer.kill(SIGKILL)
            _ = try await writer.wait()
            acknowledged.read(writer.output)
            try await acknowledged.check(directory, round: round)
        }
        #expect(acknowledged.records.count > rounds, "it was killed while it wrote")
        #expect(acknowledged.blobs.count > rounds / 4)
    }
}

/// The writes that a writer reported.
private struct Acknowledged {
    var records: [String: UInt64] = [:]
    var blobs: [String: Int] = [:]
    /// These may exist or not: a removal may be on disk before it is reported.
    var removing: Set<String> = []
    var removed: Set<String> = []

    mutating func read(_ output: String) {
        // The last line may be incomplete.
        for line in output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "r": records[words[1]] = UInt64(words[2])
            case "b": blobs[words[1]] = Int(words[2])
            case "x": removing.insert(words[1])
            case "d":
                removed.insert(words[1])
                blobs[words[1]] = nil
            default: break
            }
        }
    }

    func check(_ directory: TemporaryDirectory, round: Int) async throws {
        let database = try StateDatabase(path: directory.path("state.sqlite"))
        let store = try BlobDirectory(path: directory.path("blobs"))
        let notes = Dictionary(
            uniqueKeysWithValues: try await database.records(in: .notes).map { ($0.name.id.description, $0) })
        for (id, revision) in records {
            let record = try #require(notes[id], "round \(round): record \(id) is gone")
            #expect(record.name.revision >= revision)
            #expect(record.sealed == [UInt8](repeating: UInt8(record.name.revision), count: 900))
        }
        let files = try await database.records(in: .files)
        let known = Set(files.map(\.name.id.description))
        for id in blobs.keys where !removing.contains(id) {
            #expect(known.contains(id), "round \(round): blob \(id) is gone")
        }
        for id in removed { #expect(!known.contains(id), "round \(round): \(id) was removed and exists") }
        for file in files {
            let (id, size) = (file.name.id, Int(String(decoding: file.sealed ?? [], as: UTF8.self)) ?? -1)
            let bytes = try await store.read(id, offset: 0, length: size + 1)
            #expect(bytes == (0..<size).map { id.bytes[$0 % 16] ^ UInt8(truncatingIfNeeded: $0) }, "a partial blob")
        }
        try await store.sweep(keeping: database.blobsOfRecords())
        #expect(Set(try await store.kept()) == Set(files.map(\.name.id)), "orphans")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path("blobs/passing")).isEmpty)
    }
}
