import Testing

@testable import Supervisor

@Suite("Restart policy")
struct RestartPolicyTests {
    private func delays(
        _ policy: RestartPolicy, count: Int, lasted: Duration, wasReady: Bool = false, wasKilled: Bool = false
    ) -> [Duration] {
        var policy = policy
        return (0..<count).map { _ in
            policy.delay(after: .init(lasted: lasted, wasReady: wasReady, wasKilled: wasKilled))
        }
    }

    @Test func aKilledGateIsRestartedWithoutDelay() {
        let killed = delays(.gate, count: 1000, lasted: .milliseconds(1), wasKilled: true)
        #expect(killed.allSatisfy { $0 == .zero })
        let crashed = delays(.gate, count: 1000, lasted: .milliseconds(1), wasReady: true)
        #expect(crashed.allSatisfy { $0 == .zero })
    }

    @Test func aGateThatCannotStartIsRestartedWithADelay() {
        let failing = delays(.gate, count: 12, lasted: .milliseconds(3))
        #expect(failing.prefix(3).allSatisfy { $0 == .zero })
        #expect(failing[3] == .milliseconds(50))
        #expect(failing.last == .seconds(2))
    }

    @Test func theDaemonsDelayGrowsToTwoSecondsWhateverEndedIt() {
        for wasKilled in [true, false] {
            let quick = delays(.daemon, count: 2000, lasted: .seconds(1), wasReady: true, wasKilled: wasKilled)
            #expect(quick.prefix(3).allSatisfy { $0 == .zero })
            #expect(quick[3...8].map { $0 } == [50, 100, 200, 400, 800, 1600].map { .milliseconds($0) })
            #expect(quick[9...].allSatisfy { $0 == .seconds(2) })
        }
    }

    @Test func aLongRunResetsTheDelay() {
        var policy = RestartPolicy.daemon
        for _ in 0..<20 { _ = policy.delay(after: .init(lasted: .zero, wasReady: false, wasKilled: false)) }
        #expect(policy.delay(after: .init(lasted: .seconds(6), wasReady: true, wasKilled: false)) == .zero)
        #expect(policy.delay(after: .init(lasted: .zero, wasReady: false, wasKilled: false)) == .zero)
    }
}
