import ControlAPI
import Testing

@testable import DaemonCore

@Suite struct SessionServiceTests {
    private let time = TestTime()

    private func isOpen(_ service: SessionService, _ token: String?, _ peer: ControlPeer = alice) async -> Bool {
        await refusal { try await service.require(token, of: peer) } == nil
    }

    @Test func aTokenIsThirtyTwoRandomBytes() async throws {
        let service = SessionService(time: time, lockGenerations: LockGenerations(), changes: StateChanges())
        let first = try await service.open(for: alice)
        let second = try await service.open(for: alice)
        #expect(first.token.count == 64 && first.token.allSatisfy(\.isHexDigit))
        #expect(first.token != second.token)
        #expect(first.expiresInSeconds == 900 && first.idleSeconds == 300)
    }

    @Test func aSessionEndsFiveMinutesAfterItsLastRequest() async throws {
        let service = SessionService(time: time, lockGenerations: LockGenerations(), changes: StateChanges())
        let token = try await service.open(for: alice).token
        time.advance(by: .milliseconds(299_999))
        #expect(await isOpen(service, token))
        time.advance(by: .milliseconds(299_999))
        #expect(await isOpen(service, token), "each request extends the session")
        time.advance(by: .seconds(300))
        #expect(await !isOpen(service, token))
    }

    @Test func aSessionEndsFifteenMinutesAfterItBeganEvenIfItIsUsed() async throws {
        let service = SessionService(time: time, lockGenerations: LockGenerations(), changes: StateChanges())
        let token = try await service.open(for: alice).token
        for _ in 0..<8 {
            time.advance(by: .seconds(112))
            #expect(await isOpen(service, token))
        }
        time.advance(by: .seconds(4))
        #expect(await !isOpen(service, token))
    }

    @Test func aSessionBelongsToTheUserWhoOpenedIt() async throws {
        let service = SessionService(time: time, lockGenerations: LockGenerations(), changes: StateChanges())
        let token = try await service.open(for: alice).token
        #expect(await !isOpen(service, token, bob))
        #expect(await isOpen(service, token, ControlPeer(user: alice.user, process: 9)), "another process of that user")
        #expect(await !isOpen(service, nil))
        #expect(await !isOpen(service, ""))
        #expect(await !isOpen(service, String(repeating: "0", count: 64)))
    }

    @Test func anEndedSessionIsInvalid() async throws {
        let service = SessionService(time: time, lockGenerations: LockGenerations(), changes: StateChanges())
        let first = try await service.open(for: alice).token
        let second = try await service.open(for: alice).token
        await service.end(first)
        #expect(await !isOpen(service, first))
        #expect(await isOpen(service, second))
        await service.endAll()
        #expect(await !isOpen(service, second))
    }

    @Test func theSixtyFifthSessionEndsTheOldest() async throws {
        let service = SessionService(time: time, lockGenerations: LockGenerations(), changes: StateChanges())
        var tokens: [String] = []
        for _ in 0..<65 {
            tokens.append(try await service.open(for: alice).token)
            time.advance(by: .milliseconds(1))
        }
        #expect(await !isOpen(service, tokens[0]))
        for token in tokens.dropFirst() { #expect(await isOpen(service, token)) }
    }

    @Test func timeThatRunsBackwardsEndsASession() async throws {
        let service = SessionService(time: time, lockGenerations: LockGenerations(), changes: StateChanges())
        let token = try await service.open(for: alice).token
        time.set(elapsed: .seconds(1))
        #expect(await !isOpen(service, token))
    }
}
