import DBus
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

struct CaptureWatchTests {
    @Test(.requires(.display, .program("ffmpeg"))) func aScreenRecorderIsDetected() async throws {
        let server = try await XServer()
        let watch = CaptureWatch(user: getuid(), address: .address("unix:path=/nowhere"))
        let recording = ScreenCapture(recorder: "ffmpeg", isCertain: true)
        #expect(await !watch.look().contains(recording))
        let ffmpeg = try ChildProcess(
            "ffmpeg",
            ["-loglevel", "error", "-f", "x11grab", "-framerate", "2", "-i", server.display, "-f", "null", "-"])
        await eventually("the recorder is detected") { await watch.look().contains(recording) }
        #expect(ffmpeg.isRunning, "\(ffmpeg.errorOutput)")
        let another = CaptureWatch(user: 12_345, address: .address("unix:path=/nowhere"))
        #expect(await another.look().isEmpty, "another user's processes are not reported")
        ffmpeg.kill()
        await eventually("its end is detected") { await !watch.look().contains(recording) }
    }

    /// dbusmock answers introspection as GNOME's compositor does: with the names of the objects below.
    @Test(.requires(.program("dbus-daemon"), .path("/usr/lib/python3/dist-packages/dbusmock")))
    func aStreamOfTheCompositorIsDetected() async throws {
        let session = try await PrivateSessionBus()
        let watch = CaptureWatch(user: 12_345, address: .address(session.address))
        #expect(await watch.look().isEmpty, "GNOME is not running")
        let bus = try session.connect()
        let name = CaptureWatch.casts
        let path = "/org/gnome/Mutter/ScreenCast"
        let mutter = try ChildProcess(
            "/usr/bin/python3", ["-m", "dbusmock", "--session", name, path, name],
            environment: ["DBUS_SESSION_BUS_ADDRESS": session.address, "PATH": "/usr/bin:/bin"])
        await eventually("the mock owns its name: \(mutter.errorOutput)") { try await bus.owner(of: name) != nil }
        #expect(await watch.look().isEmpty, "no stream exists")
        func add(_ path: String) async throws {
            try await bus.call(
                name, "/org/gnome/Mutter/ScreenCast", "org.freedesktop.DBus.Mock", "AddObject",
                [
                    .string(path), .string(name + ".Session"), .options([:]),
                    .array(of: "(ssss)", []),
                ])
        }
        try await add(path + "/Session/u1")
        // A bus that answers too late for one reading answers the next.
        let cast = ScreenCapture(recorder: "a program that shares the screen", isCertain: true)
        await eventually("the stream is detected") { await watch.look() == [cast] }
        try await bus.call(
            name, path, "org.freedesktop.DBus.Mock", "RemoveObject", [.string(path + "/Session/u1")])
        await eventually("its end is detected") { await watch.look().isEmpty }
    }

    @Test func onlyChangesAreReported() async throws {
        // A stand-in for PipeWire that counts how often it is asked.
        let directory = try TemporaryDirectory()
        try directory.write("", to: "pipewire-0")
        try directory.write("[]", to: "listing")
        let program = try directory.write(
            "#!/bin/sh\necho >> \"$0.looks\"\ncat \"$XDG_RUNTIME_DIR/listing\"\n", to: "pw-dump", permissions: 0o755)
        func looks() throws -> Int { try Data(contentsOf: URL(fileURLWithPath: program + ".looks")).count }
        let watch = CaptureWatch(
            user: 4_000_000, address: .address("unix:path=/nowhere"),
            pipeWire: PipeWireCasts(runtimeDirectory: directory.path, program: program))
        var changes = watch.captures(every: .milliseconds(5)).makeAsyncIterator()
        let first = await changes.next()
        #expect(first?.isEmpty == true)
        let before = try looks()
        await eventually("it continues to poll") { try looks() >= before + 3 }
        let screen = #"[{"type": "PipeWire:Interface:Node", "info": {"props": {"media.class": "Video/Source"}}}]"#
        try directory.write(screen, to: "listing")
        let second = await changes.next()
        #expect((second ?? []).map(\.recorder) == ["a program that shares the screen"])
    }
}
