import Foundation
import HubAPI
import HubStore
import Testing

@testable import HubServer

/// Limits of requests, and how a client's address is determined.
struct LimitTests {
    @Test func theRequestLimitOfADeviceDoesNotAffectOthers() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.deviceRequests = .init(perSecond: 0.01, burst: 5)
        }.run { hub in
            let (one, other) = (try await hub.found(), try await hub.found())
            var answers: [HubUnderTest.Answer] = []
            for _ in 0..<8 { answers.append(try await hub.request(.ownDevice, token: one.token)) }
            #expect(answers.map(\.status) == [200, 200, 200, 200, 200, 429, 429, 429])
            // The rest of 100 seconds, however long the requests took.
            let wait = try #require(answers[7].error?.retryAfterSeconds)
            #expect(answers[7].header("Retry-After") == "\(wait)" && (40...100).contains(wait))
            #expect(try await hub.request(.ownDevice, token: other.token).status == 200)
            hub.time.advance(by: .seconds(101))
            #expect(try await hub.request(.ownDevice, token: one.token).status == 200)
        }
    }

    @Test func devicesOfAHouseholdShareItsLimit() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            #expect(try await hub.request(.ownDevice, token: phone.token).status == 200)
        }
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.householdRequests = .init(perSecond: 0.01, burst: 12)
        }.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            var statuses: [Int] = []
            for index in 0..<14 {
                statuses.append(
                    try await hub.request(.ownDevice, token: index % 2 == 0 ? computer.token : phone.token).status)
            }
            #expect(statuses.last == 429 && statuses.first == 200)
        }
    }

    @Test func manyRecordsOfOneRequestCountAsSeveralRequests() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.deviceRequests = .init(perSecond: 0.01, burst: 10)
        }.run { hub in
            let (computer, other) = (try await hub.found(), try await hub.found())
            func write(_ count: Int, by device: TestDevice) async throws -> Int {
                let records = (0..<count).map { _ in device.record() }
                let body = HubWriteRequest(records: records)
                return try await hub.request(.writeRecords, token: device.token, body: body).status
            }
            #expect(try await write(256, by: computer) == 200)
            #expect(try await write(1, by: computer) == 429)
            // Nine requests, and then one whose records are not checked any more.
            for _ in 0..<9 { #expect(try await hub.request(.ownDevice, token: other.token).status == 200) }
            #expect(try await write(16, by: other) == 429)
        }
    }

    @Test func unknownTokensAreLimitedByAddressAndKnownOnesAreNot() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.failedTokens = .init(perSecond: 0.01, burst: 3)
        }.run { hub in
            let computer = try await hub.found()
            #expect(try await hub.request(.ownDevice, token: computer.token).status == 200)
            var statuses: [Int] = []
            for _ in 0..<5 { statuses.append(try await hub.request(.ownDevice, token: .random(32)).status) }
            #expect(statuses == [401, 401, 401, 429, 429])
            #expect(try await hub.request(.ownDevice, token: computer.token).status == 200)
        }
    }

    @Test func theByteLimitDelaysTheNextRequest() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.limits.householdBytes = .init(perSecond: 10, burst: 10_000)
        }.run { hub in
            let computer = try await hub.found()
            #expect(try await hub.put(computer.record(sealed: Data(count: 30_000)), by: computer).status == 200)
            let refused = try await hub.put(computer.record(), by: computer)
            // The rest of 3,000 to 4,000 seconds, however long the requests took.
            #expect(refused.status == 429 && (2_900...4_000).contains(refused.error?.retryAfterSeconds ?? 0))
            hub.time.advance(by: .seconds(4_000))
            #expect(try await hub.put(computer.record(), by: computer).status == 200)
        }
    }

    @Test func aBucketAllowsItsBurstAndThenItsRate() {
        let limiter = RateLimiter<Int>(.init(perSecond: 2, burst: 4))
        #expect((0..<6).map { _ in limiter.take(1, at: .zero) } == [nil, nil, nil, nil, 1, 1])
        #expect(limiter.take(2, at: .zero) == nil)
        #expect((0..<3).map { _ in limiter.take(1, at: .seconds(1)) } == [nil, nil, 1])
        #expect((0..<6).map { _ in limiter.take(1, at: .seconds(100)) } == [nil, nil, nil, nil, 1, 1])
    }

    @Test func aTinyRateAsksToWaitForADay() {
        for perSecond: Double in [1e-300, .leastNonzeroMagnitude, 1e-10] {
            let limiter = RateLimiter<Int>(.init(perSecond: perSecond, burst: 1))
            #expect((0..<2).map { _ in limiter.take(1, at: .zero) } == [nil, 86_400])
            #expect(limiter.take(2, cost: 1e308, at: .zero) == nil)
            #expect(limiter.take(2, at: .seconds(1_000_000_000)) == 86_400)
        }
    }

    @Test func theNumberOfBucketsIsBounded() {
        let limiter = RateLimiter<Int>(.init(perSecond: 1, burst: 2), maximumKeys: 100)
        for key in 0..<100 { #expect(limiter.take(key, at: .zero) == nil) }
        // No room: new addresses share one bucket, and existing buckets are kept.
        #expect((100..<110).compactMap { limiter.take($0, at: .zero) }.count == 8)
        #expect(limiter.take(5, at: .zero) == nil)
        #expect(limiter.take(5, at: .zero) == 1)
        // Full buckets are removed.
        #expect((200..<300).compactMap { limiter.take($0, at: .seconds(10)) }.isEmpty)
    }
}
