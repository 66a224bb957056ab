import Foundation
import TestSupport
import Testing

/// The companion's core in Chromium: the tests of Tests/Browser, which run.py runs and tells about, a line each.
@Suite(.requires(.path(PythonPeers.program), .program("chromium")), .timeLimit(.minutes(9)))
struct BrowserTests {
    private func holds(by program: String = "run.py", _ arguments: String...) async throws {
        let runner = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Browser/\(program)").standardizedFileURL.path
        func ran() async throws -> (exit: ChildProcess.Exit, output: String, errorOutput: String) {
            try await ChildProcess.run(PythonPeers.program, ["-B", runner] + arguments, timeout: .seconds(240))
        }
        let start = ContinuousClock.now
        var run = try await ran()
        if run.exit != .code(0) {
            // Some screens are met while they still change, on a busy machine. `make test` ends with a count of these, so that each is
            // looked at.
            print("AGAIN \(arguments.last ?? ""): it failed the first time\n\(run.output)\(run.errorOutput)")
            run = try await ran()
        }
        print("\(arguments.last ?? ""): \((ContinuousClock.now - start) / .seconds(1)) s")
        #expect(run.exit == .code(0), "\(run.output)\(run.errorOutput)")
        // A runner that ran nothing would end well too.
        #expect(run.output.contains("ok  "), "\(run.output)\(run.errorOutput)")
    }

    @Test(.requires(.path("/usr/lib/python3/dist-packages/cryptography")))
    func formatsAreReadAndWrittenAsByTheOthers() async throws { try await holds("vectors", "published", "sealing") }

    @Test func theGateOpensByPasskeyAndLocksWhenNobodyLooks() async throws {
        try await holds("gate", "drawers", "decoy", "decoy-changes", "hidden")
    }

    @Test func theAppOpensWithoutANetworkAndAsksBeforeItChanges() async throws { try await holds("offline") }

    @Test func whatIsPushedIsShownAndTheAppCanBeInstalled() async throws { try await holds("notices", "installable") }

    @Test func theCalculatorCalculatesAndMovementsAreKnown() async throws { try await holds("calculation", "gestures") }

    @Test func aHubThatDoesWhatItLikesIsFoundOut() async throws { try await holds("distrust", "full") }

    @Test func momentsAreSealedFoundAndResumed() async throws {
        try await holds("moments", "moment-vectors", "exif", "zip", "audit")
    }

    @Test func thousandsOfMomentsAreAtHandAtOnce() async throws { try await holds("moments-speed") }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func whateverIsKilledOneMomentComesOut() async throws {
        try await holds("--programs", BuiltProducts.directory.path, "moments_hub")
    }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func momentsAreTheSameAtTheComputerAndOnThePhone() async throws {
        try await holds("--programs", BuiltProducts.directory.path, "moments_computer")
    }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func aPhoneStandsBesideARealComputerAndHub() async throws {
        try await holds("--programs", BuiltProducts.directory.path, "story")
    }

    /// The app as a person has it; each module on a hub, a computer and a phone of its own.
    @Test(
        .requires(.program("/usr/bin/ffmpeg")),
        arguments: [
            "app_gate", "app_story", "app_overview", "app_alerts", "app_notes", "app_vault", "app_settings",
            "app_moments_files", "app_moments_import", "app_moments_audit", "app_moments_reset",
            "app_moments_copy",
            "app_vaults",
            "app_household", "app_computers",
            "app_shell",
            "app_profile",
            "app_decoy",
            "app_moments",
            "app_moments_editor", "app_moments_figures",
            "app_moments_locked",
            "app_moments_together",
            "app_moments_many",
            "app_disguise",
            "app_panic",
        ])
    func theAppDoesWhatItsScreensSay(module: String) async throws {
        try await holds("--programs", BuiltProducts.directory.path, module)
    }

    // WebKit is the engine of every browser on an iPhone.

    @Test(
        .requires(
            .program("WebKitWebDriver"), .program("xvfb-run"), .path("/usr/lib/python3/dist-packages/cryptography")))
    func formatsAreTheSameInWebKit() async throws {
        try await holds(by: "webkit.py", "vectors", "published", "sealing", "distrust")
    }

    @Test(.requires(.program("WebKitWebDriver"), .program("xvfb-run")))
    func momentsAreTheSameInWebKit() async throws {
        try await holds(by: "webkit.py", "moments", "moment-vectors", "exif", "zip", "audit")
    }

    @Test(.requires(.program("WebKitWebDriver"), .program("xvfb-run")))
    func twoPINsAreTheSameInWebKit() async throws { try await holds(by: "webkit.py", "decoy", "decoy-changes") }

    @Test(.requires(.program("WebKitWebDriver"), .program("xvfb-run"), .program("/usr/bin/ffmpeg")))
    func aPhoneWithWebKitStandsBesideARealComputerAndHub() async throws {
        try await holds(by: "webkit.py", "--programs", BuiltProducts.directory.path, "story")
    }

    @Test(.requires(.program("WebKitWebDriver"), .program("xvfb-run")))
    func theAppWorksInWebKit() async throws {
        try await holds(by: "webkit.py", "--programs", BuiltProducts.directory.path, "app")
    }
}
