import CLinux
import FileLocking
import Foundation
import Glibc
import SealedFormats
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@Suite("Locking a file")
struct LockFileTests {
    let directory: TemporaryDirectory
    let vault = TestVault()

    init() throws { directory = try TemporaryDirectory() }

    @Test(
        "is restored byte for byte, at any size",
        arguments: [0, 1, 65_535, 65_536, 65_537, 200_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
    func roundTrip(size: Int) async throws {
        let original = content(size)
        let path = try directory.write(original, to: "letter")
        for chunkSize in [ContentStream.ChunkSize.kibi64, .mebi1] {
            let locked = try #require(try await vault.lock(path, chunkSize: chunkSize).first)
            #expect(locked.path == path + ".aplk")
            #expect(locked.size == size)
            #expect(directory.names == ["letter.aplk"])
            #expect(try status(locked.path).st_mode & 0o7777 == 0o600)
            let opened = try #require(try await vault.unlock(path).first)
            #expect(opened.path == path)
            #expect(directory.names == ["letter"])
            #expect(try bytes(path) == original)
        }
    }

    @Test("hides the content: no part of it is in the locked file")
    func hides() async throws {
        let words = "The safe is behind the picture. "
        let path = try directory.write(String(repeating: words, count: 10_000), to: "secret")
        try await vault.lock(path)
        let sealed = try bytes(path + ".aplk")
        #expect(sealed.range(of: Data(words.prefix(12).utf8)) == nil)
        #expect(sealed.range(of: Data("secret".utf8)) == nil)
    }

    @Test("keeps permissions, nanoseconds and extended attributes")
    func traits() async throws {
        let path = try directory.write("words", to: "letter", permissions: 0o750)
        #expect(setxattr(path, "user.colour", "blue", 4, 0) == 0)
        #expect(setxattr(path, "user.empty", "", 0, 0) == 0)
        let time = [timespec(tv_sec: 1, tv_nsec: 2), timespec(tv_sec: 1_234_567_890, tv_nsec: 987_654_321)]
        #expect(utimensat(AT_FDCWD, path, time, 0) == 0)
        try await vault.lock(path)
        #expect(getxattr(path + ".aplk", "user.colour", nil, 0) == -1)
        let outcome = try #require(try await vault.unlock(path + ".aplk").first)
        #expect(outcome.notes.isEmpty)
        let after = try status(path)
        #expect(after.st_mode & 0o7777 == 0o750)
        #expect(after.st_mtim.tv_sec == 1_234_567_890 && after.st_mtim.tv_nsec == 987_654_321)
        var value = [UInt8](repeating: 0, count: 16)
        #expect(getxattr(path, "user.colour", &value, 16) == 4)
        #expect(value.prefix(4) == Array("blue".utf8)[...])
        #expect(getxattr(path, "user.empty", nil, 0) == 0)
    }

    @Test("keeps a time before 1970", arguments: [(-1, 0), (-1, 500_000_000), (-1000, 1), (0, 999_999_999)])
    func earlyTime(seconds: Int, nanoseconds: Int) async throws {
        let path = try directory.write("words", to: "old")
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        try await vault.lock(path)
        try await vault.unlock(path)
        let after = try status(path)
        #expect(after.st_mtim.tv_sec == seconds && after.st_mtim.tv_nsec == nanoseconds)
    }

    @Test("keeps the owner, access control list and capabilities where root unlocks", .requires(.root))
    func rootTraits() async throws {
        let path = try directory.write("words", to: "letter", permissions: 0o640)
        // xattr(7) has a list in its binary form: version 2, then tag, permissions and id of each entry.
        let entries: [(UInt16, UInt16, UInt32)] = [
            (1, 6, .max), (2, 4, 12345), (4, 0, .max), (0x10, 4, .max), (0x20, 0, .max),
        ]
        var list = Data([2, 0, 0, 0])
        for (tag, permissions, id) in entries {
            for part in [tag, permissions] { withUnsafeBytes(of: part.littleEndian) { list.append(contentsOf: $0) } }
            withUnsafeBytes(of: id.littleEndian) { list.append(contentsOf: $0) }
        }
        let hasList = list.withUnsafeBytes { setxattr(path, "system.posix_acl_access", $0.baseAddress, $0.count, 0) }
        #expect(hasList == 0)
        #expect(chown(path, 4321, 4322) == 0)
        // VFS_CAP_REVISION_2 with CAP_NET_RAW permitted and effective.
        let capability: [UInt8] = [1, 0, 0, 2, 0, 0x20, 0, 0] + [UInt8](repeating: 0, count: 12)
        #expect(setxattr(path, "security.capability", capability, capability.count, 0) == 0)
        let before = try status(path)
        try await vault.lock(path)
        #expect(try status(path + ".aplk").st_uid == 4321)
        let outcome = try #require(try await vault.unlock(path).first)
        #expect(outcome.notes.isEmpty)
        let after = try status(path)
        #expect(after.st_uid == 4321 && after.st_gid == 4322 && after.st_mode == before.st_mode)
        var value = [UInt8](repeating: 0, count: 256)
        #expect(getxattr(path, "system.posix_acl_access", &value, 256) == list.count)
        #expect(Data(value.prefix(list.count)) == list)
        #expect(getxattr(path, "security.capability", &value, 256) == 20)
        #expect(Array(value.prefix(20)) == capability)
    }

    @Test("restores the holes of a sparse file")
    func sparse() async throws {
        let path = directory.path("sparse")
        let file = open(path, O_RDWR | O_CREAT, 0o600)
        defer { close(file) }
        #expect(ftruncate(file, 24 << 20) == 0)
        #expect(pwrite(file, "middle", 6, 9 << 20) == 6)
        #expect(pwrite(file, "near", 4, (9 << 20) + 100_000) == 4)
        close(file)
        let before = try bytes(path)
        try await vault.lock(path)
        try await vault.unlock(path)
        #expect(try bytes(path) == before)
        #expect(try status(path).st_blocks * 512 < 512 << 10)
    }

    @Test("keeps the original on request, and a second run removes it")
    func keeps() async throws {
        let path = try directory.write("words", to: "letter")
        try await vault.lock(path, keeping: true)
        #expect(directory.names == ["letter", "letter.aplk"])
        try await vault.unlock(path + ".aplk", keeping: true)
        #expect(directory.names == ["letter", "letter.aplk"])
        try await vault.lock(path)
        #expect(directory.names == ["letter.aplk"])
        try await vault.unlock(path, keeping: true)
        try await vault.unlock(path)
        #expect(directory.names == ["letter"])
    }

    @Test("never replaces another file")
    func neverReplaces() async throws {
        let path = try directory.write("words", to: "letter")
        try directory.write("something else", to: "letter.aplk")
        #expect(await refusal { try await vault.lock(path) }.contains("exists already and is not the same file"))
        #expect(try bytes(path) == Data("words".utf8))
        #expect(try bytes(path + ".aplk") == Data("something else".utf8))

        let other = try directory.write("more words", to: "other")
        try await vault.lock(other)
        try directory.write("MORE words", to: "other")
        let sealed = try bytes(other + ".aplk")
        #expect(await refusal { try await vault.unlock(other) }.contains("exists already and is not the same file"))
        #expect(await refusal { try await vault.lock(other) }.contains("exists already and is not the same file"))
        #expect(try bytes(other) == Data("MORE words".utf8))
        #expect(try bytes(other + ".aplk") == sealed)
    }

    @Test("notices that the file changed while it was being sealed")
    func changedMeanwhile() async throws {
        let path = try directory.write(content(4 << 20), to: "letter")
        let sentence = await refusal {
            try await vault.lock(path, chunkSize: .kibi64) { step, done, total in
                guard step == .verifying, done == total else { return }
                let file = open(path, O_WRONLY | O_CLOEXEC)
                pwrite(file, "x", 1, 0)
                close(file)
            }
        }
        #expect(sentence.contains("was changed meanwhile"))
        #expect(directory.names == ["letter"])
        #expect(try bytes(path).first == UInt8(ascii: "x"))
    }

    @Test("notices that the sealed copy does not read back as it was written")
    func verifies() async throws {
        let path = try directory.write(content(4 << 20), to: "letter")
        let folder = directory.path
        let sentence = await refusal {
            try await vault.lock(path, chunkSize: .kibi64) { step, done, total in
                guard step == .sealing, done == total else { return }
                // Simulates a failing disk.
                let name = (try? FileManager.default.contentsOfDirectory(atPath: folder))?
                    .first { $0.hasPrefix(".applocker-") }
                let file = open(folder + "/" + (name ?? ""), O_WRONLY | O_CLOEXEC)
                pwrite(file, "other bytes", 11, 2 << 20)
                close(file)
            }
        }
        #expect(sentence.contains("damaged at chunk") || sentence.contains("differs from what was written"))
        #expect(directory.names == ["letter"])
    }

    @Test("can be cancelled, and leaves everything as it was")
    func cancelled() async throws {
        let path = try directory.write(content(16 << 20), to: "letter")
        for purpose in [FileLocker.Step.sealing, .verifying, .opening] {
            if purpose == .opening { try await vault.lock(path) }
            let before = directory.names
            let task = Mutex<Task<Void, any Error>?>(nil)
            let reached = AsyncStream<Void>.makeStream()
            let work = Task {
                for await _ in reached.stream { break }
                let cancel: FileLocker.Progress = { step, done, total in
                    if step == purpose, done > total / 4 { task.withLock { $0?.cancel() } }
                }
                if purpose == .opening {
                    try await vault.unlock(path, progress: cancel)
                } else {
                    try await vault.lock(path, progress: cancel)
                }
            }
            task.withLock { $0 = work }
            reached.continuation.yield()
            await #expect(throws: CancellationError.self) { try await work.value }
            #expect(directory.names == before)
        }
        try await vault.unlock(path)
        #expect(try bytes(path) == content(16 << 20))
    }

    @Test("reports its progress")
    func progress() async throws {
        let path = try directory.write(content(300_000), to: "letter")
        let seen = Mutex<[String]>([])
        try await vault.lock(path, chunkSize: .kibi256) { step, done, total in
            seen.withLock { $0.append("\(step) \(done)/\(total)") }
        }
        #expect(
            seen.withLock { $0 } == [
                "sealing 0/300000", "sealing 262144/300000", "sealing 300000/300000", "verifying 262144/300000",
                "verifying 300000/300000",
            ])
    }

    @Test("can't be opened by another vault")
    func otherVault() async throws {
        let path = try directory.write("words", to: "letter")
        try await vault.lock(path)
        let sentence = await refusal { try await TestVault().unlock(path) }
        #expect(sentence.contains("another name or key"))
        #expect(directory.names == ["letter.aplk"])
    }

    @Test("opens what the earlier AppLocker locked, with the passcode it was locked with")
    func earlier() async throws {
        let fixture = try #require(Data(base64Encoded: Self.earlierFile))
        let path = try directory.write(fixture, to: "diary.txt.aplk")
        var other = vault
        other.passcode = "hunter3"
        #expect(await refusal { try await other.unlock(path) }.contains("Wrong passcode"))
        #expect(try bytes(path) == fixture)
        #expect(directory.names == ["diary.txt.aplk"])
        try await vault.unlock(path)
        #expect(directory.names == ["diary.txt"])
        #expect(try String(decoding: bytes(directory.path("diary.txt")), as: UTF8.self) == "Dear diary, version one.\n")
    }

    /// Made by an independent program (Python's `cryptography`): "APLK", 1, salt, AES-256-GCM, key by HKDF-SHA256 of
    /// "hunter2" with info "filelockr".
    private static let earlierFile = """
        QVBMSwEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eH2RlZmdoaWprbG1ub8bHooW9BuXMeudk\
        zX3ePjg/Gv9lLMxLaMfW0SRLnua2yhhwcmo27BS6
        """
}
