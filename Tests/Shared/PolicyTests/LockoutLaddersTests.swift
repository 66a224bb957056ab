import Foundation
import Policy
import Testing

@Suite struct LockoutLaddersTests {
    @Test func unknownUsersShareOneLadder() {
        var ladders = LockoutLadders()
        for user in UInt32(1)...5 { ladders.recordFailure(by: user, at: moment(1_000)) }
        #expect(ladders.ladder(of: 77).failures == 5)
        guard case .lockedOut = ladders.ladder(of: 77).status(at: moment(1_000)) else {
            Issue.record("no lockout")
            return
        }
        #expect(ladders.ladder(of: 0).failures == 0, "root counts alone")
    }

    @Test func aUserWhoEnteredTheRightPasscodeHasTheirOwnLadder() {
        var ladders = LockoutLadders()
        ladders.recordFailure(by: 1, at: moment(1_000))
        ladders.recordSuccess(by: 1)
        #expect(ladders.hasOwn(1) && ladders.ladder(of: 2).failures == 0, "it resets the shared count")
        ladders.recordFailure(by: 2, at: moment(1_000))
        ladders.recordFailure(by: 1, at: moment(1_000))
        ladders.recordFailure(by: 1, at: moment(1_000))
        #expect(ladders.ladder(of: 1).failures == 2 && ladders.ladder(of: 2).failures == 1)
        ladders.recordSuccess(by: 1)
        #expect(ladders.ladder(of: 1).failures == 0 && ladders.ladder(of: 2).failures == 1)
    }

    @Test func anAppsOwnPasscodeNeitherResetsNorSeparatesLadders() {
        var ladders = LockoutLadders()
        for _ in 0..<3 { ladders.recordFailure(by: 1, at: moment(1_000)) }
        ladders.withdrawFailure(by: 1)
        #expect(ladders.ladder(of: 1).failures == 2 && !ladders.hasOwn(1))
    }

    @Test func laddersAreEncodedAndDecodedTheSame() throws {
        var ladders = LockoutLadders()
        ladders.separate(1)
        ladders.recordFailure(by: 1, at: moment(1_000))
        ladders.recordFailure(by: 2, at: moment(1_000))
        #expect(try JSONDecoder().decode(LockoutLadders.self, from: JSONEncoder().encode(ladders)) == ladders)
    }
}
