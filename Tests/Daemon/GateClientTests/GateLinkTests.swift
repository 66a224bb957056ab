import ControlAPI
import DaemonCore
import Foundation
import GateProtocol
import Glibc
import Policy
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import GateClient

let firefox = AppID(rawValue: "firefox")!

/// Time is not used: the authorizer's policy is empty.
private struct StandingTime: TimeSource {
    func now() -> Moment {
        Moment(
            boot: BootID(rawValue: "b"), elapsed: .seconds(1), civil: CivilTime(weekday: .monday, secondOfDay: 0))
    }
    func wallClock() -> Double { 0 }
    func sleep(until elapsed: Duration) async throws {}
}

/// The client, the gate at its other end, and the events it delivers.
final class Link {
    let directory: TemporaryDirectory
    let gate: TestGate
    let client: GateClient
    var events: AsyncStream<GateEvent>.AsyncIterator

    init(silence: Duration = .seconds(15), keepsList: Bool = false) throws {
        directory = try TemporaryDirectory()
        gate = try TestGate(directory.path("gate.sock"))
        client = GateClient(
            socketPath: directory.path("gate.sock"), authorizer: LaunchAuthorizer(time: StandingTime()),
            silence: silence,
            knownApps: keepsList
                ? KnownAppsFile(directory.path("known-apps")) { Issue.record("the list was not stored: \($0)") } : nil)
        events = client.events.makeAsyncIterator()
        client.start()
    }

    deinit { client.stop() }

    func next() async -> GateEvent? { await events.next(isolation: nil) }

    /// Exchanges greetings, and sends one app to the gate: "firefox", token 1.
    func connectWithApp() async throws -> TestGate.Connection {
        let connection = try await gate.greet()
        guard case .connected = await next() else { throw POSIXError(.EPROTO) }
        let client = client
        async let setting: Void = client.set(Self.app(["/usr/bin/firefox"]), guarded: true)
        guard try await connection.next() == .beginApp(1),
            try await connection.next() == .appPath(1, .executable, path: Array("/usr/bin/firefox".utf8)),
            case .commitApp(1, true, let sequence) = try await connection.next()
        else { throw POSIXError(.EPROTO) }
        connection.send(.applied(1, sequence: sequence, marks: 1, failures: 0))
        await setting
        guard case .marksMissing(firefox, 0) = await next() else { throw POSIXError(.EPROTO) }
        return connection
    }

    /// Nobody has a prompter, so the gate is configured not to ask. Returns once the client has the gate's answer.
    func synchronise(_ connection: TestGate.Connection) async throws {
        let isDone = Mutex(false)
        let synchronising = Task { [client] in
            let isSynchronised = await client.synchronised([firefox])
            #expect(isSynchronised)
            isDone.withLock { $0 = true }
        }
        guard try await connection.next() == .synchronised,
            try await connection.next() == .denyWithoutAsking(.all),
            case .ping(let number) = try await connection.next()
        else { throw POSIXError(.EPROTO) }
        #expect(!isDone.withLock { $0 }, "until it answers, the gate denies launches without a prompt")
        connection.send(.pong(number))
        await synchronising.value
    }

