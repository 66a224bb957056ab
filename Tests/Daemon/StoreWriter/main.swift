import DaemonCore
import Foundation
import Glibc
import SealedFormats
import SealedStore
import Sync

// Writes records and blobs to the state in the given directory until it is killed. Each line on standard output reports
// an acknowledged write: "r ID REVISION" a record, "b ID SIZE" a blob with its record, "d ID" a removed one; or "x ID":
// a removal is about to begin.

let vault = ItemID(bytes: repeatElement(0, count: ItemID.length)) ?? .random()

func report(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

func record(_ collection: RecordCollection, _ id: ItemID, _ revision: UInt64, sealed: [UInt8]?) -> StoredRecord {
    StoredRecord(
        name: RecordName(vault: vault, collection: collection, id: id, revision: revision), epoch: 1, author: vault,
        sealed: sealed, blobs: collection == .files ? [id] : [])
}

/// The content of the blob with this id, so that a reader detects a partial one.
func content(_ id: ItemID, size: Int) -> [UInt8] {
    (0..<size).map { id.bytes[$0 % 16] ^ UInt8(truncatingIfNeeded: $0) }
}

let directory = CommandLine.arguments[1]
let key = SecretBytes(capacity: 32) { buffer in
    buffer.copyBytes(from: [UInt8](repeating: 1, count: 32))
    return 32
}
let database = try StateDatabase(path: directory + "/state.sqlite", signingKey: try DeviceSigningKey(privateKey: key))
let blobs = try BlobDirectory(path: directory + "/blobs")
// As at the daemon's start.
try await blobs.sweep(keeping: database.blobsOfRecords())
report("started")

try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask {
        for _ in 0..<100_000 {
            let id = ItemID.random()
            for revision in UInt64(1)...3 {
                try await database.write(
                    StateChange(records: [
                        record(.notes, id, revision, sealed: [UInt8](repeating: UInt8(revision), count: 900))
                    ]))
                report("r \(id) \(revision)")
            }
            try await database.append([ActivityEvent(time: 1, kind: .locked, sentence: "\(id)")])
        }
    }
    group.addTask {
        for number in 0..<100_000 {
            let (id, size) = (ItemID.random(), Int.random(in: 1...20_000))
            let bytes = content(id, size: size)
            try await blobs.put(id, offset: 0, bytes: Array(bytes.prefix(size / 2)))
            try await blobs.put(id, offset: UInt64(size / 2), bytes: Array(bytes.dropFirst(size / 2)))
            try await blobs.keep(id)
            try await database.write(
                StateChange(records: [record(.files, id, 1, sealed: Array("\(size)".utf8))]))
            report("b \(id) \(size)")
            if number.isMultiple(of: 3) {
                report("x \(id)")
                try await database.write(StateChange(records: [record(.files, id, 2, sealed: nil)]))
                report("d \(id)")
                try await blobs.remove(id)
            }
        }
    }
    try await group.waitForAll()
}
