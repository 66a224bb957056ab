import DaemonCore
import Foundation
import GateProtocol
import TestSupport
import Testing

@testable import GateClient

/// The list of apps that is stored for the gate's next start.
@Suite struct KnownAppsFileTests {
    @Test func theListIsStoredOnceAllOfItWasSent() async throws {
        let link = try Link(keepsList: true)
        let connection = try await link.connectWithApp()
        #expect(try link.knownApps() == nil)
        try await link.synchronise(connection)
        let kept: [DaemonMessage] = [
            .beginApp(1), .appPath(1, .executable, path: Array("/usr/bin/firefox".utf8)),
            .commitApp(1, guarded: true, sequence: 0),
        ]
        await eventually("the app is stored") { try link.knownApps() == kept }

        let client = link.client
        async let unlocking: Void = client.setGuarded(firefox, false)
        guard case .setGuarded(1, false, let unlocked) = try await connection.next() else {
            Issue.record("not unlocked")
            return
        }
        connection.send(.applied(1, sequence: unlocked, marks: 0, failures: 0))
        await unlocking
        #expect(try link.knownApps() == kept, "it is denied until a daemon has sent that it is unlocked")

        async let forgetting: Void = client.forget(firefox)
        guard case .forgetApp(1, let forgotten) = try await connection.next() else {
            Issue.record("not forgotten")
            return
        }
        connection.send(.applied(1, sequence: forgotten, marks: 0, failures: 0))
        await forgetting
        await eventually("the app is removed") { try link.knownApps() == [] }
    }

    @Test func aRestartedGateReceivesTheWholeListBeforeItIsStored() async throws {
        let link = try Link(keepsList: true)
        let connection = try await link.connectWithApp()
        try await link.synchronise(connection)
        await eventually("the apps are stored") { try link.knownApps()?.count == 3 }
        connection.shutDown()
        guard case .disconnected = await link.next() else {
            Issue.record("not disconnected")
            return
        }
        _ = try await link.gate.greet()
        guard case .connected = await link.next() else {
            Issue.record("not connected")
            return
        }
        await link.client.forget(firefox)
        #expect(try link.knownApps()?.count == 3, "nothing was sent yet")
    }
}
