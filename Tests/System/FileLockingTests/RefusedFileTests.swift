import FileLocking
import Foundation
import Glibc
import SealedFormats
import SystemTestSupport
import TestSupport
import Testing

@Suite("A file that can't be locked is refused and left unchanged")
struct RefusedFileTests {
    let directory: TemporaryDirectory
    let vault = TestVault()

    init() throws { directory = try TemporaryDirectory() }

    @Test("symbolic links")
    func symbolicLink() async throws {
        let path = try directory.write("words", to: "letter")
        let link = directory.path("link")
        #expect(symlink(path, link) == 0)
        #expect(await refusal { try await vault.lock(link) }.contains("is a symbolic link; name the file"))
        try await vault.lock(path)
        #expect(symlink(path + ".aplk", link + ".aplk") == 0)
        #expect(await refusal { try await vault.unlock(link + ".aplk") }.contains("is a symbolic link"))
        #expect(directory.names == ["letter.aplk", "link", "link.aplk"])
    }

    @Test("pipes, sockets and devices")
    func otherKinds() async throws {
        let pipe = directory.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(await refusal { try await vault.lock(pipe) }.contains("is a pipe; only files"))
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = directory.path("socket")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(name.utf8)) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(isBound == 0)
        #expect(await refusal { try await vault.lock(name) }.contains("is a socket; only files"))
        #expect(await refusal { try await vault.lock("/dev/null") }.contains("is a device; only files"))
        #expect(directory.names == ["pipe", "socket"])
    }

    @Test("a file with a second hard link, which would stay unsealed")
    func hardLink() async throws {
        let path = try directory.write("words", to: "letter")
        #expect(Glibc.link(path, directory.path("second")) == 0)
        #expect(await refusal { try await vault.lock(path) }.contains("has 2 names (hard links)"))
        #expect(directory.names == ["letter", "second"])
    }

    @Test("a file that a program has open for writing")
    func beingWritten() async throws {
        let path = try directory.write("words", to: "letter")
        let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        #expect(await refusal { try await vault.lock(path) }.contains("has \(path) open for writing"))
        close(file)
        let reader = open(path, O_RDONLY | O_CLOEXEC)
        try await vault.lock(path)
        close(reader)
    }

    @Test("a file that begins to be written while it is sealed")
    func writtenMeanwhile() async throws {
        let path = try directory.write("words", to: "letter")
        let file = OpenedLater()
        let sentence = await refusal {
            try await vault.lock(path) { step, _, _ in if step == .verifying { file.open(path) } }
        }
        #expect(sentence.contains("open for writing"))
        #expect(directory.names == ["letter"])
    }

    @Test("an unchangeable file", .requires(.root))
    func immutable() async throws {
        let path = try directory.write("words", to: "letter")
        let mark = try ChildProcess("chattr", ["+i", path])
        guard try await mark.wait() == .code(0) else { return #expect(Bool(false), "chattr: \(mark.errorOutput)") }
        let sentence = await refusal { try await vault.lock(path) }
        try await ChildProcess("chattr", ["-i", path]).wait()
        #expect(sentence.contains("is immutable"))
        #expect(directory.names == ["letter"])
    }

    @Test("a missing file, one that is locked already, one that is not locked")
    func wrongNames() async throws {
        let path = try directory.write("words", to: "letter")
        #expect(await refusal { try await vault.lock(path + "x") } == "\(path)x does not exist.")
        #expect(await refusal { try await vault.unlock(path) }.contains("is not a locked file"))
        #expect(await refusal { try await vault.lock("") }.contains("The path is empty"))
        let noise = try directory.write("APLKnoise", to: "noise.aplk")
        #expect(await refusal { try await vault.unlock(noise) }.contains("version 110"))
        let empty = try directory.write("", to: "empty.aplk")
        #expect(await refusal { try await vault.unlock(empty) }.contains("is truncated or invalid"))
        #expect(await refusal { try await vault.lock(noise) }.contains("is locked already"))
    }

    @Test("folders of the system", arguments: ["/", "/usr", "/etc/", "/usr/../home"])
    func systemFolders(path: String) async throws {
        #expect(await refusal { try await vault.lock(path) }.contains("this computer needs"))
    }

    @Test("a read-only folder", .requires(.root))
    func readOnly() async throws {
        let mounted = try Mounted(in: directory, "size=1m")
        let path = mounted.place + "/letter"
        try Data("words".utf8).write(to: URL(fileURLWithPath: path))
        #expect(mount(nil, mounted.place, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
        #expect(await refusal { try await vault.lock(path) }.contains("can only be read"))
        #expect(try bytes(path) == Data("words".utf8))
    }

    @Test("another user's folder", .requires(.root))
    func notAllowed() async throws {
        chmod(directory.path, 0o755)
        let path = try directory.write("words", to: "letter", permissions: 0o644)
        let program = try BuiltProducts.directoryForEverybody(["seal-speed"], copies: try TemporaryDirectory())
        let child = try ChildProcess(
            program.appendingPathComponent("seal-speed").path, ["lock", String(repeating: "ab", count: 48), path],
            user: 65534)
        #expect(try await child.wait() == .code(1))
        #expect(child.errorOutput.contains("this user may not open it"))
        #expect(directory.names == ["letter"])
    }

    @Test("more content than the disk has space for: nothing is lost, no temporary file is left", .requires(.root))
    func fullDisk() async throws {
        let mounted = try Mounted(in: directory, "size=3m")
        let path = mounted.place + "/letter"
        let original = content(2 << 20)
        try original.write(to: URL(fileURLWithPath: path))
        #expect(await refusal { try await vault.lock(path) }.contains("free some first"))
        #expect(mounted.names == ["letter"])
        #expect(try bytes(path) == original)
    }

    @Test("other writes during locking don't use the space of the sealed copy", .requires(.root))
    func diskFillsWhileLocking() async throws {
        let mounted = try Mounted(in: directory, "size=3m")
        let path = mounted.place + "/letter"
        let filler = mounted.place + "/filler"
        let original = content(1 << 20)
        try original.write(to: URL(fileURLWithPath: path))
        try await vault.lock(path, chunkSize: .kibi64) { _, _, _ in
            let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            let ones = [UInt8](repeating: 1, count: 4096)
            while write(descriptor, ones, ones.count) > 0 {}
            close(descriptor)
        }
        #expect(mounted.names == ["filler", "letter.aplk"])
        #expect(try bytes(filler).count > 512 << 10, "the disk was not filled")
        // The space of a removed file is freed with its last descriptor, and a child of another test may hold one.
        #expect(truncate(filler, 0) == 0)
        #expect(unlink(filler) == 0)
        try await vault.unlock(path)
        #expect(try bytes(path) == original)
    }

    @Test("a disk that is too full to unlock on", .requires(.root))
    func diskTooFullToUnlock() async throws {
        let mounted = try Mounted(in: directory, "size=3m")
        let path = mounted.place + "/letter"
        try content(1 << 20).write(to: URL(fileURLWithPath: path))
        try await vault.lock(path)
        let sealed = try bytes(path + ".aplk")
        let filler = Data(repeating: 1, count: (3 << 20) - sealed.count - 300_000)
        // The kernel frees the pages of a removed file with a delay.
        await eventually("there is space for it") {
            try filler.write(to: URL(fileURLWithPath: mounted.place + "/filler"))
            return true
        }
        #expect(await refusal { try await vault.unlock(path) }.contains("the disk has no space"))
        #expect(mounted.names == ["filler", "letter.aplk"])
        #expect(try bytes(path + ".aplk") == sealed)
    }
}

/// A file that is opened for writing once and stays open until the value is released.
private final class OpenedLater: @unchecked Sendable {
    private var descriptor: Int32 = -1

    func open(_ path: String) { if descriptor < 0 { descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC) } }

    deinit { close(descriptor) }
}

/// A tmpfs for one test, unmounted when the value is released.
final class Mounted: Sendable {
    let place: String

    init(in directory: TemporaryDirectory, _ options: String) throws {
        place = directory.path("mounted")
        try #require(mkdir(place, 0o755) == 0)
        try #require(mount("tmpfs", place, "tmpfs", 0, options) == 0)
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).sorted() }

    deinit { umount2(place, Int32(MNT_DETACH)) }
}
