import FileLocking
import Foundation
import Glibc
import SystemTestSupport
import TestSupport
import Testing

@Suite("Locking a folder")
struct FolderTests {
    let directory: TemporaryDirectory
    let vault = TestVault()

    init() throws { directory = try TemporaryDirectory() }

    @Test("locks every file below it, follows no links, and unlocks them unchanged")
    func tree() async throws {
        let outside = try TemporaryDirectory()
        try outside.write("not mine", to: "outside")
        for name in ["a", "b/c", "b/d/e", "b/d/.hidden", "ü/ö", "b/locked.aplk"] {
            try directory.write("text of \(name)", to: "tree/\(name)")
        }
        #expect(symlink(outside.path, directory.path("tree/away")) == 0)
        #expect(symlink(outside.path("outside"), directory.path("tree/b/away")) == 0)
        let before = directory.names
        let selection = try await FileSelection.find([directory.path("tree/")], .init(purpose: .lock))
        #expect(selection.files.count == 5)
        #expect(selection.skipped.map(\.isFailure) == [false, false])
        try await vault.lock(directory.path("tree"))
        #expect(outside.names == ["outside"])
        #expect(
            directory.names.filter { $0.contains("aplk") } == [
                "tree/a.aplk", "tree/b/c.aplk", "tree/b/d/.hidden.aplk", "tree/b/d/e.aplk", "tree/b/locked.aplk",
                "tree/ü/ö.aplk",
            ])
        try FileManager.default.moveItem(
            atPath: directory.path("tree/b/locked.aplk"), toPath: directory.path("tree/b/locked"))
        try await vault.unlock(directory.path("tree"))
        try FileManager.default.moveItem(
            atPath: directory.path("tree/b/locked"), toPath: directory.path("tree/b/locked.aplk"))
        #expect(directory.names == before)
        #expect(try bytes(directory.path("tree/b/d/e")) == Data("text of b/d/e".utf8))
    }

    @Test("names what it skips and why, and continues")
    func skipped() async throws {
        try directory.write("words", to: "fine")
        #expect(mkfifo(directory.path("pipe"), 0o600) == 0)
        let file = open(directory.path + "/\u{0}", O_RDONLY)
        close(file)
        let bad: [CChar] = Array(directory.path.utf8CString.dropLast()) + [47, -1, -2, 0]
        close(creat(bad, 0o600))
        let selection = try await FileSelection.find([directory.path, directory.path("gone")], .init(purpose: .lock))
        #expect(selection.files.map(\.path) == [directory.path("fine")])
        #expect(selection.skipped.count == 3)
        #expect(selection.skipped.filter(\.isFailure).count == 2)
        #expect(selection.skipped.contains { $0.sentence.contains("not valid UTF-8") })
        #expect(selection.skipped.contains { $0.sentence == "\(directory.path("gone")) does not exist." })
        unlink(bad)
    }

    @Test("skips AppLocker's own folder")
    func protected() async throws {
        try directory.write("machine secret", to: "home/state/machine-secret")
        try directory.write("words", to: "home/letter")
        var options = FileSelection.Options(purpose: .lock)
        options.protectedFolder = directory.path("home/state")
        let folder = try await FileSelection.find([directory.path("home")], options)
        #expect(folder.files.map(\.path) == [directory.path("home/letter")])
        let file = try await FileSelection.find([directory.path("home/state/machine-secret")], options)
        #expect(file.files.isEmpty)
        #expect(file.skipped.first?.isFailure == true)
    }

    @Test("stays on one file system by default", .requires(.root))
    func otherFileSystem() async throws {
        try directory.write("words", to: "letter")
        let mounted = try Mounted(in: directory, "size=1m")
        try Data("words".utf8).write(to: URL(fileURLWithPath: mounted.place + "/there"))
        var options = FileSelection.Options(purpose: .lock)
        let one = try await FileSelection.find([directory.path], options)
        #expect(one.files.map(\.path) == [directory.path("letter")])
        #expect(one.skipped.map(\.isFailure) == [false])
        options.crossesFileSystems = true
        #expect(try await FileSelection.find([directory.path], options).files.count == 2)
    }

    @Test("does not follow a folder that was replaced by a link meanwhile")
    func exchanged() async throws {
        let outside = try TemporaryDirectory()
        try outside.write("not mine", to: "letter")
        try directory.write("words", to: "folder/letter")
        let selection = try await FileSelection.find([directory.path("folder")], .init(purpose: .lock))
        #expect(rename(directory.path("folder"), directory.path("moved")) == 0)
        #expect(symlink(outside.path, directory.path("folder")) == 0)
        let file = try #require(selection.files.first)
        #expect(await refusal { _ = try await FileLocker(sealing: vault).lock(file) }.contains("changed meanwhile"))
        #expect(outside.names == ["letter"])
    }

    @Test("removes what a killed run left, but not what a running one writes")
    func sweeps() async throws {
        let dead = directory.path(".applocker-\(String(repeating: "0", count: 32)).tmp")
        let alive = directory.path(".applocker-\(String(repeating: "1", count: 32)).tmp")
        let other = directory.path(".applocker-notes.tmp")
        for path in [dead, alive, other] { try Data("x".utf8).write(to: URL(fileURLWithPath: path)) }
        let file = open(alive, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        #expect(flock(file, LOCK_EX) == 0)
        let path = try directory.write("words", to: "letter")
        try await vault.lock(path)
        #expect(access(dead, F_OK) != 0)
        #expect(access(alive, F_OK) == 0)
        #expect(access(other, F_OK) == 0)
    }
}
