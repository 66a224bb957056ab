import DBus
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

struct PipeWireCastsTests {
    private func listing(_ properties: String) -> Data {
        Data(
            #"[{"id": 4, "type": "PipeWire:Interface:Node", "info": {"state": "running", "props": {\#(properties)}}}]"#
                .utf8)
    }

    @Test func aVideoSourceThatIsNotACameraIsAScreen() {
        for screen in [
            #""media.class": "Video/Source", "node.name": "xdg-desktop-portal-wlr", "object.serial": 7"#,
            #""media.class": "Stream/Output/Video", "node.name": "kwin_wayland", "node.autoconnect": true"#,
        ] {
            #expect(PipeWireCasts.count(in: listing(screen)) == 1, "\(screen)")
        }
        for other in [
            #""media.class": "Video/Source", "device.api": "v4l2""#,
            #""media.class": "Video/Source", "api.libcamera.path": "x""#, #""media.class": "Audio/Sink""#,
            #""media.class": "Stream/Input/Video""#, #""node.name": "Dummy-Driver""#, #""media.class": 3"#,
        ] {
            #expect(PipeWireCasts.count(in: listing(other)) == 0, "\(other)")
        }
        for nonsense in ["", "[", "{}", "[1]", #"[{"type": "PipeWire:Interface:Core"}]"#] {
            #expect(PipeWireCasts.count(in: Data(nonsense.utf8)) == 0, "\(nonsense)")
        }
    }

    @Test(.requires(.program("pipewire"), .program("pw-dump")))
    func aScreenSharedByARealPipeWireIsDetectedWhileItIsShared() async throws {
        let directory = try TemporaryDirectory()
        let casts = PipeWireCasts(runtimeDirectory: directory.path)
        #expect(casts.count() == 0, "PipeWire is not running")
        func start(_ objects: String) async throws -> ChildProcess {
            let configuration = try directory.write(
                """
                context.properties = { support.dbus = false core.daemon = true core.name = pipewire-0 }
                context.spa-libs = { support.* = support/libspa-support videotestsrc = videotestsrc/libspa-videotestsrc }
                context.modules = [
                    { name = libpipewire-module-protocol-native } { name = libpipewire-module-access }
                    { name = libpipewire-module-spa-node-factory } { name = libpipewire-module-client-node }
                ]
                context.objects = [ \(objects) ]
                """, to: "pipewire.conf")
            let server = try ChildProcess(
                "pipewire", ["-c", configuration],
                environment: ["XDG_RUNTIME_DIR": directory.path, "PATH": "/usr/bin:/bin"])
            await eventually("PipeWire listens: \(server.stateDescription)") {
                isListening(at: directory.path("pipewire-0"))
            }
            return server
        }
        let sharing = try await start(
            """
            { factory = spa-node-factory args = { factory.name = videotestsrc node.name = xdg-desktop-portal-wlr
              media.class = Video/Source } }
            """)
        await eventually("the screen is detected") { casts.count() == 1 }
        let watch = CaptureWatch(user: 4_000_000, address: .address("unix:path=/nonexistent"), pipeWire: casts)
        await eventually("it is certain") { await watch.look().first?.isCertain == true }
        sharing.kill()
        _ = try await sharing.wait()
        try FileManager.default.removeItem(atPath: directory.path("pipewire-0"))
        let quiet = try await start("")
        #expect(casts.count() == 0)
        quiet.kill()
    }
}
