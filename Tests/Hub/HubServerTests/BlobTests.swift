import Crypto
import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import TestSupport
import Testing

@testable import HubServer

/// Blobs over HTTP: uploaded in resumable pieces, verified by size and hash, read by ranges.
struct BlobTests {
    private func begin(_ hub: HubUnderTest, _ device: TestDevice, _ bytes: Data, id: HubID = .random()) async throws
        -> HubID
    {
        let answer = try await hub.request(
            .beginBlob, token: device.token,
            body: NewBlobRequest(id: id, size: UInt64(bytes.count), hash: Data(SHA256.hash(data: bytes))))
        #expect(answer.status == 200)
        return id
    }

    private func piece(
        _ hub: HubUnderTest, _ device: TestDevice, _ id: HubID, _ bytes: Data, at offset: Int
    ) async throws -> HubUnderTest.Answer {
        try await hub.send(
            "PATCH", "/v1/blobs/\(id)?offset=\(offset)", token: device.token, body: bytes)
    }

    /// As after the hub's database was restored without its directory of blobs.
    @Test func aBlobWhoseContentIsLostIsNotFound() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let bytes = Data.random(700_000)
            let id = try await begin(hub, computer, bytes)
            _ = try await piece(hub, computer, id, bytes, at: 0)
            let file = hub.directory.path("hub/blobs/\(computer.household)/\(id)")
            func read(_ range: String) async throws -> HubUnderTest.Answer {
                try await hub.request(
                    .readBlob, [id.description], token: computer.token, headers: [("Range", range)])
            }
            // Also where the first pieces are there.
            #expect(truncate(file, 600_000) == 0)
            #expect(try await read("bytes=0-599999").body == bytes.prefix(600_000))
            #expect(try await read("bytes=0-600000").error?.code == .notFound)
            #expect(unlink(file) == 0)
            #expect(try await read("bytes=0-1999").error?.code == .notFound)
            #expect(try await hub.request(.readBlob, [id.description], token: computer.token).status == 404)
        }
    }

    @Test func aBlobIsUploadedInPiecesAndReadByRanges() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let bytes = Data.random(700_001)
            let id = try await begin(hub, computer, bytes)
            let first = try await piece(hub, computer, id, bytes.prefix(400_000), at: 0).decoded(BlobState.self)
            #expect(first == BlobState(size: 700_001, received: 400_000, isComplete: false))
            #expect(try await hub.request(.readBlob, [id.description], token: computer.token).error?.code == .conflict)
            // The answer was lost: the same piece again, and then one after a gap.
            let again = try await piece(hub, computer, id, bytes.prefix(400_000), at: 0)
            #expect(try again.decoded(BlobState.self).received == 400_000)
            #expect(try await piece(hub, computer, id, bytes.suffix(1), at: 700_000).error?.code == .conflict)
            #expect(try await piece(hub, computer, id, bytes, at: 400_000).error?.code == .badRequest)
            let last = try await piece(hub, computer, id, bytes.dropFirst(400_000), at: 400_000)
            #expect(try last.decoded(BlobState.self).isComplete)
            #expect(
                try await hub.request(.blobState, [id.description], token: computer.token).decoded(BlobState.self)
                    .isComplete)

            let whole = try await hub.request(.readBlob, [id.description], token: computer.token)
            #expect(whole.status == 200 && whole.body == bytes)
            for (range, expected) in [
                ("bytes=0-0", 0..<1), ("bytes=300000-600000", 300_000..<600_001), ("bytes=700000-", 700_000..<700_001),
                ("bytes=-5", 699_996..<700_001), ("bytes=5-99999999", 5..<700_001),
            ] {
                let part = try await hub.request(
                    .readBlob, [id.description], token: computer.token, headers: [("Range", range)])
                #expect(part.status == 206 && part.body == bytes[expected], "\(range)")
                #expect(
                    part.header("Content-Range")
                        == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/700001")
            }
            let beyond = try await hub.request(
                .readBlob, [id.description], token: computer.token, headers: [("Range", "bytes=700001-")])
            #expect(beyond.error?.code == .badRequest)
            let record = computer.record("photos", blobs: [id])
            #expect(try await hub.put(record, by: computer).status == 200)
        }
    }

    @Test func aBlobWithAnotherHashStartsAgain() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let bytes = Data.random(1_000)
            let id = try await begin(hub, computer, bytes)
            let wrong = try await piece(hub, computer, id, Data.random(1_000), at: 0)
            #expect(wrong.error?.code == .badRequest)
            let state = try await hub.request(.blobState, [id.description], token: computer.token).decoded(
                BlobState.self)
            #expect(state == BlobState(size: 1_000, received: 0, isComplete: false))
            #expect(try await piece(hub, computer, id, bytes, at: 0).decoded(BlobState.self).isComplete)
            #expect(try await hub.request(.readBlob, [id.description], token: computer.token).body == bytes)
        }
    }

    @Test func aBlobOfAnotherHouseholdIsNotFound() async throws {
        try await HubUnderTest.run { hub in
            let (computer, stranger) = (try await hub.found(), try await hub.found())
            let bytes = Data.random(100)
            let id = try await begin(hub, computer, bytes)
            _ = try await piece(hub, computer, id, bytes, at: 0)
            #expect(try await hub.request(.readBlob, [id.description], token: stranger.token).status == 404)
            #expect(try await piece(hub, stranger, id, bytes, at: 0).status == 404)
            #expect(try await hub.put(stranger.record(blobs: [id]), by: stranger).error?.code == .badRequest)
        }
    }

    @Test func aHouseholdCannotExceedItsQuota() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.quotaBytes = 10_000 }.run { hub in
            let computer = try await hub.found()
            #expect(try await hub.put(computer.record(sealed: Data(count: 6_000)), by: computer).status == 200)
            let second = computer.record(sealed: Data(count: 5_000))
            #expect(try await hub.put(second, by: computer).error?.code == .quotaExceeded)
            let blob = NewBlobRequest(id: .random(), size: 5_000, hash: .random(32))
            #expect(try await hub.request(.beginBlob, token: computer.token, body: blob).status == 507)
            #expect(try await hub.put(computer.record(sealed: Data(count: 2_500)), by: computer).status == 200)
            // Another household has its own quota.
            let other = try await hub.found()
            #expect(try await hub.put(other.record(sealed: Data(count: 6_000)), by: other).status == 200)
        }
    }

    @Test func hubsOfOneStoreShareAQuota() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let limit: UInt64 = 1_000_000
            let hubs = (0..<3).map { _ in Quotas(store: hub.store, limit: limit, time: hub.time) }
            var (written, refused) = (0, 0)
            for number in 0..<600 {
                let record = computer.record(sealed: Data(count: 2_488))
                do {
                    try await hubs[number % 3].reserve(3_000, for: computer.household)
                } catch {
                    refused += 1
                    continue
                }
                _ = try await hub.store.write([record], household: computer.household, at: hub.time.seconds())
                written += 3_000
            }
            #expect(refused > 200)
            #expect(written <= Int(limit) + 3 * Int(limit) / 100)
        }
    }

    @Test func tombstonesCountTowardsTheQuotaAndAreAlwaysAccepted() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.quotaBytes = 3_000 }.run { hub in
            let computer = try await hub.found()
            var refused = 0
            for _ in 0..<8 {
                let id = HubID.random()
                let written = try await hub.put(computer.record(id: id), by: computer)
                refused += written.error?.code == .quotaExceeded ? 1 : 0
                guard written.status == 200 else { continue }
                let removed = try await hub.put(computer.record(id: id, revision: 2, sealed: nil), by: computer)
                #expect(removed.status == 200)
            }
            // A device can't write a tombstone of a record that the hub never had.
            var pretended = computer.record(sealed: nil)
            pretended.replaces = 1
            let outcome = try await hub.request(
                .writeRecords, token: computer.token, body: HubWriteRequest(records: [pretended])
            ).decoded(HubWriteAnswer.self).outcomes[0]
            #expect(outcome.error?.code == .badRequest)
            // 512 bytes of each remain.
            #expect(refused == 3)
            let new = try await hub.put(computer.record(sealed: nil), by: computer)
            #expect(new.error?.code == .quotaExceeded)
        }
    }

    @Test func aCollectedBlobCanBeUploadedAgain() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let bytes = Data.random(5_000)
            let id = try await begin(hub, computer, bytes)
            _ = try await piece(hub, computer, id, bytes.prefix(2_000), at: 0)
            await eventually("housekeeping ran at the start") { hub.time.sleeps.contains(Housekeeping.pause) }
            hub.time.advance(by: .seconds(100_000))
            await eventually("the blob is collected") {
                try await hub.request(.blobState, [id.description], token: computer.token).status == 404
            }
            await eventually("the blob can be uploaded again") {
                try await hub.request(
                    .beginBlob, token: computer.token,
                    body: NewBlobRequest(id: id, size: 5_000, hash: Data(SHA256.hash(data: bytes)))
                ).status == 200
            }
            let whole = try await piece(hub, computer, id, bytes, at: 0)
            #expect(try whole.decoded(BlobState.self).isComplete)
        }
    }

    @Test func sizesAndOffsetsOutOfRangeAreRefused() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            for size: UInt64 in [0, 1 << 63, .max] {
                let answer = try await hub.request(
                    .beginBlob, token: computer.token,
                    body: NewBlobRequest(id: .random(), size: size, hash: .random(32)))
                #expect(answer.error?.code == .badRequest)
            }
            let id = try await begin(hub, computer, Data([1, 2, 3]))
            for offset in ["", "-1", "9223372036854775807", "9223372036854775808", "x"] {
                let answer = try await hub.send(
                    "PATCH", "/v1/blobs/\(id)?offset=\(offset)", token: computer.token, body: Data([1]))
                #expect(answer.error?.code == .badRequest, "\(offset)")
            }
        }
    }
}