    /// What a gate that starts now would guard; nil if there is no file.
    func knownApps() throws -> [DaemonMessage]? {
        let path = directory.path("known-apps")
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try KnownApps.decoded([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    }

    static func app(_ executables: [String], directories: [String] = []) -> ResolvedApp {
        ResolvedApp(
            id: firefox, name: "Firefox", icon: nil, kind: "desktop", user: 1, executables: executables,
            privateDirectories: directories, sharedWith: [])
    }

    static func launch(_ number: UInt64, connection: UInt64 = 1) -> HeldLaunch {
        HeldLaunch(
            connection: connection, number: number, app: firefox, process: 7, parent: 6, user: 1_000, loginUser: nil,
            deniedAtOnce: false, path: "/usr/bin/firefox")
    }
}

@Suite struct GateLinkTests {
    private static func question(_ launch: UInt64, app: AppToken = 1, deniedAtOnce: Bool = false) -> GateMessage {
        .launch(
            LaunchQuestion(
                launch: launch, app: app, process: 7, parent: 6, user: 1_000, loginUser: .max,
                deniedAtOnce: deniedAtOnce, path: Array("/usr/bin/firefox".utf8)))
    }

    // MARK: Connecting

    @Test func theGatesModeAndProcessAreReported() async throws {
        let link = try Link()
        _ = try await link.gate.greet()
        guard case .connected(.held(orphansDenied: 0), let process) = await link.next() else {
            Issue.record("not connected")
            return
        }
        #expect(process == getpid())
    }

    @Test func theWeakModeHasItsReason() async throws {
        let link = try Link()
        let connection = try await link.gate.accept()
        _ = try await connection.next()
        connection.send(.hello(version: GateProtocol.version, mode: .watched, orphansDenied: 0, refusal: EPERM))
        guard case .connected(.weak(let reason), _) = await link.next() else {
            Issue.record("not connected")
            return
        }
        #expect(reason.contains("Operation not permitted"))
    }

    @Test func aRestartedGateIsConnectedToAgain() async throws {
        let link = try Link()
        for _ in 0..<3 {
            let connection = try await link.gate.greet()
            guard case .connected = await link.next() else {
                Issue.record("not connected")
                return
            }
            connection.shutDown()
            guard case .disconnected = await link.next() else {
                Issue.record("not disconnected")
                return
            }
        }
    }

    /// A passcode that was typed for one launch would approve another: both gates number them from the beginning.
    @Test func anAnswerReachesNoLaunchOfALaterConnection() async throws {
        let link = try Link()
        try await link.gate.greet().shutDown()
        for _ in 0..<2 { _ = await link.next() }
        let connection = try await link.connectWithApp()
        link.client.answer(Link.launch(1, connection: 1), allow: true)
        link.client.answer(Link.launch(1, connection: 2), allow: false)
        #expect(try await connection.next() == .answer(1, allow: false))
    }

    @Test func aGateThatStartsLaterIsFound() async throws {
        let directory = try TemporaryDirectory()
        let client = GateClient(
            socketPath: directory.path("gate.sock"), authorizer: LaunchAuthorizer(time: StandingTime()))
        client.start()
        defer { client.stop() }
        // Real time is tested: nothing reports a failed attempt, and there is one every 50 ms.
        try await Task.sleep(for: .milliseconds(200))
        let gate = try TestGate(directory.path("gate.sock"))
        _ = try await gate.greet()
        var events = client.events.makeAsyncIterator()
        guard case .connected = await events.next() else {
            Issue.record("not connected")
            return
        }
    }

    @Test(arguments: [
        GateMessage.hello(version: GateProtocol.version + 1, mode: .held, orphansDenied: 0, refusal: 0).encoded(),
        [] as [UInt8], [0], [255, 1, 2], GateMessage.pong(1).encoded() + [0],
        [UInt8](GateMessage.pong(1).encoded().dropLast()),
        [131, 1, 0, 0, 0, 0, 0, 0, 0, 2, 9],
    ])
    func anInvalidMessageEndsTheConnection(_ bytes: [UInt8]) async throws {
        let link = try Link()
        let connection = try await link.gate.accept()
        _ = try await connection.next()
        connection.send(bytes: bytes)
        #expect(try await connection.next() == nil)
        guard case .disconnected = await link.next() else {
            Issue.record("an invalid gate was accepted")
            return
        }
    }

    @Test func aTooLongMessageEndsTheConnection() async throws {
        let link = try Link()
        let connection = try await link.gate.greet()
        _ = await link.next()
        connection.send(
            bytes: [131] + [UInt8](repeating: 0, count: 9)
                + [UInt8](repeating: 65, count: GateProtocol.maximumMessageBytes))
        #expect(try await connection.next() == nil)
    }

    @Test func aSilentGateIsProbedAndThenDisconnected() async throws {
        // Long enough for an answer on a busy machine.
        let link = try Link(silence: .seconds(8))
        let connection = try await link.gate.greet()
        _ = await link.next()
        for number in 0..<2 {
            #expect(try await connection.next() == .ping(0))
            connection.send(.pong(UInt64(number)))
        }
        let change = Task { [client = link.client] in await client.set(Link.app([]), guarded: true) }
        while let message = try await connection.next() {
            #expect(
                [.ping(0), .beginApp(1), .commitApp(1, guarded: true, sequence: 1)].contains(message),
                "nothing else is sent")
        }
        await change.value
        guard case .disconnected = await link.next() else {
            Issue.record("the gate was not disconnected")
            return
        }
    }

    @Test(.requires(.root, .program("perl"))) func aListenerOfAnotherUserIsNotTheGate() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("gate.sock")
        chmod(directory.path, 0o777)
        let program = """
            use Socket; $| = 1; socket(S, AF_UNIX, SOCK_SEQPACKET, 0) && bind(S, sockaddr_un($ARGV[0])) && listen(S, 5)
                or die $!;
            print "listening\\n"; while (accept(C, S)) { my $got = sysread(C, my $bytes, 9); print "got $got\\n"; }
            """
        let impostor = try ChildProcess("perl", ["-e", program, path], user: 65_534)
        await eventually("it listens: \(impostor.errorOutput)") { impostor.output.contains("listening") }
        #expect(throws: GateConnection.Failure.self) { _ = try GateConnection(path: path, silence: .seconds(1)) }
        let client = GateClient(socketPath: path, authorizer: LaunchAuthorizer(time: StandingTime()))
        client.start()
        await eventually("the daemon has connected") { impostor.output.contains("got") }
        client.stop()
        #expect(!impostor.output.contains("got 3"), "no greeting is sent to it")
    }

