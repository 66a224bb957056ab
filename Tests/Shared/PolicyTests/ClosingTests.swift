import Policy
import Testing

@Suite struct ClosingTests {
    private func policy() -> LockPolicy {
        var policy = LockPolicy()
        policy.add(LockedApp(id: firefox, name: "Firefox", onGrantEnd: .close))
        return policy
    }

    @Test(arguments: [(30, 6), (299, 59), (300, 60), (3_600, 60)])
    func theWarningIsAMinuteBeforeTheEndOrAFifthOfAShortGrant(seconds: Int, notice: Int) throws {
        var policy = policy()
        try policy.unlock([firefox], scope: .duration(.seconds(seconds)), at: moment(5), user: 7)
        let closing = try #require(policy.closings(at: moment(6)).first)
        #expect(closing.app == firefox && closing.user == 7)
        #expect(closing.closesAt == .seconds(5 + seconds))
        #expect((closing.closesAt - closing.warnsAt).components.seconds == Int64(notice))
        #expect(policy.closings(at: moment(Double(5 + seconds))).isEmpty)
    }

    @Test func moreTimeIsAddedUpToAnHour() throws {
        var policy = policy()
        try policy.unlock([firefox], scope: .duration(.seconds(600)), at: moment(0), user: 7)
        #expect(try policy.extend(firefox, by: .seconds(300), at: moment(570))?.expiresAt == .seconds(900))
        #expect(policy.grants[firefox]?.user == 7)
        #expect(try policy.extend(firefox, by: .seconds(3_600), at: moment(600))?.expiresAt == .seconds(4_200))
        #expect(throws: PolicyError.self) { try policy.extend(firefox, by: .seconds(3_601), at: moment(600)) }
        #expect(throws: PolicyError.self) { try policy.extend(calculator, by: .seconds(300), at: moment(600)) }
        #expect(try policy.extend(firefox, by: .seconds(300), at: moment(4_200)) == nil, "it has ended")
        try policy.unlock([firefox], scope: .untilLocked, at: moment(5_000))
        let before = policy
        #expect(try policy.extend(firefox, by: .seconds(300), at: moment(5_001)) == nil && policy == before)
    }
}
