import CLinux
import GateProtocol
import Glibc
import Testing

@testable import LaunchGate

/// The gate's loop with simulated permission events: what it answers itself, and what it asks the daemon.
/// Tests/Privileged shows that the kernel obeys the answers.
@Suite struct GateLoopTests {
    private let process: LaunchingProcess

    init() throws { process = try LaunchingProcess() }

    @Test(arguments: [true, false]) func `a launch is held until the daemon answers`(allow: Bool) throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        let launch = gate.events.add(gate.app, by: process.handle)
        let question = try gate.question()
        #expect(question.process == process.number && question.user == getuid() && !question.deniedAtOnce)
        #expect(question.path == Array(gate.app.utf8))
        #expect(gate.events.answers.isEmpty, "held")
        gate.send(.answer(question.launch, allow: allow))
        #expect(try gate.answer(launch) == allow)
    }

    @Test func `the files of an app are marked when the daemon sends it`() throws {
        let gate = try GateUnderTest()
        let file = try #require(FileIdentity(following: Array(gate.app.utf8)))
        #expect(gate.events.marked.isEmpty)
        try gate.synchronise()
        #expect(gate.events.marked.contains(file))
    }

    @Test func `an answer to a launch that has ended changes nothing`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise(milliseconds: 1)
        let launch = gate.events.add(gate.app, by: process.handle)
        let question = try gate.question()
        #expect(try gate.answer(launch) == false, "its time limit has passed")
        #expect(try gate.ended() == .timedOut)
        gate.send(.answer(question.launch, allow: true))
        let next = gate.events.add(gate.app, by: process.handle)
        #expect(try gate.question().launch != question.launch, "asked again: the process was not admitted")
        #expect(try gate.answer(next) == false)
        #expect(gate.events.answers[launch] == false)
    }

    @Test func `a launch whose process is killed ends`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        let launch = gate.events.add(gate.app, by: process.handle)
        _ = try gate.question()
        process.kill()
        #expect(try gate.ended() == .processGone)
        #expect(gate.events.answers[launch] == false)
    }

    @Test func `held launches are denied when the daemon disconnects, and the app stays locked`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        let held = gate.events.add(gate.app, by: process.handle)
        _ = try gate.question()
        gate.disconnect()
        #expect(try gate.answer(held) == false)
        #expect(try gate.answer(gate.events.add(gate.app, by: process.handle)) == false)
        try gate.synchronise()
        _ = gate.events.add(gate.app, by: process.handle)
        #expect(try gate.question().process == process.number, "the next daemon receives the question")
    }

    @Test func `apps of the last daemon's list are denied until a daemon has sent its list`() throws {
        let gate = try GateUnderTest(knowsApp: true)
        #expect(gate.events.marked.count == 1)
        #expect(try gate.answer(gate.events.add(gate.app, by: process.handle)) == false)
        try gate.connect()
        #expect(try gate.answer(gate.events.add(gate.app, by: process.handle)) == false, "its list may still arrive")
        try gate.synchronise()
        _ = gate.events.add(gate.app, by: process.handle)
        #expect(try gate.question().process == process.number)
    }

    @Test func `an event of an earlier gate's mark is allowed, and an unexplained one is denied`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        let file = try #require(FileIdentity(following: Array("/bin/true".utf8)))
        #expect(try gate.answer(gate.events.add("/bin/true", by: process.handle)) == false)
        gate.events.formerlyMarked = [file]
        #expect(try gate.answer(gate.events.add("/bin/true", by: process.handle)) == true)
        #expect(gate.events.formerlyMarked.isEmpty, "the mark is removed")
    }

    @Test func `a launch over a user's limit is denied and reported`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise(waitingPerUser: 2)
        let processes = try (0..<3).map { _ in try LaunchingProcess() }
        let launches = processes.map { gate.events.add(gate.app, by: $0.handle) }
        #expect(try gate.ended() == .tooManyWaiting)
        #expect(launches.map { gate.events.answers[$0] } == [nil, nil, false])
        let question = try gate.question()
        gate.send(.answer(question.launch, allow: false))
        #expect(try gate.answer(launches[0]) == false)
        _ = gate.events.add(gate.app, by: process.handle)
        #expect(try [gate.question(), gate.question()].map(\.process) == [processes[1].number, process.number])
    }

    @Test func `an invalid message ends the connection and denies its held launches`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        let held = gate.events.add(gate.app, by: process.handle)
        _ = try gate.question()
        gate.send([255, 1, 2, 3])
        #expect(try gate.answer(held) == false)
        try gate.synchronise()
        _ = gate.events.add(gate.app, by: process.handle)
        _ = try gate.question()
    }

    @Test func `a launch by the desktop is denied at once and its exec request is sent`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        gate.send(.protect(pid: process.number))
        let launch = gate.events.add(gate.app, by: process.handle)
        let question = try gate.question()
        #expect(question.deniedAtOnce && gate.events.answers[launch] == false)
        let carried = try gate.message { message -> LaunchToken? in
            if case .execRequest(let launch, isLast: true, _) = message { launch } else { nil }
        }
        #expect(carried == question.launch)
    }

    @Test func `while nobody can be asked a launch is denied at once and reported`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        let ordinary = try LaunchingProcess(asOrdinaryUser: true)
        gate.send(.protect(pid: ordinary.number))
        gate.send(.denyWithoutAsking(.allButRoot))
        try gate.waitUntilRead()
        let launch = gate.events.add(gate.app, by: ordinary.handle)
        #expect(try gate.answer(launch) == false)
        let report = try gate.denied()
        #expect(report.process == ordinary.number && report.deniedAtOnce && report.path == Array(gate.app.utf8))
        #expect(report.user == ProcessFacts.users(ordinary.number)?.real)
        if getuid() == 0 {
            _ = gate.events.add(gate.app, by: process.handle)
            #expect(try gate.question().process == process.number, "root's launch may be exempt")
        }
        gate.send(.denyWithoutAsking(.none))
        try gate.waitUntilRead()
        let later = gate.events.add(gate.app, by: ordinary.handle)
        #expect(try gate.question().process == ordinary.number)
        #expect(try gate.answer(later) == false, "the desktop")
    }

    @Test func `a new daemon is asked, although the last one could ask nobody`() throws {
        let gate = try GateUnderTest()
        let ordinary = try LaunchingProcess(asOrdinaryUser: true)
        try gate.synchronise()
        gate.send(.denyWithoutAsking(.all))
        gate.disconnect()
        try gate.synchronise()
        _ = gate.events.add(gate.app, by: ordinary.handle)
        #expect(try gate.question().process == ordinary.number)
    }

    @Test func `a launch of an ended process is denied, and the next one causes a question`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        let gone = try LaunchingProcess()
        gone.kill()
        let launches = [gone, process].map { gate.events.add(gate.app, by: $0.handle) }
        #expect(try gate.question().process == process.number)
        #expect(launches.map { gate.events.answers[$0] } == [false, nil])
    }

    @Test func `an app that is no longer guarded starts without a prompt`() throws {
        let gate = try GateUnderTest()
        try gate.synchronise()
        gate.send(.setGuarded(1, guarded: false, sequence: 2))
        let marks = try gate.message { message -> UInt32? in
            if case .applied(1, sequence: 2, let marks, _) = message { marks } else { nil }
        }
        #expect(marks == 0)
        // An event that was already queued.
        #expect(try gate.answer(gate.events.add(gate.app, by: process.handle)) == true)
    }

    @Test func `a gate that is told to stop denies launches as long as a process could start an app`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(clinux_pipe(&ends) == 0 && write(ends[1], "+", 1) == 1)
        defer { close(ends[1]) }
        var (looks, launch): (Int, Int?) = (0, nil)
        // Weak, because the gate keeps the closure.
        weak var tested: GateUnderTest?
        let gate = try GateUnderTest(knowsApp: true, signals: Descriptor(ends[0])) { [process] in
            guard let tested else { return false }
            looks += 1
            if launch == nil { launch = tested.events.add(tested.app, by: process.handle) }
            return looks < 100 && launch.flatMap { tested.events.answers[$0] } == nil
        }
        tested = gate
        try gate.gate.run()
        #expect(launch.flatMap { gate.events.answers[$0] } == false)
        #expect(looks > 1 && looks < 100, "it stopped before it answered")
    }

    @Test func `only a living process of an ordinary user could still start an app at a shutdown`() throws {
        let ordinary = try LaunchingProcess(asOrdinaryUser: true)
        #expect(FinalKill.isOfOrdinaryUser(ordinary.number))
        #expect(FinalKill.isOfOrdinaryUser(process.number) == (getuid() != 0))
        ordinary.handle.signal(SIGKILL)
        try #require(waitid(P_PID, id_t(ordinary.number), nil, WEXITED | WNOWAIT) == 0)
        #expect(!FinalKill.isOfOrdinaryUser(ordinary.number), "it has ended, and nobody has waited for it")
        #expect(!FinalKill.isNeeded(), "this computer is not shutting down")
    }
}