    // MARK: Changes

    @Test func aChangeReturnsWhenTheGateHasAppliedIt() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        let isDone = Mutex(false)
        let change = Task { [client = link.client] in
            await client.setGuarded(firefox, false)
            isDone.withLock { $0 = true }
        }
        guard case .setGuarded(1, false, let sequence) = try await connection.next() else {
            Issue.record("no change")
            return
        }
        let isOtherDone = Mutex(false)
        Task { [client = link.client] in
            await client.setGuarded(firefox, true)
            isOtherDone.withLock { $0 = true }
        }
        guard case .setGuarded(1, true, let otherSequence) = try await connection.next() else {
            Issue.record("no other change")
            return
        }
        connection.send(.applied(1, sequence: otherSequence, marks: 0, failures: 0))
        guard case .marksMissing = await link.next() else {
            Issue.record("no message of the other change")
            return
        }
        await eventually("the other change is done") { isOtherDone.withLock { $0 } }
        connection.send(.filesChanged(1))
        guard case .filesChanged = await link.next() else {
            Issue.record("no message of the files")
            return
        }
        #expect(!isDone.withLock { $0 }, "another change's confirmation is not this one's")
        connection.send(.applied(1, sequence: sequence, marks: 0, failures: 2))
        await change.value
        guard case .marksMissing(firefox, 2) = await link.next() else {
            Issue.record("missing marks were not reported")
            return
        }
    }

    @Test func aWaitForADisconnectedGateEnds() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        let change = Task { [client = link.client] in await client.setGuarded(firefox, false) }
        _ = try await connection.next()
        connection.shutDown()
        await change.value
    }

    @Test func withoutAGateNoChangeWaits() async throws {
        let client = GateClient(socketPath: "/nonexistent/gate", authorizer: LaunchAuthorizer(time: StandingTime()))
        await client.set(Link.app(["/a"]), guarded: true)
        await client.setGuarded(firefox, false)
        await client.forget(firefox)
        client.answer(Link.launch(1), allow: true)
        #expect(await !client.synchronised([]))
    }

    @Test func aGateThatWasSentOnlyAPartOfTheListIsNotToldThatItHasIt() async throws {
        let link = try Link(keepsList: true)
        let first = try await link.connectWithApp()
        first.shutDown()
        _ = await link.next()
        let second = try await link.gate.greet()
        _ = await link.next()
        #expect(await !link.client.synchronised([firefox]), "the second gate was sent no app")
        #expect(try link.knownApps() == nil)
        let other = Task { [client = link.client] in await client.synchronised([]) }
        #expect(try await second.next() == .synchronised)
        #expect(try await second.next() == .denyWithoutAsking(.all))
        // Sent once the list is to be stored. A gate that ends earlier was not sent all of it.
        guard case .ping = try await second.next() else {
            Issue.record("the client does not wait for the gate")
            return
        }
        second.shutDown()
        #expect(await !other.value, "it never confirmed")
        await eventually("the empty list is stored") { try link.knownApps() == [] }
    }

    @Test func everyOrderReachesTheGateAsItsMessage() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        link.client.configure(answerWithin: .seconds(40), maximumWaitingPerUser: 64)
        #expect(
            try await connection.next() == .settings(answerWithinMilliseconds: 40_000, maximumWaitingPerUser: 64))
        try await link.synchronise(connection)
        link.client.answer(Link.launch(9), allow: true)
        link.client.protect(process: 5)
        link.client.order(.freeze, app: firefox)
        link.client.order(.thaw, app: firefox)
        link.client.order(.close, app: firefox)
        let expected: [DaemonMessage] = [
            .answer(9, allow: true), .protect(pid: 5), .instances(1, .freeze), .instances(1, .thaw),
            .instances(1, .close),
        ]
        for message in expected { #expect(try await connection.next() == message) }
        let forgetting = Task { [client = link.client] in await client.forget(firefox) }
        guard case .forgetApp(1, let sequence) = try await connection.next() else {
            Issue.record("not forgotten")
            return
        }
        connection.send(.applied(1, sequence: sequence, marks: 0, failures: 0))
        await forgetting.value
    }

    // MARK: Launches

    @Test func aLaunchThatTheGateDeniedIsReportedAndNotAnswered() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        let question = LaunchQuestion(
            launch: 5, app: 1, process: 7, parent: 6, user: 1_000, loginUser: .max, deniedAtOnce: true,
            path: Array("/usr/bin/firefox".utf8))
        connection.send(.denied(question))
        guard case .launch(let launch, let decision) = await link.next() else {
            Issue.record("not reported")
            return
        }
        #expect(launch.number == 5 && launch.app == firefox && launch.user == 1_000)
        // The policy is empty, but the launch was denied.
        #expect(decision == Decision(verdict: .deny, reason: .nobodyToAsk))
        link.client.answer(Link.launch(9), allow: true)
        #expect(try await connection.next() == .answer(9, allow: true), "nothing was sent before")
    }

    @Test func aLaunchIsDecidedAndAnsweredAtOnce() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        // The authorizer's list is empty, so every app of it is allowed.
        connection.send(Self.question(11))
        #expect(try await connection.next() == .answer(11, allow: true))
        guard case .launch(let launch, let decision) = await link.next() else {
            Issue.record("not reported")
            return
        }
        #expect(launch.app == firefox && launch.user == 1_000 && launch.loginUser == nil)
        #expect(decision.reason == .notLocked)
    }

    @Test func aLaunchOfAnAppThatWasNeverSentIsDenied() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        connection.send(Self.question(12, app: 99))
        #expect(try await connection.next() == .answer(12, allow: false))
    }

    @Test func aLaunchThatWasDeniedAtOnceIsNotAnswered() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        connection.send(Self.question(13, deniedAtOnce: true))
        connection.send(Self.question(14, app: 98, deniedAtOnce: true))
        connection.send(Self.question(15))
        #expect(try await connection.next() == .answer(15, allow: true))
    }

    @Test func theGatesOtherReportsAreDeliveredInOrder() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        connection.send(.ended(1, .timedOut))
        connection.send(.ended(2, .processGone))
        connection.send(.ended(3, .tooManyWaiting))
        connection.send(.readDenied(1, process: 3, user: 4, path: Array("/x".utf8)))
        connection.send(.filesChanged(1))
        connection.send(.filesChanged(50))
        connection.send(.ended(4, .timedOut))
        var words: [String] = []
        for _ in 0..<6 {
            switch await link.next() {
            case .ended(let number, let reason): words.append("\(number) \(reason.rawValue)")
            case .readDenied(firefox, 3, 4, "/x"): words.append("read")
            case .filesChanged(firefox): words.append("changed")
            case let other: words.append("\(String(describing: other))")
            }
        }
        #expect(
            words == ["1 noAnswer", "2 launcherGone", "3 tooManyWaiting", "read", "changed", "4 noAnswer"])
    }

    // MARK: Exec requests

    @Test func anExecRequestIsAssembledFromItsParts() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        let bytes = Array("/usr/bin/a b\u{0}/home\u{0}2\u{0}a\u{0}\u{0}X=1\u{0}Y=\u{0}".utf8)
        for (index, byte) in bytes.enumerated() {
            connection.send(.execRequest(5, isLast: index == bytes.count - 1, part: [byte]))
            connection.send(.execRequest(6, isLast: false, part: [1]))
        }
        guard case .execRequest(5, let execRequest) = await link.next() else {
            Issue.record("no execRequest")
            return
        }
        func text(_ base64: String) -> String { String(decoding: Data(base64Encoded: base64) ?? Data(), as: UTF8.self) }
        #expect(text(execRequest.path) == "/usr/bin/a b" && text(execRequest.directory) == "/home")
        #expect(execRequest.arguments.map(text) == ["a", ""])
        #expect(execRequest.environment.map(text) == ["X=1", "Y="])
    }

    @Test func anExecRequestThatIsTooLongEndsTheConnection() async throws {
        let link = try Link()
        let connection = try await link.connectWithApp()
        let part = [UInt8](repeating: 65, count: 60_000)
        for _ in 0...(GateProtocol.maximumExecRequestBytes / part.count) {
            connection.send(.execRequest(5, isLast: false, part: part))
        }
        #expect(try await connection.next() == nil)
    }
}
