import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// The session's environment is any program's of the user: `environment.d` and profiles are files of theirs.
@Suite(.requires(.display, .program("xdotool"), .program("cc")))
struct ForeignCodeTests {
    /// A library in `path` that makes the file `path` + ".loaded" when it is loaded.
    private func library(_ path: String, in directory: TemporaryDirectory) async throws {
        let source = try directory.write(
            """
            #include <stdio.h>
            __attribute__((constructor)) static void load(void) { fclose(fopen(FILE_NAME, "w")); }
            """, to: "library.c")
        let library = directory.path(path)
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: library).deletingLastPathComponent().path, withIntermediateDirectories: true)
        let compiler = try await ChildProcess.run(
            "cc", ["-shared", "-fPIC", "-DFILE_NAME=\"\(library).loaded\"", "-o", library, source])
        try #require(compiler.exit == .code(0), "\(compiler.errorOutput)")
    }

    @Test(.requires(.program("gnome-calculator"))) func noVariableOfTheSessionLoadsCodeIntoThePrompt() async throws {
        let desktop = try await Desktop()
        let directory = desktop.directory
        let libraries = [
            "gio/libgio.so", "extra/libextra.so", "prefix/lib/gtk-4.0/immodules/libprefix.so",
            "path/immodules/libpath.so", "drivers/swrast_dri.so",
        ]
        for name in libraries { try await library(name, in: directory) }
        let hostile = desktop.environment.merging([
            "GIO_MODULE_DIR": directory.path("gio"), "GIO_EXTRA_MODULES": directory.path("extra"),
            "GTK_EXE_PREFIX": directory.path("prefix"), "GTK_PATH": directory.path("path"),
            "LIBGL_DRIVERS_PATH": directory.path("drivers"), "LIBGL_ALWAYS_SOFTWARE": "1", "GSK_RENDERER": "gl",
        ]) { $1 }
        func loaded() -> [String] {
            libraries.filter { FileManager.default.fileExists(atPath: directory.path($0) + ".loaded") }
        }
        // Another program with GTK loads all of them: the variables have an effect here.
        let other = try ChildProcess("gnome-calculator", environment: hostile)
        await eventually("it loads them: \(other.stateDescription)") { loaded() == libraries }
        other.kill()
        try await other.wait()
        for name in libraries { try FileManager.default.removeItem(atPath: directory.path(name) + ".loaded") }

        let prompt = try await desktop.startPrompt(settings: hostile)
        try desktop.daemon.send(.ask(.sample("7")))
        try await desktop.awaitWindow("Calculator is locked")
        try await desktop.type("correct horse")
        try await desktop.press("Return")
        await eventually("the answer is received") { try desktop.daemon.answers("7").count == 1 }
        #expect(loaded().isEmpty)
        #expect(prompt.isRunning)
    }
}
