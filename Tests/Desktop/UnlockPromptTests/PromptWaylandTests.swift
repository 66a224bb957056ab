import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A real Wayland compositor without a screen or a keyboard: the test shows only that the window appears.
@Suite(.requires(.program("weston"), .program("weston-screenshooter"), .program("convert")))
struct PromptWaylandTests {
    @Test func theWindowAppearsOnWaylandAndTheCompositorIsRegistered() async throws {
        let directory = try TemporaryDirectory()
        let runtime = directory.path("runtime")
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let configuration = try directory.write(
            "[core]\nidle-time=0\n[shell]\nbackground-color=0xff204060\npanel-position=none\nlocking=false\n",
            to: "weston.ini")
        let environment = Desktop.environment(directory).merging(
            ["XDG_RUNTIME_DIR": runtime, "WAYLAND_DISPLAY": "wayland-prompt", "GDK_BACKEND": "wayland"]) { $1 }
        let weston = try ChildProcess(
            "weston",
            [
                "--config=\(configuration)", "--backend=headless-backend.so", "--use-pixman", "--width=800",
                "--height=600", "--socket=wayland-prompt", "--debug",
            ], environment: environment.filter { $0.key != "WAYLAND_DISPLAY" })
        await eventually("weston listens: \(weston.errorOutput)") {
            isListening(at: runtime + "/wayland-prompt")
        }
        let daemon = try ScriptedDaemon(socketPath: directory.path("control.sock"))
        let prompt = try ChildProcess(
            BuiltProducts.path("applocker-prompt"), ["--socket", daemon.socketPath], environment: environment)
        await eventually("the prompter connects: \(prompt.stateDescription)") { daemon.prompterCount == 1 }
        await eventually("the processes are registered") {
            try daemon.calls("POST /v1/prompts/desktop").contains {
                try JSONDecoder().decode(RegisterDesktopRequest.self, from: $0.body).processes.contains(weston.pid)
            }
        }
        #expect(try await whitePixels(directory, environment) == 0)
        try daemon.send(.ask(.sample("7")))
        await eventually("the window is on the screen") {
            try await self.whitePixels(directory, environment) > 60_000
        }
        try daemon.send(.settled(prompt: "7", outcome: .timedOut))
        await eventually("the window is closed") { try await self.whitePixels(directory, environment) == 0 }
        #expect(prompt.isRunning)
    }

    /// How many pixels of the screen are the window's background.
    private func whitePixels(_ directory: TemporaryDirectory, _ environment: [String: String]) async throws -> Int {
        let folder = directory.path("shot-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let shot = try await ChildProcess.run(
            "weston-screenshooter", environment: environment, workingDirectory: folder)
        try #require(shot.exit == .code(0), "\(shot.errorOutput)")
        let picture = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let pixels = try ChildProcess("convert", ["\(folder)/\(picture)", "-depth", "8", "gray:-"])
        try #require(try await pixels.wait() == .code(0))
        return pixels.outputData.count { $0 == 255 }
    }
}
