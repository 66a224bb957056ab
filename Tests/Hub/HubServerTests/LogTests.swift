import Crypto
import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import Logging
import TestSupport
import Testing

@testable import HubServer

/// Logs and metrics identify nobody, and old data is removed.
struct LogTests {
    @Test func logAndMetricsContainNoAddressTokenIDOrBody() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            let record = computer.record(sealed: Data("a sealed body".utf8))
            try await hub.put(record, by: computer)
            _ = try await hub.put(computer.record(id: record.id), by: computer)
            let stream = try await EventStream(hub, phone)
            try await stream.wait(forNumber: 1)
            let blob = NewBlobRequest(id: .random(), size: 3, hash: .random(32))
            _ = try await hub.request(.beginBlob, token: computer.token, body: blob)
            _ = try await hub.request(.readBlob, [blob.id.description], token: computer.token)
            _ = try await hub.request(.ownDevice, token: .random(32))
            _ = try await hub.send("GET", "/secret-path?token=\(HubUnderTest.text(computer.token))")
            _ = try await hub.request(
                .setPush, token: phone.token, body: TestPush.subscription(endpoint: "https://push.example.com/e"))
            let log = hub.log.lines.joined(separator: "\n")
            let metrics = String(decoding: try await hub.request(.metrics).body, as: UTF8.self)
            #expect(log.contains("PUT /v1/records/{collection}/{id}") && log.contains("409"))
            #expect(metrics.contains("route=\"PUT /v1/records/{collection}/{id}\",status=\"409\"} 1"))
            let secrets = [
                "127.0.0.1", HubUnderTest.text(computer.token), HubUnderTest.text(phone.token),
                computer.household.description, computer.id.description, phone.id.description, record.id.description,
                blob.id.description, "secret-path", "sealed body", Data("a sealed body".utf8).base64EncodedString(),
                "push.example.com", computer.tokenHash.base64EncodedString(),
            ]
            for secret in secrets {
                #expect(!log.contains(secret), "the log has \(secret)")
                #expect(!metrics.contains(secret), "the metrics have \(secret)")
            }
            for word in hub.log.lines.flatMap({ $0.split(whereSeparator: { !$0.isHexDigit }) }) {
                #expect(word.count < 32, "the log has something like an id")
            }
        }
    }

    @Test func aLineIsOneJSONObject() throws {
        let process = try HubLogLine.write { logger in
            logger.notice("a \"quoted\"\nmessage", metadata: ["status": "200", "zero": "007", "path": "\u{1}\\"])
        }
        let object = try #require(try JSONSerialization.jsonObject(with: Data(process.utf8)) as? [String: Any])
        #expect(object["message"] as? String == "a \"quoted\"\nmessage")
        #expect(object["status"] as? Int == 200 && object["zero"] as? String == "007")
        #expect(object["path"] as? String == "\u{1}\\" && object["level"] as? String == "notice")
        #expect((object["time"] as? String)?.hasSuffix("Z") == true)
        #expect(process.split(separator: "\n").count == 1)
    }

    @Test func dataIsRemovedAfterItsRetention() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            let deleted = computer.record("notes")
            for record in [computer.record("events"), computer.record("requests"), computer.record("notes"), deleted] {
                try await hub.put(record, by: computer)
            }
            try await hub.put(phone.record("commands"), by: phone)
            try await hub.put(computer.record("notes", id: deleted.id, revision: 2, sealed: nil), by: computer)
            let begun = NewBlobRequest(id: .random(), size: 3, hash: .random(32))
            _ = try await hub.request(.beginBlob, token: computer.token, body: begun)
            func remaining() async throws -> [String] {
                try await hub.request(.records, token: computer.token).decoded(HubRecordPage.self).records
                    .map { $0.collection + ($0.sealed == nil ? " deleted" : "") }.sorted()
            }
            func blobIsThere() async throws -> Bool {
                try await hub.request(.blobState, [begun.id.description], token: computer.token).status == 200
            }
            #expect(try await remaining() == ["commands", "events", "notes", "notes deleted", "requests"])
            func rounds() -> Int { hub.time.sleeps.count { $0 == Housekeeping.pause } }
            await eventually("housekeeping ran at the start") { rounds() == 1 }
            // As much earlier than a day as the requests above may have taken.
            hub.time.advance(by: .seconds(86_400 - 600))
            await eventually("housekeeping ran again") { rounds() == 2 }
            #expect(try await remaining().count == 5)
            #expect(try await blobIsThere())
            hub.time.advance(by: .seconds(3_700))
            await eventually("it is removed after a day") {
                try await remaining() == ["events", "notes", "notes deleted"]
            }
            await eventually("the blob") { try await !blobIsThere() }
            hub.time.advance(by: .seconds(30 * 86_400))
            await eventually("30 days") {
                // Housekeeping that runs while the clock is set uses the earlier time.
                hub.time.advance(by: Housekeeping.pause)
                return try await remaining() == ["notes", "notes deleted"]
            }
            // A tombstone is kept: a device that was offline for years needs it.
            hub.time.advance(by: .seconds(1_000 * 86_400))
            let before = rounds()
            await eventually("housekeeping ran twice more") {
                hub.time.advance(by: Housekeeping.pause)
                return rounds() >= before + 2
            }
            #expect(try await remaining() == ["notes", "notes deleted"])
        }
    }
}
