import GateProtocol
import Glibc
import Testing

@testable import LaunchGate

/// Which files the gate adds to the overlay guard. `Tests/Machines/test_overlay.py` shows that the kernel denies them.
@Suite struct OverlayGuardTests {
    private func identity(_ path: String) throws -> FileIdentity {
        try #require(FileIdentity(following: Array(path.utf8)))
    }

    private func setGuarded(_ isGuarded: Bool, sequence: UInt32, _ gate: GateUnderTest) throws {
        gate.send(.setGuarded(1, guarded: isGuarded, sequence: sequence))
        let isApplied: Bool? = try gate.message { if case .applied(_, sequence, _, _) = $0 { true } else { nil } }
        #expect(isApplied == true)
    }

    private func unguardedFiles(_ gate: GateUnderTest) throws -> UInt32? {
        try gate.message { if case .unguarded(_, let count) = $0 { count } else { nil } }
    }

    @Test func `the guard has the files of an app while it is locked`() throws {
        let gate = try GateUnderTest()
        let file = try identity(gate.app)
        #expect(gate.overlayGuard.files.isEmpty)
        try gate.synchronise()
        #expect(gate.overlayGuard.files == [file])
        try setGuarded(false, sequence: 2, gate)
        #expect(gate.overlayGuard.files.isEmpty)
        try setGuarded(true, sequence: 3, gate)
        #expect(gate.overlayGuard.files == [file])
    }

    @Test func `the guard keeps the files when the daemon disconnects`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        gate.disconnect()
        try gate.turn { gate.gate.daemon == nil }
        #expect(gate.overlayGuard.files == [try identity(gate.app)])
    }

    @Test func `the guard has the apps of the last list before a daemon connects`() throws {
        let gate = try GateUnderTest(knowsApp: true)
        #expect(gate.overlayGuard.files == [try identity(gate.app)])
    }

    @Test func `a removed app's files are removed from the guard`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        gate.send(.forgetApp(1, sequence: 2))
        try gate.turn { gate.overlayGuard.files.isEmpty }
    }

    @Test func `a file that can't be added for lack of memory is reported and added later`() throws {
        let gate = try GateUnderTest()
        gate.overlayGuard.refusal = ENOMEM
        try gate.synchronise()
        #expect(try unguardedFiles(gate) == 1)
        gate.overlayGuard.refusal = 0
        #expect(try unguardedFiles(gate) == 0)
        #expect(gate.overlayGuard.files == [try identity(gate.app)])
        #expect(gate.events.marked == [try identity(gate.app)], "launches were held all the time")
    }

    @Test func `a file with a leftover mark is removed with the mark`() throws {
        let process = try LaunchingProcess()
        let gate = try GateUnderTest()
        try gate.synchronise()
        let file = try identity("/bin/true")
        gate.overlayGuard.files.insert(file)
        gate.events.formerlyMarked = [file]
        #expect(try gate.answer(gate.events.add("/bin/true", by: process.handle)) == true)
        #expect(!gate.overlayGuard.files.contains(file))
    }

    @Test func `the gate works without the guard's map`() {
        #expect(PinnedOverlayGuard(path: Array("/nowhere/locked_files".utf8)) == nil)
    }
}
