import DBus
import SystemTestSupport
import TestSupport
import Testing

@testable import AppLockerCLI

@Suite(.requires(.program("dbus-daemon")))
struct DoctorNotificationsTests {
    @Test func aSessionWithoutANotificationServerIsWeakAndOneWithItIsNot() async throws {
        let session = try await PrivateSessionBus()
        let address = DBusConnection.Address.address(session.address)
        let without = await DoctorFinding.ofNotifications(address)
        #expect(without.state == .weak && without.advice != nil)
        let server = try session.connect()
        try await server.own("org.freedesktop.Notifications")
        #expect(await DoctorFinding.ofNotifications(address).state == .ok)
        server.close()
        await eventually("the name is free again") { await DoctorFinding.ofNotifications(address).state == .weak }
    }

    @Test func outsideASessionTheFindingIsUnknown() async throws {
        let finding = await DoctorFinding.ofNotifications(.address("unix:path=/nonexistent/bus"))
        #expect(finding.state == .unknown && finding.id == "notifications")
    }
}
