import Foundation
import HubAPI
import HubStore
import TestSupport
import Testing

@testable import HubServer

/// Records over HTTP: revisions, conflicts, permissions, and invalid records.
struct RecordTests {
    @Test func aRecordIsWrittenReadReplacedAndDeleted() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            var record = computer.record()
            #expect(try await hub.put(record, by: computer).decoded(HubWriteOutcome.self).sequence == 1)
            // The same request again returns the same answer.
            #expect(try await hub.put(record, by: computer).decoded(HubWriteOutcome.self).sequence == 1)

            let path = [record.collection, record.id.description]
            var stored = try await hub.request(.record, path, token: computer.token).decoded(HubRecord.self)
            #expect(stored.sealed == record.sealed && stored.signature == record.signature && stored.sequence == 1)

            record = computer.record(id: record.id, revision: 2, sealed: nil)
            #expect(try await hub.put(record, by: computer).decoded(HubWriteOutcome.self).sequence == 2)
            stored = try await hub.request(.record, path, token: computer.token).decoded(HubRecord.self)
            #expect(stored.sealed == nil && stored.revision == 2)

            let page = try await hub.request(.records, query: "?after=0", token: computer.token).decoded(
                HubRecordPage.self)
            #expect(page.records.map(\.sequence) == [2] && page.next == 2 && !page.more)
            let missing = try await hub.request(.record, ["notes", HubID.random().description], token: computer.token)
            #expect(missing.error?.code == .notFound)
        }
    }

    @Test func aConflictContainsTheStoredRecord() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let first = computer.record()
            try await hub.put(first, by: computer)
            let answer = try await hub.put(computer.record(id: first.id), by: computer)
            #expect(answer.status == 409)
            let body = try answer.decoded(HubErrorBody.self)
            #expect(body.error.code == .conflict && body.current?.sealed == first.sealed && body.current?.sequence == 1)
            #expect(try await hub.put(computer.record(id: first.id, revision: 3), by: computer).status == 409)
        }
    }

    @Test func aWriteNamesTheRevisionThatItReplaces() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let record = computer.record()
            let path = [record.collection, record.id.description]
            for headers: [(String, String)] in [
                [], [("If-Match", "0")], [("If-Match", "\"1\"")], [("If-Match", "\"x\"")], [("If-Match", "*")],
                [("If-None-Match", "\"0\"")], [("If-Match", "\"0\", \"1\"")],
            ] {
                let answer = try await hub.request(.writeRecord, path, token: computer.token, headers: headers, record)
                #expect(answer.error?.code == .badRequest, "\(headers)")
            }
            let answer = try await hub.request(
                .writeRecord, path, token: computer.token, headers: [("If-None-Match", "*")], record)
            #expect(answer.status == 200)
        }
    }

    @Test func anInvalidRecordIsRefusedWithItsReason() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            func refused(_ code: HubError.Code, _ change: (inout HubRecord) -> Void) async throws {
                var record = computer.record()
                change(&record)
                if record.signature.count == 64 { record = computer.signed(record) }
                let answer = try await hub.put(record, by: computer)
                #expect(answer.error?.code == code, "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
            }
            try await refused(.badRequest) { $0.collection = "Notes" }
            try await refused(.badRequest) { $0.collection = String(repeating: "a", count: 33) }
            try await refused(.badRequest) { $0.signature = .random(63) }
            try await refused(.badRequest) { $0.sealed = Data() }
            try await refused(.badRequest) { $0.blobs = (0..<9).map { _ in HubID.random() } }
            try await refused(.badRequest) { $0.blobs = [.random()] }
            try await refused(.forbidden) { $0.author = .random() }
            try await refused(.badRequest) { $0.revision = 1 << 63 }

            var elsewhere = computer.record()
            let path = [elsewhere.collection, elsewhere.id.description]
            elsewhere.id = .random()
            let answer = try await hub.request(
                .writeRecord, path, token: computer.token, headers: [("If-Match", "\"0\"")], elsewhere)
            #expect(answer.error?.code == .badRequest)
            for body in ["", "[]", "{", "{\"id\":1}", "null", String(repeating: "[", count: 10_000)] {
                let answer = try await hub.send(
                    "PUT", "/v1/records/notes/\(HubID.random())", token: computer.token,
                    headers: [("If-Match", "\"0\"")], body: Data(body.utf8))
                #expect(answer.error?.code == .badRequest)
            }
        }
    }

    /// A copy of a locked phone's storage contains its token, and not the signing key.
    @Test func aTokenAloneWritesNothing() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            let other = try await hub.pair(with: computer)
            let first = phone.record()
            #expect(try await hub.put(first, by: phone).status == 200)
            let next = phone.record(id: first.id, revision: 2)
            var unsigned = next
            unsigned.signature = .random(64)
            var copied = next
            copied.signature = first.signature
            var tombstone = next
            tombstone.sealed = nil
            var elsewhere = next
            elsewhere.vault = .random()
            var unnamed = phone.record("photos")
            unnamed.epoch = 9
            // With another device's signature, as its own record and as the phone's.
            var strangers = other.record(id: first.id, revision: 2)
            strangers.author = phone.id
            // A valid record of the other device that it has not sent yet.
            let others = other.record(id: first.id, revision: 2)
            for record in [unsigned, copied, tombstone, elsewhere, unnamed, strangers, others] {
                #expect(try await hub.put(record, by: phone).error?.code == .forbidden)
                let many = try await hub.request(
                    .writeRecords, token: phone.token, body: HubWriteRequest(records: [record, phone.record()]))
                let outcomes = try many.decoded(HubWriteAnswer.self).outcomes
                #expect(outcomes[0].error?.code == .forbidden && outcomes[1].sequence != nil)
            }
            let stored = try await hub.request(.record, ["notes", first.id.description], token: phone.token)
            #expect(try stored.decoded(HubRecord.self).sealed == first.sealed)
            #expect(try await hub.put(next, by: phone).status == 200)
        }
    }

    @Test func companionsWriteOnlyTheirCollections() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            for collection in ["keys", "devices", "status", "apps", "events", "requests", "intruders"] {
                #expect(try await hub.put(phone.record(collection), by: phone).error?.code == .forbidden)
                #expect(try await hub.put(computer.record(collection), by: computer).status == 200)
            }
            #expect(try await hub.put(phone.record("notes"), by: phone).status == 200)

            let command = phone.record("commands")
            #expect(try await hub.put(computer.record("commands"), by: computer).error?.code == .forbidden)
            #expect(try await hub.put(command, by: phone).status == 200)
            let acknowledged = computer.record("commands", id: command.id, revision: 2)
            #expect(try await hub.put(phone.record("commands", id: command.id, revision: 2), by: phone).status == 403)
            #expect(try await hub.put(acknowledged, by: computer).status == 200)
        }
    }

    @Test func recordsOfOneRequestAreWrittenIndependently() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            var bad = computer.record()
            bad.author = .random()
            let known = computer.record()
            try await hub.put(known, by: computer)
            let records = [computer.record(), bad, computer.record(id: known.id), computer.record()]
            let answer = try await hub.request(
                .writeRecords, token: computer.token, body: HubWriteRequest(records: records))
            let outcomes = try answer.decoded(HubWriteAnswer.self).outcomes
            #expect(outcomes.map(\.sequence) == [2, nil, nil, 3])
            #expect(outcomes[1].error?.code == .forbidden)
            #expect(outcomes[2].conflict?.id == known.id)
            let none = try await hub.request(.writeRecords, token: computer.token, body: HubWriteRequest(records: []))
            #expect(none.error?.code == .badRequest)
            let tooMany = (0...HubWriteRequest.maximumRecords).map { _ in computer.record(sealed: Data([1])) }
            let refused = try await hub.request(
                .writeRecords, token: computer.token, body: HubWriteRequest(records: tooMany))
            #expect(refused.error?.code == .badRequest)
        }
    }

    @Test func blobsThatManyRecordsNameAreLookedUpOnce() async throws {
        try await HubUnderTest.observed { hub, store in
            let computer = try await hub.found()
            var blobs: [HubID] = []
            for index in 0..<8 {
                let request = NewBlobRequest(id: .random(), size: 1, hash: .random(32))
                _ = try await store.beginBlob(
                    request, by: computer.id, household: computer.household, limit: 1 << 30, at: hub.time.seconds())
                if index < 7 {
                    try await store.advanceBlob(
                        request.id, of: computer.household, from: 0, to: 1, isComplete: true, at: hub.time.seconds())
                }
                blobs.append(request.id)
            }
            let records = (0..<64).map { computer.record(blobs: $0 == 63 ? blobs : Array(blobs.prefix(7))) }
            let answer = try await hub.request(
                .writeRecords, token: computer.token, body: HubWriteRequest(records: records))
            let outcomes = try answer.decoded(HubWriteAnswer.self).outcomes
            #expect(outcomes.prefix(63).map(\.sequence) == (1...63).map { $0 })
            #expect(outcomes[63].error?.code == .badRequest)
            #expect(store.count("blob") == 0 && store.count("completeBlobs") == 1 && store.count("blobs") == 8)
        }
    }

    @Test func aLargeBodyOfManyTinyValuesIsRefused() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            func send(_ text: String) async throws -> HubUnderTest.Answer {
                try await hub.send("POST", "/v1/records", token: computer.token, body: Data(text.utf8))
            }
            let numbers = String(repeating: "0,", count: 1 << 20)
            for text in ["{\"records\":[],\"x\":[\(numbers)0]}", "{\"records\":[\(numbers)0]}"] {
                let refused = try await send(text)
                #expect(refused.status == 400 && refused.error?.message.contains("too many values") == true)
            }
            // A text may have them, also after an escaped quote.
            let record = String(decoding: try JSONEncoder().encode(computer.record()), as: UTF8.self)
            #expect(try await send("{\"records\":[\(record)],\"x\":\"\\\"\(numbers)\"}").status == 200)
            // As many records as one request may have, with all that a record may have.
            let records = (0..<HubWriteRequest.maximumRecords).map { _ in
                var record = computer.record(blobs: (0..<8).map { _ in .random() })
                (record.replaces, record.ancestors, record.replacedVersion) = (0, Data(count: 128), Data(count: 8))
                return record
            }
            #expect(
                HubRequest.hasFewValues(try JSONEncoder().encode(HubWriteRequest(records: records)) + Data("\n".utf8)))
            #expect(!HubRequest.hasFewValues(try #require(numbers.data(using: .utf16))))
        }
    }

    @Test func pagesEndAtTheirLimitAndContinueFromNext() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let records = (0..<7).map { computer.record($0 % 2 == 0 ? "notes" : "events") }
            _ = try await hub.request(.writeRecords, token: computer.token, body: HubWriteRequest(records: records))
            var (after, seen): (UInt64, [UInt64]) = (0, [])
            var isMore = true
            while isMore {
                let page = try await hub.request(.records, query: "?after=\(after)&limit=3", token: computer.token)
                    .decoded(HubRecordPage.self)
                #expect(page.records.count <= 3)
                seen += page.records.compactMap(\.sequence)
                (after, isMore) = (page.next, page.more)
            }
            #expect(seen == Array(1...7))
            for query in ["?after=-1", "?after=x", "?after=9223372036854775808", "?limit=0", "?after=1&after=2"] {
                #expect(try await hub.request(.records, query: query, token: computer.token).error?.code == .badRequest)
            }
        }
    }

    /// Each number in a device's messages is replaced by each extreme value.
    @Test func extremeNumbersAreAcceptedOrRefused() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.deviceRequests = .none
            configuration.limits.householdRequests = .none
            configuration.limits.addressRequests = .none
        }.run { hub in
            let computer = try await hub.found()
            var record = computer.record()
            (record.replaces, record.sequence) = (0, 1)
            for variant in ExtremeNumbers.variants(of: Array(try JSONEncoder().encode(record))) {
                guard let changed = try? JSONDecoder().decode(HubRecord.self, from: Data(variant)) else { continue }
                let answer = try await hub.request(
                    .writeRecords, token: computer.token,
                    body: HubWriteRequest(records: [computer.signed(changed)]))
                let outcome = try #require(try answer.decoded(HubWriteAnswer.self).outcomes.first)
                #expect(outcome.error?.code != .failed, "\(changed)")
            }
            let messages: [(HubRoute, any Encodable)] = [
                (.beginBlob, NewBlobRequest(id: .random(), size: 9, hash: .random(32))),
                (.appendToRoster, RosterAppendRequest(number: 2, entry: Data([1]), change: .revoke(device: .random()))),
                (.invite, NewInvitationRequest(id: .random(), proofHash: .random(32), expiresInSeconds: 60)),
                (.changeHousehold, ChangeHouseholdRequest(eventDays: 30)),
                (.push, PushMessageRequest(payload: Data([1]), urgency: .low, ttl: 60)),
            ]
            for (route, message) in messages {
                for variant in ExtremeNumbers.variants(of: Array(try JSONEncoder().encode(message))) {
                    let answer = try await hub.send(
                        route.method, route.template, token: computer.token, body: Data(variant))
                    #expect(answer.status != 500, "\(route) \(String(decoding: variant, as: UTF8.self))")
                }
            }
            for number in ExtremeNumbers.all {
                for target in ["records?after=", "records?limit=", "roster?after="] {
                    let answer = try await hub.send("GET", "/v1/" + target + number, token: computer.token)
                    #expect([200, 400].contains(answer.status), "\(target)\(number)")
                }
            }
            #expect(try await hub.put(computer.record(), by: computer).status == 200)
        }
    }

    @Test func aRecordOfSixteenMebibytesIsAcceptedAndALongerOneIsNot() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let record = computer.record(sealed: Data(count: HubRecord.maximumSealedBytes))
            #expect(try await hub.put(record, by: computer).status == 200)
            let stored = try await hub.request(
                .record, [record.collection, record.id.description], token: computer.token
            ).decoded(HubRecord.self)
            #expect(stored.sealed?.count == HubRecord.maximumSealedBytes)
            let longer = computer.record(sealed: Data(count: HubRecord.maximumSealedBytes + 1))
            #expect(try await hub.put(longer, by: computer).error?.code == .tooLarge)
        }
    }
}
