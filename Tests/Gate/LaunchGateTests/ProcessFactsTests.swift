import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

@testable import LaunchGate

/// Against the real /proc.
@Suite struct ProcessFactsTests {
    @Test func `this process is described correctly`() throws {
        let status = try #require(ProcessFacts.status(getpid()))
        #expect(status.parent == getppid())
        let users = try #require(ProcessFacts.users(getpid()))
        #expect(users.parent == getppid() && users.real == getuid() && users.effective == geteuid())
        #expect(ProcessFacts.executable(getpid()) == FileIdentity(following: Array("/proc/self/exe".utf8)))
        #expect(ProcessFacts.all().contains(getpid()))
        #expect(ProcessFacts.link(getpid(), "cwd") == Array(FileManager.default.currentDirectoryPath.utf8))
    }

    @Test func `a process descriptor yields the same users as its files in proc`() async throws {
        // It belongs to another user if the test runs as root.
        let child = try ChildProcess(
            "/bin/sh", ["-c", geteuid() == 0 ? "exec setpriv --reuid 65534 --clear-groups sleep 60" : "exec sleep 60"])
        await eventually("it runs as its user") { ProcessFacts.status(child.pid)?.name == Array("sleep".utf8) }
        let handle = try #require(ProcessHandle(opening: child.pid))
        let users = try #require(handle.users)
        let files = try #require(ProcessFacts.users(child.pid))
        #expect(users.parent == getpid() && users.parent == files.parent)
        #expect(users.real == files.real && users.effective == files.effective)
    }

    @Test func `a program's name can't be mistaken for other fields`() async throws {
        let directory = try TemporaryDirectory()
        let name = directory.path("x) Z 1 (y")
        try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: name)
        let child = try ChildProcess(name, ["60"])
        await eventually("it has its name") {
            ProcessFacts.status(child.pid)?.name == Array("x) Z 1 (y".utf8)
        }
        #expect(ProcessFacts.status(child.pid)?.parent == getpid())
    }

    @Test func `a process that has ended has no facts`() {
        #expect(ProcessFacts.status(Int32.max) == nil)
        #expect(ProcessFacts.users(Int32.max) == nil)
        #expect(ProcessFacts.executable(Int32.max) == nil)
        #expect(ProcessHandle(opening: Int32.max) == nil)
    }

    @Test func `descendants are covered, unrelated processes and reused process numbers are not`() async throws {
        var admitted = AdmittedProcesses()
        let parent = try ChildProcess("/bin/sh", ["-c", "sleep 60 & echo $!; wait"])
        await eventually("it has a child") { !parent.output.isEmpty }
        let child = try #require(pid_t(parent.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        let start = try #require(ProcessFacts.status(parent.pid)?.start)
        admitted.admit(parent.pid, start: start, app: 1)
        #expect(admitted.covers(parent.pid, app: 1) && admitted.covers(child, app: 1))
        #expect(!admitted.covers(child, app: 2))
        #expect(!admitted.covers(getpid(), app: 1))
        var stale = AdmittedProcesses()
        stale.admit(parent.pid, start: start - 1, app: 1)
        #expect(!stale.covers(parent.pid, app: 1))
        admitted.forget(app: 1)
        #expect(!admitted.covers(parent.pid, app: 1))
    }

    @Test func `ended processes are removed`() {
        var admitted = AdmittedProcesses()
        for number in 0..<10_000 { admitted.admit(Int32.max - Int32(number), start: 1, app: 1) }
        #expect(admitted.count <= 256)
    }
}

@Suite struct BookkeepingTests {
    @Test func `a refusal is new once, until too many others have replaced it`() {
        var denied = DeniedLaunches(capacity: 2)
        let attempts = [1, 1, 2, 3, 3, 1].map {
            DeniedLaunches.Attempt(process: $0, start: 1, file: FileIdentity(device: 1, inode: 1))
        }
        #expect(attempts.map { denied.note($0) } == [true, false, true, true, false, true])
    }

    @Test(arguments: [0, 65_000, 65_526, 70_000, 200_000])
    func `an exec request of any size is split into messages that the protocol allows`(size: Int) throws {
        let execRequest = ExecRequest(
            path: Array("/p".utf8), directory: Array("/d".utf8),
            arguments: [[UInt8](repeating: 65, count: size), []], environment: [Array("A=1".utf8)])
        var joined: [UInt8] = []
        let messages = ExecRequest.messages(for: 5, carrying: execRequest.encoded)
        for (index, message) in messages.enumerated() {
            #expect(message.encoded().count <= GateProtocol.maximumMessageBytes)
            guard case .execRequest(5, let isLast, let part) = message else {
                Issue.record("not an exec request")
                return
            }
            #expect(isLast == (index == messages.count - 1))
            joined += part
        }
        #expect(joined == execRequest.encoded)
        #expect(joined.starts(with: Array("/p\0/d\u{0}2\u{0}".utf8)))
    }

    @Test func `the directories below a private directory are found, links are not followed`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "a/b/file")
        try directory.write("", to: "c/file")
        try FileManager.default.createSymbolicLink(atPath: directory.path("a/link"), withDestinationPath: "/usr")
        let found = FileMarks.directoryAndAllBelow(Array(directory.path.utf8)).directories.map(\.text)
        #expect(Set(found) == Set([directory.path, directory.path("a"), directory.path("a/b"), directory.path("c")]))
    }

    @Test func `directories beyond the limits are counted, so that they can be reported`() throws {
        let deep = try TemporaryDirectory()
        let names = Array(repeating: "d", count: FileMarks.maximumDepth + 1).joined(separator: "/")
        try FileManager.default.createDirectory(atPath: deep.path(names), withIntermediateDirectories: true)
        let tree = FileMarks.directoryAndAllBelow(Array(deep.path.utf8))
        #expect(tree.directories.count == FileMarks.maximumDepth + 1 && tree.omitted == 1)

        let wide = try TemporaryDirectory()
        for number in 0..<FileMarks.maximumDirectories + 2 { mkdir(wide.path("\(number)"), 0o700) }
        let many = FileMarks.directoryAndAllBelow(Array(wide.path.utf8))
        #expect(many.directories.count == FileMarks.maximumDirectories && many.omitted == 3)
        #expect(many.isComplete && tree.isComplete)
    }
}
