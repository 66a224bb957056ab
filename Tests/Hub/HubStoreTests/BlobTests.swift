import Foundation
import HubAPI
import HubStore
import Testing

extension Conformance {
    @Suite struct Blobs {
        @Test(arguments: StoreKind.allCases)
        func aBlobGrowsFromItsStoredBytes(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let request = NewBlobRequest(id: .random(), size: 10, hash: .random(32))
            func advance(_ from: UInt64, _ to: UInt64, _ isComplete: Bool = false) async throws {
                try await store.advanceBlob(
                    request.id, of: household.id, from: from, to: to, isComplete: isComplete, at: now)
            }
            await expectRefusal(.notFound) { try await advance(0, 1) }
            #expect(try await store.blob(request.id, of: household.id) == nil)
            let begun = try await store.beginBlob(request, by: household.computer, household: household.id, at: now)
            #expect(begun == BlobState(size: 10, received: 0, isComplete: false))
            try await advance(0, 4)
            await expectRefusal(.conflict) { try await advance(0, 4) }
            await expectRefusal(.conflict) { try await advance(5, 6) }
            await expectRefusal(.badRequest) { try await advance(4, 11) }
            await expectRefusal(.badRequest) { try await advance(4, 3) }
            await expectRefusal(.badRequest) { try await advance(4, 8, true) }
            let again = try await store.beginBlob(request, by: household.computer, household: household.id, at: now + 9)
            #expect(again == BlobState(size: 10, received: 4, isComplete: false))
            // Its bytes were wrong: the upload starts again.
            try await advance(4, 0)
            try await advance(0, 9)
            try await advance(9, 10, true)
            await expectRefusal(.conflict) { try await advance(10, 0) }
            #expect(
                try await store.blob(request.id, of: household.id)
                    == StoredBlob(
                        state: BlobState(size: 10, received: 10, isComplete: true), hash: request.hash))
        }

        @Test(arguments: StoreKind.allCases)
        func aBlobCountsWithItsFullSizeFromTheStart(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let request = NewBlobRequest(id: .random(), size: 1 << 33, hash: .random(32))
            for _ in 0..<2 {
                _ = try await store.beginBlob(request, by: household.computer, household: household.id, at: now)
            }
            #expect(try await store.household(household.id).bytes == (1 << 33) + 512)
            // A row and a block for each blob, however small.
            for size: UInt64 in [1, 4_096, 4_097] {
                _ = try await store.beginBlob(
                    NewBlobRequest(id: .random(), size: size, hash: .random(32)), by: household.computer,
                    household: household.id, at: now)
            }
            #expect(try await store.household(household.id).bytes == (1 << 33) + 4 * 512 + 4 * 4_096)
            for bad in [
                NewBlobRequest(id: request.id, size: 9, hash: request.hash),
                NewBlobRequest(id: request.id, size: request.size, hash: .random(32)),
            ] {
                await expectRefusal(.conflict) {
                    _ = try await store.beginBlob(bad, by: household.computer, household: household.id, at: now)
                }
            }
            for bad in [
                NewBlobRequest(id: .random(), size: 0, hash: .random(32)),
                NewBlobRequest(id: .random(), size: .max, hash: .random(32)),
                NewBlobRequest(id: .random(), size: 1, hash: .random(31)),
            ] {
                await expectRefusal(.badRequest) {
                    _ = try await store.beginBlob(bad, by: household.computer, household: household.id, at: now)
                }
            }
        }

