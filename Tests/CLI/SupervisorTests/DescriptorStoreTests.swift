import CLinux
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@testable import Supervisor

@Suite("The descriptor store")
struct DescriptorStoreTests {
    private let directory: TemporaryDirectory
    private let log = ReportLog()
    private let store: FanotifyDescriptorStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try FanotifyDescriptorStore(socketPath: directory.path("notify.sock"), report: log.report)
    }

    private func send(_ text: String, _ descriptors: [Int32] = []) -> Int32 {
        clinux_notify_send(store.socketPath, text, descriptors, descriptors.count)
    }

    /// Sends BARRIER=1 and returns when the store has processed everything before it.
    private func passBarrier() {
        var ends: [Int32] = [-1, -1]
        #expect(clinux_pipe(&ends) == 0)
        #expect(send("BARRIER=1", [ends[1]]) == 0)
        close(ends[1])
        var waiting = pollfd(fd: ends[0], events: 0, revents: 0)
        #expect(poll(&waiting, 1, 60_000) == 1)
        #expect(waiting.revents & Int16(POLLHUP) != 0)
        close(ends[0])
    }

    private func makeDescriptor() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }

    private func acceptThisProcess() throws {
        _ = try store.start { (_) throws(SupervisorError) in getpid() }
    }

    @Test func aBarrierIsReleasedOnlyAfterEverythingBeforeIt() throws {
        try acceptThisProcess()
        for round in 1...10 {
            let descriptor = makeDescriptor()
            #expect(send("FDSTORE=1\nFDNAME=n\(round)", [descriptor]) == 0)
            close(descriptor)
            passBarrier()
            #expect(store.stored.map(\.name) == (1...round).map { "n\($0)" })
        }
        store.close()
    }

    @Test func keepsADescriptorOpenAfterItsOwnerClosedIt() throws {
        try acceptThisProcess()
        var ends: [Int32] = [-1, -1]
        #expect(clinux_pipe(&ends) == 0)
        #expect(send("FDSTORE=1", [ends[1]]) == 0)
        passBarrier()
        close(ends[1])
        var waiting = pollfd(fd: ends[0], events: 0, revents: 0)
        // A pipe reports at once that its last writer has closed.
        #expect(poll(&waiting, 1, 0) == 0)
        store.close()
        #expect(poll(&waiting, 1, 60_000) == 1)
        close(ends[0])
    }

    @Test func theSameOpenFileIsKeptOnce() throws {
        try acceptThisProcess()
        let descriptor = makeDescriptor()
        for _ in 0..<40 { #expect(send("FDSTORE=1\nFDNAME=fanotify", [descriptor]) == 0) }
        let other = makeDescriptor()
        #expect(send("FDSTORE=1\nFDNAME=fanotify", [other]) == 0)
        passBarrier()
        #expect(store.stored.count == 2)
        close(descriptor)
        close(other)
        store.close()
    }

    @Test func moreThanItsCapacityIsRefusedAndReported() throws {
        try acceptThisProcess()
        for _ in 0...FanotifyDescriptorStore.capacity {
            let descriptor = makeDescriptor()
            #expect(send("FDSTORE=1", [descriptor]) == 0)
            close(descriptor)
        }
        passBarrier()
        #expect(store.stored.count == FanotifyDescriptorStore.capacity)
        #expect(log.lines.count == 1)
        store.close()
    }

    @Test func removesTheNamedDescriptor() throws {
        try acceptThisProcess()
        let descriptor = makeDescriptor()
        #expect(send("FDSTORE=1\nFDNAME=a", [descriptor]) == 0)
        #expect(send("FDSTORE=1\nFDNAME=b", [descriptor]) == 0)
        #expect(send("FDSTOREREMOVE=1\nFDNAME=a") == 0)
        passBarrier()
        #expect(store.stored.map(\.name) == ["b"])
        close(descriptor)
        store.close()
    }

    @Test func readinessStatusAndWatchdogSignalsBelongToTheRunningChild() throws {
        try acceptThisProcess()
        #expect(send("READY=1\nSTATUS=well\nWATCHDOG=1") == 0)
        passBarrier()
        #expect(store.isReady && store.status == "well" && store.silence != nil)
        try acceptThisProcess()
        #expect(!store.isReady && store.status == nil && store.silence == nil)
        store.close()
    }

    @Test func malformedNotificationsAreRefusedAndLeakNothing() async throws {
        try acceptThisProcess()
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        let descriptor = makeDescriptor()
        for _ in 0..<200 { #expect(send("FDSTORE=1\nFDNAME=a:b", [descriptor, descriptor]) == 0) }
        #expect(send(String(repeating: "x", count: 9000), [descriptor]) == 0)
        #expect(send("hello", [descriptor]) == 0)
        passBarrier()
        close(descriptor)
        #expect(store.stored.isEmpty)
        #expect(log.lines.count == 201)
        // Other suites of this process open descriptors too: hundreds would be the leak.
        await eventually("few more descriptors are open than the \(before) before") {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 150
        }
        store.close()
    }

    @Test func anotherProcessIsRefused() async throws {
        _ = try store.start { (_) throws(SupervisorError) in 1 }  // another process is the gate
        let descriptor = makeDescriptor()
        #expect(send("FDSTORE=1\nFDNAME=fanotify", [descriptor]) == 0)
        #expect(send("READY=1") == 0)
        await eventually("both are refused: \(log.lines)") { log.lines.count == 2 }
        close(descriptor)
        #expect(store.stored.isEmpty && !store.isReady)
        #expect(log.lines.allSatisfy { $0.hasPrefix("Process \(getpid()) of user \(geteuid()) ") })
        store.close()
    }

    @Test(.requires(.root, .program("/usr/bin/python3"))) func anotherUserCannotEvenSend() async throws {
        chmod(directory.path, 0o755)
        let sender =
            "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'READY=1', '\(store.socketPath)')"
        let result = try await ChildProcess.run("/usr/bin/python3", ["-c", sender], user: 65534)
        #expect(result.errorOutput.contains("PermissionError"))
        store.close()
    }

    @Test func storesWhatAChildSentJustBeforeItEnded() async throws {
        // Each child leaves one more descriptor and ends at once; the next must inherit all of them, in order.
        let script = try directory.write(Self.dyingChild, to: "child")
        let found = directory.path("found")
        let launch: @Sendable () throws(SupervisorError) -> pid_t = { [store] () throws(SupervisorError) -> pid_t in
            try store.start { (stored) throws(SupervisorError) in
                try ChildLaunch(
                    executable: "/usr/bin/python3", arguments: [script, found],
                    environment: ["NOTIFY_SOCKET": store.socketPath],
                    standardDescriptors: [NullDevice.descriptor, STDERR_FILENO, STDERR_FILENO], handedOver: stored
                ).start()
            }
        }
        let process = SupervisedProcess(
            .init(name: "child", policy: .gate, launch: launch, ended: { [store] in store.childEnded() }),
            report: log.report)
        await eventually("twelve children: \(log.lines)") { try lines(of: found).count > 12 }
        await process.stop()
        let names = (1...12).map { "life\($0)" }
        for (life, line) in try lines(of: found).prefix(12).enumerated() {
            #expect(line == (["pid"] + names.prefix(life)).joined(separator: " "))
        }
        store.close()
    }

    private func lines(of path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static let dyingChild = """
        import os, signal, socket, sys
        names = [n for n in os.environ.get("LISTEN_FDNAMES", "").split(":") if n]
        assert len(names) == int(os.environ.get("LISTEN_FDS", "0"))
        for number, name in enumerate(names):
            assert os.pread(3 + number, 64, 0).decode() == name, "descriptor %d is not %s" % (3 + number, name)
        own = "LISTEN_PID" not in os.environ or os.environ["LISTEN_PID"] == str(os.getpid())
        with open(sys.argv[1], "a") as log:
            log.write(" ".join(["pid" if own else "WRONG"] + names) + "\\n")
        name = "life%d" % (len(names) + 1)
        content = os.memfd_create(name)
        os.write(content, name.encode())
        out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        out.connect(os.environ["NOTIFY_SOCKET"])
        socket.send_fds(out, [("FDSTORE=1\\nFDNAME=" + name).encode()], [content])
        os.kill(os.getpid(), signal.SIGKILL)
        """
}
