import Foundation
import Glibc
import HubAPI
import HubStore
import HubStoreSQLite
import SystemTestSupport
import TestSupport
import Testing

/// On a full disk an error has a reason, nothing acknowledged is lost, and writes continue once there is space.
@Suite(.requires(.root)) struct FullDiskTests {
    private let directory: TemporaryDirectory
    private let disk: SmallDisk

    init() throws {
        directory = try TemporaryDirectory()
        disk = try SmallDisk(at: directory.path("disk"))
    }

    @Test func onAFullDiskWritesAreRefusedAndNothingIsLost() async throws {
        let store = try SQLiteHubStore(path: disk.path + "/hub.sqlite")
        let household = try await SampleHousehold.founded(in: store)
        try disk.fill()
        var acknowledged: [HubRecord] = []
        var refusals: [HubError] = []
        // Several at the same time, so that a transaction of many is refused as a whole.
        for _ in 0..<200 where refusals.isEmpty {
            let outcomes = await withTaskGroup(of: Result<HubRecord, any Error>.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var record = household.record(bytes: 3_000)
                        do {
                            let outcomes = try await store.write([record], household: household.id, at: now)
                            record.sequence = outcomes[0].sequence
                            return .success(record)
                        } catch { return .failure(error) }
                    }
                }
                return await group.reduce(into: [Result<HubRecord, any Error>]()) { $0.append($1) }
            }
            for outcome in outcomes {
                switch outcome {
                case .success(let record): acknowledged.append(record)
                case .failure(let error): refusals.append(try #require(error as? HubError))
                }
            }
        }
        #expect(!refusals.isEmpty && refusals.allSatisfy { $0.code == .unavailable })
        #expect(refusals.first?.message.contains("disk is full") == true)
        try await check(store, acknowledged, household)
        disk.makeRoom()
        let record = household.record()
        #expect(try await store.write([record], household: household.id, at: now)[0].error == nil)
        try await store.close()
        let reopened = try SQLiteHubStore(path: disk.path + "/hub.sqlite")
        try await check(reopened, acknowledged, household)
        try await reopened.close()
    }

    private func check(
        _ store: SQLiteHubStore, _ acknowledged: [HubRecord], _ household: SampleHousehold
    ) async throws {
        let page = try await store.records(
            of: household.id, after: 0, limit: 10_000, maximumBytes: 1 << 30)
        #expect(Set(acknowledged).isSubset(of: page.records))
        let sequence = try await store.household(household.id).sequence
        #expect(page.records.compactMap(\.sequence) == (0..<sequence).map { $0 + 1 })
    }

    @Test func aPieceThatDoesNotFitFreesItsSpace() async throws {
        let blobs = try DirectoryBlobStore(path: disk.path + "/blobs")
        let blob = StoredBlobID(household: .random(), blob: .random())
        try await blobs.write([1, 2, 3], at: 0, of: blob)
        let big = [UInt8](repeating: 9, count: 2 << 20)
        do {
            try await blobs.write(big, at: 3, of: blob)
            Issue.record("2 MiB were written to a disk of 1 MiB")
        } catch let error as HubError {
            #expect(error.code == .unavailable && error.message.contains("disk is full"))
        }
        #expect(try await blobs.read(blob, offset: 0, length: 9) == [1, 2, 3])
        try await blobs.write([4, 5], at: 3, of: blob)
        #expect(try await blobs.read(blob, offset: 0, length: 9) == [1, 2, 3, 4, 5])
    }
}

/// 1 MiB of memory, mounted as a disk.
private final class SmallDisk: Sendable {
    let path: String

    init(at path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=1m,mode=0700") == 0)
    }

    func fill() throws {
        let filler = open(path + "/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(filler) }
        let zeros = [UInt8](repeating: 0, count: 4_096)
        while write(filler, zeros, zeros.count) > 0 {}
        try #require(errno == ENOSPC)
    }

    func makeRoom() { unlink(path + "/filler") }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}
