import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// `applocker file` against a real AppLocker.
@Suite("The command line: files")
struct FileCommandTests {
    @Test("locks a folder in place and restores it unchanged")
    func inPlace() async throws {
        let fixture = try await CommandLineFixture()
        let folder = fixture.directory.path("letters")
        let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try fixture.directory.write("dear", to: "letters/one", permissions: 0o640)
        try fixture.directory.write("dearest", to: "letters/old/two")
        try large.write(to: URL(fileURLWithPath: folder + "/large"))
        #expect(symlink("one", folder + "/link") == 0)

        let refused = try await fixture.run("file", "lock", folder, passcodes: ["wrong"])
        #expect(refused.status == 1)
        #expect(try files(folder) == ["large", "link", "old", "old/two", "one"])

        let locked = try await fixture.run("file", "lock", folder, passcodes: [CommandLineFixture.passcode])
        #expect(locked.status == 0, "\(locked.errors)")
        #expect(locked.output.hasPrefix("Locked 3 files"))
        #expect(locked.errors.contains("link is a symbolic link"))
        #expect(try files(folder) == ["large.aplk", "link", "old", "old/two.aplk", "one.aplk"])

        let again = try await fixture.run("file", "lock", folder + "/one.aplk", "--json")
        #expect(again.status == 1)
        let left = try #require(try again.json()["left"] as? [[String: Any]])
        #expect(left.first?["code"] as? String == "already_exists")

        _ = try await fixture.run("vault", "lock")
        let closed = try await fixture.run("file", "unlock", folder)
        #expect(closed.status != 0)
        let opened = try await fixture.run(
            "file", "unlock", folder, "--json", passcodes: [CommandLineFixture.passcode])
        #expect(opened.status == 0, "\(opened.errors)")
        #expect((try opened.json()["files"] as? [Any])?.count == 3)
        #expect(try files(folder) == ["large", "link", "old", "old/two", "one"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/large")) == large)
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/one")[.posixPermissions] as? Int
        #expect(mode == 0o640)
        try await fixture.end()
    }

    @Test("adds, lists, gets and removes")
    func vault() async throws {
        let fixture = try await CommandLineFixture()
        let large = Data((0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        let path = fixture.directory.path("passport.jpg")
        try large.write(to: URL(fileURLWithPath: path))
        try fixture.directory.write("", to: "empty")

        let added = try await fixture.run(
            "file", "add", path, fixture.directory.path("empty"), "--remove-original", "--yes", "--json",
            passcodes: [CommandLineFixture.passcode])
        #expect(added.status == 0, "\(added.errors)")
        #expect(access(path, F_OK) != 0)
        #expect(try await fixture.run("file", "list").output.contains("passport.jpg"))

        let got = try await fixture.run("file", "get", "passport.jpg", "-o", fixture.directory.path)
        #expect(got.status == 0, "\(got.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == large)
        let existing = try await fixture.run("file", "get", "passport.jpg", "-o", path)
        #expect(existing.status == 1)
        #expect(existing.errors.contains("exists already"))
        let empty = try await fixture.run("file", "get", "empty", "-o", "-")
        #expect(empty.status == 0 && empty.output.isEmpty)

        // Nobody can confirm here, and removing can't be undone.
        #expect(try await fixture.run("file", "remove", "empty").status == 2)
        #expect(try await fixture.run("file", "remove", "empty", "--yes").status == 0)
        #expect(try await fixture.run("file", "get", "empty").status == 4)
        #expect(try await fixture.run("file", "add", fixture.directory.path).errors.contains("is a folder"))

        // Nothing of the content or the name is on disk in clear.
        let state = fixture.directory.path("state")
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) {
            guard let bytes = FileManager.default.contents(atPath: state + "/" + name) else { continue }
            #expect(bytes.range(of: Data("passport".utf8)) == nil, "\(name)")
            #expect(bytes.range(of: large[1000..<1032]) == nil, "\(name)")
        }
        try await fixture.end()
    }

    @Test("Ctrl-C while it locks leaves the file unchanged", .requires(.freeSpace(gibibytes: 4)))
    func interrupted() async throws {
        let fixture = try await CommandLineFixture()
        #expect(try await fixture.run("vault", "unlock", passcodes: [CommandLineFixture.passcode]).status == 0)
        let path = fixture.directory.path("large")
        // Sparse, and longer than can be sealed before the interrupt.
        #expect(FileManager.default.createFile(atPath: path, contents: nil) && truncate(path, 3 << 30) == 0)
        let folder = fixture.directory.path
        func isWriting() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: folder).contains { $0.hasPrefix(".applocker-") }
        }
        let child = try fixture.start(["file", "lock", path])
        await eventually("it writes") { try isWriting() || !child.isRunning }
        try #require(child.isRunning, "\(child.stateDescription)")
        child.kill(SIGSTOP)
        await eventually("it is stopped") { processState(child.pid) == "T" }
        try #require(try isWriting(), "it has locked the file already: \(child.stateDescription)")
        child.kill(SIGINT)
        child.kill(SIGCONT)
        #expect(try await child.wait() == .code(1))
        #expect(child.errorOutput.contains("Interrupted"), "\(child.errorOutput)")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 3 << 30)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["large", "state"])
        try await fixture.end()
    }

    private func files(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }
}