        @Test(arguments: StoreKind.allCases)
        func blobsThatBeginAtOnceShareTheHouseholdsLimit(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let limit: UInt64 = 100_000
            func begin(_ request: NewBlobRequest) async throws {
                _ = try await store.beginBlob(
                    request, by: household.computer, household: household.id, limit: limit, at: now)
            }
            let requests = (0..<16).map { _ in NewBlobRequest(id: .random(), size: 60_000, hash: .random(32)) }
            let begun = try await withThrowingTaskGroup(of: NewBlobRequest?.self) { group in
                for request in requests {
                    group.addTask {
                        do {
                            try await begin(request)
                            return request
                        } catch let error as HubError where error.code == .quotaExceeded {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            #expect(begun.count == 1)
            #expect(try await store.household(household.id).bytes <= limit)
            // A blob that has begun continues, and a refused one leaves nothing.
            for request in begun { try await begin(request) }
            for request in requests where request.id != begun.first?.id {
                #expect(try await store.blob(request.id, of: household.id) == nil)
            }
            await expectRefusal(.quotaExceeded) {
                try await begin(NewBlobRequest(id: .random(), size: 1 << 55 - 1, hash: .random(32)))
            }
        }

        @Test(arguments: StoreKind.allCases)
        func aRecordNamesOnlyCompleteBlobs(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (one, two) = (
                try await SampleHousehold.founded(in: store), try await SampleHousehold.founded(in: store)
            )
            let request = NewBlobRequest(id: .random(), size: 2, hash: .random(32))
            let record = one.record(blobs: [request.id])
            func outcome(_ record: HubRecord, _ household: HubID) async throws -> HubWriteOutcome {
                try await store.write([record], household: household, at: now)[0]
            }
            #expect(try await outcome(record, one.id).error?.code == .badRequest)
            _ = try await store.beginBlob(request, by: one.computer, household: one.id, at: now)
            #expect(try await outcome(record, one.id).error?.code == .badRequest)
            try await store.advanceBlob(request.id, of: one.id, from: 0, to: 2, isComplete: true, at: now)
            #expect(try await outcome(record, one.id).sequence == 1)
            #expect(try await outcome(two.record(blobs: [request.id]), two.id).error?.code == .badRequest)
            #expect(try await store.completeBlobs([request.id, .random()], of: one.id) == [request.id])
            #expect(try await store.completeBlobs([request.id, .random()], of: two.id) == [])
        }

        @Test(arguments: StoreKind.allCases)
        func aBlobThatNoRecordNamesIsGarbageUntilItsBytesAreGone(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            var blobs: [HubID] = []
            for index in 0..<4 {
                let request = NewBlobRequest(id: .random(), size: 100, hash: .random(32))
                _ = try await store.beginBlob(
                    request, by: household.computer, household: household.id, at: now + Int64(index / 3))
                if index < 2 {
                    try await store.advanceBlob(
                        request.id, of: household.id, from: 0, to: 100, isComplete: true, at: now)
                }
                blobs.append(request.id)
            }
            // 0 and 1 are named, 2 is incomplete, 3 is uploaded later.
            let record = HubID.random()
            _ = try await store.write(
                [household.record(record, blobs: [blobs[0], blobs[1]])], household: household.id, at: now)
            func garbage(_ index: Int) -> StoredBlobID { StoredBlobID(household: household.id, blob: blobs[index]) }
            let day: Int64 = 86_400
            #expect(try await store.collectGarbage(at: now + day).isEmpty)
            for _ in 0..<2 { #expect(try await store.collectGarbage(at: now + day + 1) == [garbage(2)]) }
            #expect(try await store.blob(blobs[2], of: household.id) == nil)
            #expect(try await store.household(household.id).bytes == 512 + 100 + 3 * 4_608)
            // Its bytes may be about to be removed: no new ones are written meanwhile.
            let again = NewBlobRequest(id: blobs[2], size: 5, hash: .random(32))
            await expectRefusal(.unavailable) {
                _ = try await store.beginBlob(again, by: household.computer, household: household.id, at: now)
            }
            try await store.forgetGarbage([garbage(2)])
            _ = try await store.beginBlob(again, by: household.computer, household: household.id, at: now + 9)
            // A newer revision names one of the two, a tombstone none. From then on they stay as long as events do.
            let later = now + 100 * day
            _ = try await store.write(
                [household.record(record, revision: 2, blobs: [blobs[1]])], household: household.id, at: later)
            _ = try await store.collectGarbage(at: later + 30 * day)
            #expect(try await store.blob(blobs[0], of: household.id) != nil)
            #expect(try await store.collectGarbage(at: later + 30 * day + 1).contains(garbage(0)))
            #expect(try await store.blob(blobs[0], of: household.id) == nil)
            _ = try await store.write(
                [household.record(record, revision: 3, bytes: nil)], household: household.id, at: later + 31 * day)
            try await store.changeHousehold(household.id, eventDays: 37)
            _ = try await store.collectGarbage(at: later + 68 * day)
            #expect(try await store.blob(blobs[1], of: household.id) != nil)
            #expect(try await store.collectGarbage(at: later + 68 * day + 1).contains(garbage(1)))
            #expect(try await store.blob(blobs[1], of: household.id) == nil)
        }

        @Test(arguments: StoreKind.allCases)
        func anUploadThatContinuesForDaysIsNotCollected(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let request = NewBlobRequest(id: .random(), size: 5, hash: .random(32))
            _ = try await store.beginBlob(request, by: household.computer, household: household.id, at: now)
            for day: UInt64 in 1...4 {
                let time = now + Int64(day) * 80_000
                #expect(try await store.collectGarbage(at: time).isEmpty)
                try await store.advanceBlob(
                    request.id, of: household.id, from: day - 1, to: day, isComplete: false, at: time)
            }
            #expect(try await store.collectGarbage(at: now + 4 * 80_000 + 86_401).map(\.blob) == [request.id])
        }

        @Test(arguments: StoreKind.allCases)
        func unnamedUploadsOfARevokedDeviceAreGarbageAtOnce(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let phone = try await household.admitted(to: store).device
            let requests = (0..<4).map { _ in NewBlobRequest(id: .random(), size: 100, hash: .random(32)) }
            for (request, device) in zip(requests, [phone, phone, phone, household.computer]) {
                _ = try await store.beginBlob(request, by: device, household: household.id, at: now)
                try await store.advanceBlob(request.id, of: household.id, from: 0, to: 100, isComplete: true, at: now)
            }
            // The first was named once, the second is named.
            let record = household.record(blobs: [requests[0].id])
            let next = household.record(record.id, revision: 2, blobs: [requests[1].id])
            _ = try await store.write([record, next], household: household.id, at: now)
            #expect(try await store.collectGarbage(at: now + 1).isEmpty)
            let number = try await store.household(household.id).rosterNumber + 1
            try await store.appendToRoster(
                RosterAppendRequest(number: number, entry: .random(347), change: .revoke(device: phone)),
                of: household.id)
            #expect(try await store.collectGarbage(at: now + 1).map(\.blob) == [requests[2].id])
            #expect(try await store.household(household.id).bytes == 612 + 3 * 4_608)
        }

        @Test(arguments: StoreKind.allCases)
        func aPrunedRecordReleasesItsBlobs(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let request = NewBlobRequest(id: .random(), size: 1, hash: .random(32))
            _ = try await store.beginBlob(request, by: household.computer, household: household.id, at: now)
            try await store.advanceBlob(request.id, of: household.id, from: 0, to: 1, isComplete: true, at: now)
            _ = try await store.write(
                [household.record(in: "events", blobs: [request.id])], household: household.id, at: now)
            #expect(try await store.collectGarbage(at: now + 86_401).isEmpty)
            #expect(try await store.prune(["events"], of: household.id, writtenBefore: now + 1) == 1)
            #expect(try await store.collectGarbage(at: now + 86_401).map(\.blob) == [request.id])
            #expect(try await store.household(household.id).bytes == 0)
        }
    }

    @Suite struct BlobBytes {
        @Test(arguments: StoreKind.allCases)
        func bytesAreReadInAnyPieces(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let blobs = open.blobs
            let household = try await SampleHousehold.founded(in: open.store)
            let blob = StoredBlobID(household: household.id, blob: .random())
            let bytes = [UInt8](Data.random(300_000))
            await expectRefusal(.notFound) { _ = try await blobs.read(blob, offset: 0, length: 1) }
            await expectRefusal(.conflict) { try await blobs.write([1], at: 1, of: blob) }
            try await blobs.write(Array(bytes[..<100_001]), at: 0, of: blob)
            await expectRefusal(.conflict) { try await blobs.write([1], at: 100_002, of: blob) }
            // A piece that was interrupted is written again.
            try await blobs.write(Array(bytes[100_001..<150_000]), at: 100_001, of: blob)
            try await blobs.write(Array(bytes[100_001..<300_000]), at: 100_001, of: blob)
            for (offset, length) in [(0, 300_000), (99_990, 100), (299_999, 5), (0, 1), (65_535, 65_538), (7, 200_000)]
            {
                let part = try await blobs.read(blob, offset: UInt64(offset), length: length)
                #expect(part == Array(bytes[offset..<min(offset + length, 300_000)]), "\(offset), \(length)")
            }
            #expect(try await blobs.read(blob, offset: 300_000, length: 9).isEmpty)
            #expect(try await blobs.read(blob, offset: .max, length: 9).isEmpty)
            #expect(try await blobs.read(blob, offset: 0, length: 0).isEmpty)
            // A write in the middle keeps what follows.
            try await blobs.write([0, 0, 0], at: 50_000, of: blob)
            let middle = try await blobs.read(blob, offset: 49_999, length: 5)
            #expect(middle == [bytes[49_999], 0, 0, 0, bytes[50_003]])
        }

        @Test(arguments: StoreKind.allCases)
        func onlyTheRemovedBlobsBytesAreRemoved(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let blobs = open.blobs
            let household = try await SampleHousehold.founded(in: open.store)
            let ids = (0..<3).map { _ in StoredBlobID(household: household.id, blob: .random()) }
            for id in ids { try await blobs.write([1, 2, 3], at: 0, of: id) }
            try await blobs.remove([ids[0], ids[1], StoredBlobID(household: .random(), blob: .random())])
            for id in ids.prefix(2) {
                await expectRefusal(.notFound) { _ = try await blobs.read(id, offset: 0, length: 9) }
            }
            #expect(try await blobs.read(ids[2], offset: 0, length: 9) == [1, 2, 3])
            try await blobs.remove([ids[2]])
            try await blobs.write([4], at: 0, of: ids[2])
            #expect(try await blobs.read(ids[2], offset: 0, length: 9) == [4])
        }
    }
}
