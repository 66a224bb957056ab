import Foundation
import Policy
import Testing

@Suite struct GrantTests {
    let grant = Grant(
        app: calculator, scope: .duration(.seconds(300)), boot: boot, startedAt: .seconds(100), expiresAt: .seconds(400)
    )

    @Test func aGrantIsValidUntilItsExactEnd() {
        #expect(grant.isValid(at: moment(100)))
        #expect(grant.isValid(at: moment(399.999)))
        #expect(!grant.isValid(at: moment(400)))
        #expect(grant.remaining(at: moment(150)) == .seconds(250))
        #expect(grant.remaining(at: moment(400)) == .zero)
    }

    @Test func settingTheClockNeitherEndsNorLengthensAGrant() {
        for civil in [civil(.monday, 0, 0), civil(.sunday, 23, 59), noonOnMonday] {
            #expect(grant.isValid(at: moment(399, civil: civil)))
            #expect(!grant.isValid(at: moment(400, civil: civil)))
        }
    }

    @Test func aGrantOfAnotherBootIsVoid() {
        #expect(!grant.isValid(at: moment(150, boot: nextBoot)))
        let endless = Grant(app: firefox, scope: .untilLocked, boot: boot, startedAt: .zero, expiresAt: nil)
        #expect(endless.isValid(at: moment(1_000_000)))
        #expect(endless.remaining(at: moment(5)) == nil)
        #expect(!endless.isValid(at: moment(1, boot: nextBoot)))
        #expect(endless.remaining(at: moment(1, boot: nextBoot)) == .zero)
    }

    @Test func timeSinceBootThatRunsBackwardsVoidsAGrant() {
        #expect(!grant.isValid(at: moment(99.999)))
    }

    @Test func onlyThirtySecondsToAnHourAreAllowed() throws {
        for seconds in [30, 300, 3600] { try GrantScope.duration(.seconds(seconds)).validate() }
        for duration in [Duration.zero, .seconds(-300), .milliseconds(29_999), .milliseconds(3_600_001)] {
            #expect(throws: PolicyError.self) { try GrantScope.duration(duration).validate() }
        }
    }

    @Test(arguments: [
        (GrantScope.duration(.seconds(300)), #"["5m"]"#), (.thisLaunch, #"["this-launch"]"#),
        (.untilLocked, #"["until-locked"]"#), (.duration(.milliseconds(45_500)), #"["45s500ms"]"#),
    ])
    func scopesAreEncodedAsPlainText(_ scope: GrantScope, _ json: String) throws {
        #expect(String(decoding: try JSONEncoder().encode([scope]), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode([GrantScope].self, from: Data(json.utf8)) == [scope])
    }

    @Test(arguments: [#"["2h"]"#, #"["29s"]"#, #"["forever"]"#, #"[""]"#, "[5]"])
    func aScopeThatIsNotAllowedIsNotDecoded(_ json: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode([GrantScope].self, from: Data(json.utf8)) }
    }

    @Test func aGrantEndsWithItsUsersPresenceAndRootsWithAnyUsers() throws {
        var policy = LockPolicy()
        let ids = ["a", "b", "c", "d"].compactMap { AppID(rawValue: $0) }
        for id in ids { policy.add(LockedApp(id: id, name: id.rawValue)) }
        for (id, user) in zip(ids, [1_000, 1_001, 0, nil] as [UInt32?]) {
            try policy.unlock([id], scope: .untilLocked, at: moment(1), user: user)
        }
        #expect(policy.endGrants(of: 1_000, .screenLocked).map(\.grant.app) == [ids[0], ids[2], ids[3]])
        #expect(Set(policy.grants.keys) == [ids[1]])
    }

    @Test func aGrantOfAnEarlierVersionBelongsToEveryUser() throws {
        let grant = Grant(
            app: calculator, scope: .untilLocked, boot: boot, startedAt: .seconds(1), expiresAt: nil, user: 1_000)
        let bytes = try JSONEncoder().encode(grant)
        var json = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        json["user"] = nil
        let old = try JSONDecoder().decode(Grant.self, from: JSONSerialization.data(withJSONObject: json))
        #expect(old.user == nil && old.concerns(5))
        #expect(!grant.concerns(5) && grant.concerns(1_000))
    }
}
