import DBus
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

/// GNOME's own compositor, without a screen. It takes seconds to start, so one test covers all of it.
@Suite(.requires(.program("mutter"), .program("dbus-daemon")))
struct RealMutterTests {
    @Test func itReportsIdleTimeTheFirstInputAndScreenCasts() async throws {
        let session = try await PrivateSessionBus()
        let runtime = session.directory.path("runtime")
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let bus = try session.connect()
        let mutter = try await Mutter(
            screen: "640x480",
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": session.directory.path, "XDG_RUNTIME_DIR": runtime,
                "DBUS_SESSION_BUS_ADDRESS": session.address, "DBUS_SYSTEM_BUS_ADDRESS": session.address,
                "GSETTINGS_BACKEND": "memory", "LC_ALL": "C.UTF-8",
            ], bus: bus)
        await eventually(every: .milliseconds(50), "mutter casts screens: \(mutter.process.stateDescription)") {
            try await bus.owner(of: CaptureWatch.casts) != nil
        }
        let source = try await MutterIdle(bus)
        let target = try await source.idleTime() + .milliseconds(500)
        try await source.untilIdle(for: target)
        #expect(try await source.idleTime() >= target - .milliseconds(50))

        let touched = Flag()
        let waiting = Task {
            try await source.untilTouched()
            touched.set()
        }
        // Meanwhile the monitor fires another watch.
        try await source.untilIdle(for: try await source.idleTime() + .milliseconds(300))
        #expect(!touched.isSet)
        let began = ContinuousClock.now
        await eventually(every: .milliseconds(500), "the input is reported") {
            if !touched.isSet { try await mutter.movePointer() }
            return touched.isSet
        }
        let idle = try await source.idleTime()
        #expect(idle <= began.duration(to: .now), "since the input")
        waiting.cancel()

        let watch = CaptureWatch(user: 12_345, address: .address(session.address))
        #expect(await watch.look().isEmpty)
        try await bus.call(
            CaptureWatch.casts, "/org/gnome/Mutter/ScreenCast", CaptureWatch.casts, "CreateSession", [.options([:])])
        await eventually("the cast is detected") { await watch.look().map(\.isCertain) == [true] }
        #expect(mutter.process.isRunning)
    }
}
