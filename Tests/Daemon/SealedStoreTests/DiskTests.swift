import ControlAPI
import DaemonCore
import Foundation
import GRDB
import Glibc
import SealedFormats
import Sync
import SystemTestSupport
import TestSupport
import Testing

@testable import SealedStore

/// A disk that is full, read-only or inaccessible: the error has a reason, nothing is lost, and writes continue
/// afterwards.
@Suite(.requires(.root)) struct DiskTests {
    private let directory: TemporaryDirectory
    private let mounted: MountedMemory
    private var path: String { mounted.place + "/state.sqlite" }
    private let sample = SampleRecord()

    init() throws {
        directory = try TemporaryDirectory()
        mounted = try MountedMemory(at: directory.path("disk"), "size=1m")
    }

    private func record() throws -> StoredRecord {
        var one = sample
        one.id = .random()
        return try one.sealed(title: "t", body: String(repeating: "x", count: 3_000))
    }

    private func fill() throws {
        let filler = open(mounted.place + "/filler", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(filler) }
        let zeros = [UInt8](repeating: 0, count: 4_096)
        while write(filler, zeros, zeros.count) > 0 {}
        #expect(errno == ENOSPC)
    }

    private func makeRoom() { unlink(mounted.place + "/filler") }

    @Test func onAFullDiskNothingIsLostAndWritesContinueOnceThereIsSpace() async throws {
        let database = try StateDatabase(path: path)
        let first = try record()
        try await database.write(StateChange(documents: ["a": [1]], records: [first]))
        try await database.append([ActivityEvent(time: 1, kind: .locked, sentence: "one")])
        try fill()
        var (acknowledged, document) = ([first], UInt8(1))
        var refusal: (any Error)?
        // SQLite may still have reserved space.
        for _ in 0..<500 where refusal == nil {
            let next = try record()
            do {
                try await database.write(StateChange(documents: ["a": [2]], records: [next]))
                acknowledged.append(next)
                document = 2
            } catch { refusal = error }
        }
        #expect((refusal as? DatabaseError)?.resultCode == .SQLITE_FULL, "\(String(describing: refusal))")
        #expect("\(refusal ?? CancellationError())".contains("full"))
        await #expect(throws: (any Error).self) {
            for _ in 0..<500 { try await database.append([ActivityEvent(time: 2, kind: .locked, sentence: "two")]) }
        }
        func check(_ database: StateDatabase) async throws {
            #expect(try await Set(database.records(in: .notes)) == Set(acknowledged))
            #expect(try await database.document("a") == [document])
            #expect(try await database.verifyLog(known: nil).isWhole)
        }
        try await check(database)

        makeRoom()
        let last = try record()
        try await database.write(StateChange(records: [last]))
        acknowledged.append(last)
        try await database.append([ActivityEvent(time: 3, kind: .locked, sentence: "three")])
        try await check(database)
        try await check(try StateDatabase(path: path))
    }

    @Test func creatingAStateOnAFullDiskFailsWithAReason() throws {
        try fill()
        let error = #expect(throws: StateDatabaseError.self) { _ = try StateDatabase(path: path) }
        guard case .unavailable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        makeRoom()
        _ = try StateDatabase(path: path)
    }

    @Test func aBlobOnAFullDiskKeepsItsBytesAndContinuesOnceThereIsSpace() async throws {
        let blobs = try BlobDirectory(path: mounted.place + "/blobs")
        let (kept, id) = (ItemID.random(), ItemID.random())
        try await blobs.put(kept, offset: 0, bytes: [UInt8](repeating: 1, count: 10_000))
        try await blobs.keep(kept)
        try await blobs.put(id, offset: 0, bytes: [UInt8](repeating: 2, count: 10_000))
        let rest = [UInt8](repeating: 3, count: 300_000)
        try fill()
        let error = await #expect(throws: BlobError.self) { try await blobs.put(id, offset: 10_000, bytes: rest) }
        #expect(error?.code == .diskFull)
        #expect(error?.sentence == "The disk is full; free some space and try again.")
        #expect(try await blobs.size(id) == 10_000)
        #expect(try await blobs.read(kept, offset: 9_999, length: 9) == [1])

        makeRoom()
        try await blobs.put(id, offset: 10_000, bytes: rest)
        try await blobs.keep(id)
        #expect(try await blobs.read(id, offset: 9_999, length: 2) == [2, 3])
        #expect(try await blobs.size(id) == 310_000)
    }

    @Test func onAReadOnlyDiskWritesFailWithAReasonAndNothingIsLost() async throws {
        let blobs = try BlobDirectory(path: mounted.place + "/blobs")
        let (record, blob) = (try record(), ItemID.random())
        try await blobs.put(blob, offset: 0, bytes: [1])
        try await blobs.keep(blob)
        do {
            let database = try StateDatabase(path: path)
            try await database.write(StateChange(records: [record]))
            try database.pool.close()
        }
        try mounted.remount(readOnly: true)
        let error = #expect(throws: StateDatabaseError.self) { _ = try StateDatabase(path: path) }
        guard case .unavailable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let refusals = [
            await #expect(throws: BlobError.self) { try await blobs.put(.random(), offset: 0, bytes: [1]) },
            await #expect(throws: BlobError.self) { try await blobs.remove(blob) },
        ]
        for refusal in refusals { #expect(refusal?.sentence.contains("Read-only file system") == true) }
        #expect(try await blobs.read(blob, offset: 0, length: 9) == [1])

        try mounted.remount(readOnly: false)
        #expect(try await StateDatabase(path: path).records(in: .notes) == [record])
        try await blobs.remove(blob)
    }

    /// The program that writes runs as another user, who does not own the files.
    @Test func aStateWithoutPermissionIsRefusedAndUnchanged() async throws {
        let open = try TemporaryDirectory()
        let programs = try BuiltProducts.directoryForEverybody(["store-writer"], copies: open)
        let record = try record()
        do {
            let database = try StateDatabase(path: path)
            try await database.write(StateChange(records: [record]))
            try database.pool.close()
        }
        chmod(directory.path, 0o755)
        for mode in [mode_t(0o700), 0o755] {
            chmod(mounted.place, mode)
            let before = try FileManager.default.contentsOfDirectory(atPath: mounted.place).sorted()
            let outcome = try await ChildProcess.run(
                programs.path + "/store-writer", [mounted.place], user: 65_534)
            #expect(outcome.exit != .code(0) && outcome.output.isEmpty)
            #expect(outcome.errorOutput.contains("state.sqlite can't be opened"), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("the file's permissions"), "\(outcome.errorOutput)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: mounted.place).sorted() == before)
        }
        #expect(try await StateDatabase(path: path).records(in: .notes) == [record])
    }
}

/// A small file system in memory, unmounted with the value.
final class MountedMemory: Sendable {
    let place: String
    private let options: String

    init(at place: String, _ options: String) throws {
        self.place = place
        self.options = options
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try #require(mount("tmpfs", place, "tmpfs", 0, options) == 0)
    }

    func remount(readOnly: Bool) throws {
        try #require(mount(nil, place, nil, UInt(MS_REMOUNT | (readOnly ? MS_RDONLY : 0)), options) == 0)
    }

    deinit { umount2(place, Int32(MNT_DETACH)) }
}
