import GateProtocol
import Glibc
import Testing

@testable import LaunchGate

/// fs.inotify.max_user_watches is used up: the gate can't see that a package manager replaces a file.
@Suite struct WatchLimitTests {
    private func unguarded(_ gate: GateUnderTest) throws -> UInt32? {
        try gate.message { if case .unguarded(1, let count) = $0 { count } else { nil } }
    }

    @Test func `an app that can't be watched is reported, and looked at again each minute`() throws {
        var isUsedUp = true
        let gate = try GateUnderTest(addWatch: { isUsedUp ? -ENOSPC : FileWatch.add($0, $1, $2) })
        try gate.synchronise()
        #expect(try unguarded(gate).map { $0 > 0 } == true)
        let new = gate.directory + "/new"
        let file = open(new, O_WRONLY | O_CREAT | O_CLOEXEC, 0o755)
        try #require(file >= 0 && write(file, "#!/bin/true\n", 12) == 12)
        close(file)
        try #require(rename(new, gate.app) == 0)
        let identity = try #require(FileIdentity(following: Array(gate.app.utf8)))
        #expect(!gate.events.marked.contains(identity))
        gate.gate.followLinks()
        #expect(gate.events.marked.contains(identity))
        isUsedUp = false
        gate.gate.followLinks()
        #expect(try unguarded(gate) == 0)
    }

    @Test func `a directory that does not exist is not missing a watch`() throws {
        let watch = try FileWatch()
        let app = GuardedApp(key: 1, token: 1, paths: [.init(kind: .executable, bytes: Array("/no/such/app".utf8))])
        #expect(watch.watch(app).missing == 0)
        #expect(!watch.watch(app).isNew)
    }
}
