import Foundation
import TestSupport
import Testing

/// The companion's core in Chromium: the tests of Tests/Browser, which run.py runs and tells about, a line each.
@Suite(.requires(.path(PythonPeers.program), .program("chromium")), .timeLimit(.minutes(5)))
struct BrowserTests {
    private func holds(_ arguments: String...) async throws {
        let runner = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Browser/run.py").standardizedFileURL.path
        let run = try await ChildProcess.run(PythonPeers.program, ["-B", runner] + arguments, timeout: .seconds(240))
        #expect(run.exit == .code(0), "\(run.output)\(run.errorOutput)")
        // A runner that ran nothing would end well too.
        #expect(run.output.contains("ok  "), "\(run.output)\(run.errorOutput)")
    }

    @Test(.requires(.path("/usr/lib/python3/dist-packages/cryptography")))
    func formatsAreReadAndWrittenAsByTheOthers() async throws { try await holds("vectors", "published", "sealing") }

    @Test func aHubThatDoesWhatItLikesIsFoundOut() async throws { try await holds("distrust", "full") }

    @Test(.requires(.program("/usr/bin/ffmpeg"))) func aPhoneStandsBesideARealComputerAndHub() async throws {
        try await holds("--programs", BuiltProducts.directory.path, "story")
    }
}
