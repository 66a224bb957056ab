import DBus
import SystemTestSupport
import TestSupport
import Testing

@testable import AppLockerCLI

@Suite(.requires(.program("dbus-daemon")))
struct DoctorServicesTests {
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

    @Test func aLidWithoutUPowerIsWeakAndAComputerWithoutALidHasNoFinding() async throws {
        let bus = try await PrivateSessionBus()
        let address = DBusConnection.Address.address(bus.address)
        let directory = try TemporaryDirectory()
        #expect(await DoctorFinding.ofLid(address, lids: directory.path("none")) == nil)
        #expect(await DoctorFinding.ofLid(address, lids: directory.path) == nil)
        try directory.write("", to: "LID0")
        let without = await DoctorFinding.ofLid(address, lids: directory.path)
        #expect(without?.state == .weak && without?.advice != nil)
        let upower = try bus.connect()
        try await upower.own("org.freedesktop.UPower")
        #expect(await DoctorFinding.ofLid(address, lids: directory.path)?.state == .ok)
        let silent = await DoctorFinding.ofLid(.address("unix:path=/nonexistent/bus"), lids: directory.path)
        #expect(silent?.state == .unknown)
    }
}
