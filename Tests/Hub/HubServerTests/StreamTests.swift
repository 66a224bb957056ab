import AsyncHTTPClient
import Foundation
import HubAPI
import HubStore
import TestSupport
import Testing

@testable import HubServer

/// Live streams: everything once and in order during concurrent writes; how streams end.
struct StreamTests {
    @Test func aStreamSendsStoredRecordsAndThenNewOnes() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            for _ in 0..<3 { try await hub.put(computer.record(), by: computer) }
            let stream = try await EventStream(hub, computer, after: 1)
            try await stream.wait(for: "live")
            #expect(stream.events.map(\.name) == ["record", "record", "live"])
            #expect(stream.events.map(\.id) == [2, 3, 3])
            let record = computer.record()
            try await hub.put(record, by: computer)
            try await stream.wait(forNumber: 4)
            let sent = try JSONDecoder().decode(HubRecord.self, from: Data(stream.events[3].data.utf8))
            #expect(sent.id == record.id && sent.sealed == record.sealed && sent.sequence == 4)
            let devices = try await hub.request(.devices, token: computer.token).decoded(HubDeviceList.self).devices
            #expect(devices[0].isConnected)
            stream.close()
            await eventually("the device is disconnected") {
                try await !hub.request(.devices, token: computer.token).decoded(HubDeviceList.self).devices[0]
                    .isConnected
            }
        }
    }

    @Test func theLastEventIDTakesPrecedenceOverTheQuery() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            for _ in 0..<3 { try await hub.put(computer.record(), by: computer) }
            let stream = try await EventStream(hub, computer, after: 0, lastEventID: 2)
            try await stream.wait(for: "live")
            #expect(stream.numbers == [3])
            let beyond = try await EventStream(hub, computer, after: 3)
            try await beyond.wait(for: "live")
            #expect(beyond.numbers == [])
        }
    }

    /// Readers that disconnect and resume while others write: contiguous numbers, none twice.
    @Test func nothingIsLostOrSentTwiceDuringConcurrentWrites() async throws {
        let total: UInt64 = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1" ? 20_000 : 400
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.householdRequests = .none
            configuration.limits.deviceRequests = .none
            configuration.limits.addressRequests = .none
            // A stream that a reader has closed counts until the hub notices.
            configuration.limits.streamsPerDevice = 1_000
        }.run { hub in
            let computer = try await hub.found()
            let writers = (0..<8).map { _ in
                Task {
                    for _ in 0..<(Int(total) / 8) {
                        try await hub.put(computer.record(sealed: Data(count: 32)), by: computer)
                    }
                }
            }
            let readers = (0..<6).map { index in
                Task { () throws -> [UInt64] in
                    var numbers: [UInt64] = []
                    while numbers.last ?? 0 < total {
                        let stream = try await EventStream(hub, computer, lastEventID: numbers.last ?? 0)
                        let enough = (numbers.last ?? 0) + UInt64.random(in: 20...(200 * UInt64(index + 1)))
                        await eventually("records up to \(min(enough, total))") {
                            stream.numbers.last ?? 0 >= min(enough, total)
                        }
                        numbers += stream.numbers
                        stream.close()
                    }
                    return numbers
                }
            }
            for writer in writers { try await writer.value }
            for reader in readers { #expect(try await reader.value == Array(1...total)) }
        }
    }

    @Test func aLargeRecordIsAnnouncedAndFetched() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let stream = try await EventStream(hub, computer)
            try await stream.wait(for: "live")
            try await hub.put(computer.record(sealed: Data(count: 64 << 10)), by: computer)
            try await hub.put(computer.record(sealed: Data(count: (64 << 10) + 1)), by: computer)
            try await stream.wait(forNumber: 2)
            #expect(stream.events.map(\.name) == ["live", "record", "large"])
            #expect(stream.events[2].data == "2")
        }
    }

    @Test func rosterChangesAreSentToAllAndJoinsOnlyToComputers() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let one = try await EventStream(hub, computer)
            try await one.wait(for: "live")
            let phone = try await hub.pair(with: computer)
            // Events are sent after the responses: the phone's own must not arrive in its stream.
            try await one.wait(for: "roster")
            let other = try await EventStream(hub, phone)
            try await other.wait(for: "live")
            _ = try await hub.pair(with: computer)
            await eventually("both rosters") { one.events.count { $0.name == "roster" } == 2 }
            try await other.wait(for: "roster")
            #expect(one.events.map(\.name) == ["live", "join", "roster", "join", "roster"])
            #expect(one.events[2].data == "2" && one.events[4].data == "3")
            #expect(HubID(one.events[1].data) != nil)
            #expect(other.events.map(\.name) == ["live", "roster"])
        }
    }

    /// The hub accepts streams while it begins to listen to its store's changes.
    @Test func aStreamReceivesWhatIsWrittenBeforeTheHubListens() async throws {
        let (listening, listen) = AsyncStream<Void>.makeStream()
        try await HubUnderTest.Configured(
            configure: { _, _ in }, client: .init(), wrap: { ObservedStore($0, listening: listening) }
        ).run { hub in
            let computer = try await hub.found()
            let stream = try await EventStream(hub, computer)
            try await stream.wait(for: "live")
            try await hub.put(computer.record(), by: computer)
            listen.finish()
            try await stream.wait(forNumber: 1)
        }
    }

    @Test func aStreamSendsKeepAlives() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.heartbeat = .milliseconds(50) }.run
        { hub in
            let stream = try await EventStream(hub, try await hub.found())
            await eventually("heartbeats") { stream.comments > 3 }
        }
    }

    /// A client that reads nothing is disconnected and resumes; others receive everything, and the hub's memory does
    /// not grow.
    @Test func aSlowReaderIsDisconnectedAndResumes() async throws {
        try await HubUnderTest.configured { configuration, _ in
            // Twice this time without a read is too slow: long enough that a busy machine's readers are not affected.
            configuration.limits.heartbeat = .seconds(10)
            configuration.limits.householdBytes = .none
            configuration.limits.addressBytes = .none
        }.run { hub in
            let computer = try await hub.found()
            let slow = try RawClient(port: hub.port, receiveBuffer: 4_096)
            slow.send(
                "GET /v1/stream HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(HubUnderTest.text(computer.token))\r\n\r\n"
            )
            let fast = try await EventStream(hub, computer)
            try await fast.wait(for: "live")
            await eventually("both streams are open") {
                try await hub.send("GET", "/metrics").body.contains("applocker_hub_streams 2")
            }
            let count = 160
            for batch in 1...(count / 16) {
                let records = (0..<16).map { _ in computer.record(sealed: Data(count: 60_000)) }
                let answer = try await hub.request(
                    .writeRecords, token: computer.token, body: HubWriteRequest(records: records))
                #expect(answer.status == 200)
                try await fast.wait(forNumber: UInt64(batch * 16))
            }
            #expect(fast.numbers == Array(1...UInt64(count)))
            await eventually("the slow client is disconnected") {
                try await hub.send("GET", "/metrics").body.contains("applocker_hub_streams_cut_off_total 1")
            }
            let resumed = try await EventStream(hub, computer, after: 100)
            try await resumed.wait(forNumber: UInt64(count))
            #expect(resumed.numbers == Array(101...UInt64(count)))
        }
    }

    @Test func streamsEndWithTheHubAndHealthReportsIt() async throws {
        // Streams that did not end would be waited for until then.
        let hub = try await HubUnderTest.start { configuration, _ in
            configuration.limits.shutdownTimeout = .seconds(120)
        }
        let computer = try await hub.found()
        let streams = try await [EventStream(hub, computer), EventStream(hub, computer)]
        for stream in streams { try await stream.wait(for: "live") }
        let start = ContinuousClock.now
        try await hub.stopOnly()
        #expect(ContinuousClock.now - start < .seconds(60))
        for stream in streams { try await stream.waitForEnd() }
        try await hub.client.shutdown()
        // The store is closed, and the next hub can open it.
        #expect(throws: Never.self) { try SQLiteStoreReopening.open(hub.directory) }
    }

    @Test func streamsOfADeviceAreLimited() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.streamsPerDevice = 2 }.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            let streams = [try await EventStream(hub, phone), try await EventStream(hub, phone)]
            let error = await #expect(throws: EventStream.Refused.self) { try await EventStream(hub, phone) }
            #expect(error?.status == 429)
            let other = try await EventStream(hub, computer)
            try await other.wait(for: "live")
            withExtendedLifetime(streams) {}
        }
    }

    @Test func streamsOfAHouseholdAreLimited() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.streamsPerHousehold = 2 }.run {
            hub in
            let computer = try await hub.found()
            let streams = [try await EventStream(hub, computer), try await EventStream(hub, computer)]
            await #expect(throws: EventStream.Refused.self) { try await EventStream(hub, computer) }
            streams[0].close()
            await eventually("another stream can be opened") {
                let stream = try await EventStream(hub, computer)
                stream.close()
                return true
            }
        }
    }
}

extension Data {
    func contains(_ text: String) -> Bool { String(decoding: self, as: UTF8.self).contains(text) }
}
