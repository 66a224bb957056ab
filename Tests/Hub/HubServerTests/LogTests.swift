import Crypto
import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import Logging
import TestSupport
import Testing

@testable import HubServer

/// What the hub says about itself names nobody, and what it keeps too long is forgotten.
struct LogTests {
    @Test func logAndMetricsHoldNoAddressTokenIDOrBody() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            let record = computer.record(sealed: Data("a sealed body".utf8))
            try await hub.put(record, by: computer)
            _ = try await hub.put(computer.record(id: record.id), by: computer)
            let stream = try await EventStream(hub, phone)
            try await stream.wait(forNumber: 1)
            let blob = NewBlobRequest(id: .random(), size: 3, hash: .random(32))
            _ = try await hub.ask(.beginBlob, token: computer.token, body: blob)
            _ = try await hub.ask(.readBlob, [blob.id.description], token: computer.token)
            _ = try await hub.ask(.ownDevice, token: .random(32))
            _ = try await hub.send("GET", "/secret-path?token=\(HubUnderTest.text(computer.token))")
            _ = try await hub.ask(
                .setPush, token: phone.token, body: TestPush.subscription(endpoint: "https://push.example.com/e"))
            let log = hub.log.lines.joined(separator: "\n")
            let metrics = String(decoding: try await hub.ask(.metrics).body, as: UTF8.self)
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

    @Test func whatIsTooOldIsForgotten() async throws {
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
            _ = try await hub.ask(.beginBlob, token: computer.token, body: begun)
            func left() async throws -> [String] {
                try await hub.ask(.records, token: computer.token).decoded(HubRecordPage.self).records
                    .map { $0.collection + ($0.sealed == nil ? " deleted" : "") }.sorted()
            }
            func blobIsThere() async throws -> Bool {
                try await hub.ask(.blobState, [begun.id.description], token: computer.token).status == 200
            }
            #expect(try await left() == ["commands", "events", "notes", "notes deleted", "requests"])
            func rounds() -> Int { hub.time.sleeps.count { $0 == Housekeeping.pause } }
            await eventually("it is tidied at the start") { rounds() == 1 }
            // As far before a day as the requests above may have taken.
            hub.time.advance(by: .seconds(86_400 - 600))
            await eventually("it is tidied again") { rounds() == 2 }
            #expect(try await left().count == 5)
            #expect(try await blobIsThere())
            hub.time.advance(by: .seconds(3_700))
            await eventually("a day") { try await left() == ["events", "notes", "notes deleted"] }
            await eventually("the blob") { try await !blobIsThere() }
            hub.time.advance(by: .seconds(30 * 86_400))
            await eventually("30 days") {
                // What is being tidied while the clock is set is tidied by the time before.
                hub.time.advance(by: Housekeeping.pause)
                return try await left() == ["notes", "notes deleted"]
            }
            // A removal is kept: who was away for years has to learn of it.
            hub.time.advance(by: .seconds(1_000 * 86_400))
            let before = rounds()
            await eventually("it is tidied twice more") {
                hub.time.advance(by: Housekeeping.pause)
                return rounds() >= before + 2
            }
            #expect(try await left() == ["notes", "notes deleted"])
        }
    }
}
