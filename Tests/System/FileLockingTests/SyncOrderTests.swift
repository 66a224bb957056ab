import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// What a power failure may leave: the kernel writes names and contents in any order unless fsync orders them.
@Suite(.requires(.program("strace")))
struct SyncOrderTests {
    @Test(arguments: [("lock", from: "letter", to: "letter.aplk"), ("unlock", from: "letter.aplk", to: "letter")])
    func contentIsDurableBeforeItsNameAndItsNameBeforeTheOtherFileIsRemoved(
        _ word: String, from: String, to: String
    ) async throws {
        let directory = try TemporaryDirectory()
        let locker = try BuiltProducts.path("seal-speed")
        let key = String(repeating: "c3", count: 48)
        let files = directory.path("files")
        _ = try directory.write("dear", to: "files/letter")
        if word == "unlock" { #expect(try await ChildProcess(locker, ["lock", key, files]).wait() == .code(0)) }
        let trace = directory.path("trace")
        let calls = "trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat"
        let traced = try ChildProcess(
            "strace", ["-f", "-qq", "-y", "-e", calls, "-o", trace, locker, word, key, files])
        #expect(try await traced.wait() == .code(0), "\(traced.errorOutput)")
        let folder = NSRegularExpression.escapedPattern(for: files)
        let steps = [
            #"fsync\(\d+<\#(folder)/(\.applocker-[^>]+)>\) += 0"#,
            #"renameat2\(\d+<\#(folder)>, "(\.applocker-[^"]+)", \d+<\#(folder)>, "\#(to)", RENAME_NOREPLACE\) += 0"#,
            #"fsync\(\d+<\#(folder)>\) += 0"#,
            #"unlinkat\(\d+<\#(folder)>, "\#(from)", 0\) += 0"#,
            #"fsync\(\d+<\#(folder)>\) += 0"#,
        ]
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.count == steps.count, "\(lines)")
        for (line, step) in zip(lines, steps) {
            #expect(line.range(of: "^\\d+ +\(step)$", options: .regularExpression) != nil, "\(line), not \(step)")
        }
    }
}
