import DaemonCore
import Foundation
import SealedFormats
import SealedStore
import Sync
import TestSupport
import Testing

@Suite struct BlobTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let blobs: BlobDirectory

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("blobs")
        blobs = try BlobDirectory(path: path)
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)
    }

    private func code(_ work: () async throws -> Void) async -> BlobError.Code? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? BlobError)?.code
        }
    }

    @Test func aBlobThatWouldFillTheDiskIsRefusedBeforeItIsFetched() async throws {
        let content = try FileManager.default.attributesOfFileSystem(forPath: path)
        let size = try #require(content[.systemSize] as? UInt64)
        try await blobs.checkRoom(for: 1 << 20)
        #expect(await code { try await blobs.checkRoom(for: size) } == .diskFull)
        #expect(await code { try await blobs.checkRoom(for: .max) } == .diskFull)
    }

    @Test func piecesAreAppendedAtTheEndOfTheLast() async throws {
        let id = ItemID.random()
        #expect(await code { try await blobs.put(id, offset: 3, bytes: [1]) } == .wrongOffset)
        try await blobs.put(id, offset: 0, bytes: [1, 2, 3])
        #expect(await code { try await blobs.put(id, offset: 2, bytes: [9]) } == .wrongOffset)
        #expect(await code { try await blobs.put(id, offset: 4, bytes: [9]) } == .wrongOffset)
        try await blobs.put(id, offset: 3, bytes: [4])
        #expect(try await blobs.read(id, offset: 0, length: 10) == [1, 2, 3, 4])
        #expect(try await blobs.read(id, offset: 3, length: 10) == [4])
        #expect(try await blobs.read(id, offset: 4, length: 10) == [])
        #expect(try await blobs.size(id) == 4)
        // At offset 0 the upload starts again.
        try await blobs.put(id, offset: 0, bytes: [7])
        #expect(try await blobs.read(id, offset: 0, length: 10) == [7])
    }

    @Test func aMissingBlobIsReported() async throws {
        let id = ItemID.random()
        #expect(try await blobs.size(id) == nil)
        #expect(await code { _ = try await blobs.read(id, offset: 0, length: 1) } == .noSuchBlob)
        #expect(await code { try await blobs.keep(id) } == .noSuchBlob)
        try await blobs.remove(id)
    }

    /// After a crash: an incomplete upload, a blob that was kept before its record was written, and a blob whose record
    /// was removed before it.
    @Test func theSweepKeepsOnlyTheBlobsOfRecords() async throws {
        let (half, orphan, needed) = (ItemID.random(), ItemID.random(), ItemID.random())
        for id in [half, orphan, needed] {
            try await blobs.put(id, offset: 0, bytes: [UInt8](repeating: 5, count: 9_000))
        }
        for id in [orphan, needed] { try await blobs.keep(id) }
        try Data("stray".utf8).write(to: URL(fileURLWithPath: path + "/kept/stray.tmp"))

        let restarted = try BlobDirectory(path: path)
        #expect(try await Set(restarted.kept()) == [orphan, needed])
        try await restarted.sweep(keeping: [needed])
        #expect(try names("passing").isEmpty)
        #expect(try names("kept") == ["\(needed)"])
        #expect(try await restarted.read(needed, offset: 8_999, length: 10) == [5])
    }

    /// A killed client's unfinished upload, or a blob that it was about to read.
    @Test func uploadsUnusedForAnHourAreRemoved() async throws {
        let (left, fetched, kept) = (ItemID.random(), ItemID.random(), ItemID.random())
        for id in [left, fetched, kept] { try await blobs.put(id, offset: 0, bytes: [1]) }
        try await blobs.keep(kept)
        for place in ["passing/\(left)", "passing/\(fetched)", "kept/\(kept)"] {
            let earlier = Date(timeIntervalSinceNow: -3_700)
            try FileManager.default.setAttributes([.modificationDate: earlier], ofItemAtPath: path + "/" + place)
        }
        let sent = ItemID.random()
        try await blobs.put(sent, offset: 0, bytes: [1])
        _ = try await blobs.read(fetched, offset: 0, length: 1)
        try await blobs.sweepPassing(idleFor: .seconds(3_600))
        #expect(try Set(names("passing")) == ["\(fetched)", "\(sent)"])
        #expect(try names("kept") == ["\(kept)"])
    }

    @Test func aCompleteBlobIsNotAppendedTo() async throws {
        let id = ItemID.random()
        try await blobs.put(id, offset: 0, bytes: [1, 2])
        try await blobs.keep(id)
        #expect(await code { try await blobs.put(id, offset: 2, bytes: [3]) } == .wrongOffset)
        #expect(try await blobs.read(id, offset: 0, length: 9) == [1, 2])
    }

    @Test func aSymbolicLinkIsNotFollowed() async throws {
        let id = ItemID.random()
        let target = try directory.write("untouched", to: "target")
        try FileManager.default.createSymbolicLink(atPath: "\(path)/passing/\(id)", withDestinationPath: target)
        try FileManager.default.createSymbolicLink(atPath: "\(path)/kept/\(id)", withDestinationPath: target)
        #expect(await code { try await blobs.put(id, offset: 0, bytes: [1]) } == .failed)
        #expect(await code { _ = try await blobs.read(id, offset: 0, length: 9) } == .noSuchBlob)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "untouched")
    }

    @Test func noOtherUserMayReadTheContent() async throws {
        let id = ItemID.random()
        try await blobs.put(id, offset: 0, bytes: [1])
        try await blobs.keep(id)
        for (name, mode) in [("", 0o700), ("/kept", 0o700), ("/passing", 0o700), ("/kept/\(id)", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + name)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
    }
}
