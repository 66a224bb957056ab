import Foundation
import Policy
import Testing

@Suite struct GrantTests {
    let grant = Grant(
        app: calculator, scope: .duration(.seconds(300)), boot: boot, startedAt: .seconds(100), expiresAt: .seconds(400)
    )

    @Test func aGrantHoldsToItsExactEnd() {
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
    func scopesTravelAsPlainText(_ scope: GrantScope, _ json: String) throws {
        #expect(String(decoding: try JSONEncoder().encode([scope]), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode([GrantScope].self, from: Data(json.utf8)) == [scope])
    }

    @Test(arguments: [#"["2h"]"#, #"["29s"]"#, #"["forever"]"#, #"[""]"#, "[5]"])
    func aScopeThatIsNotAllowedIsNotDecoded(_ json: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode([GrantScope].self, from: Data(json.utf8)) }
    }
}
