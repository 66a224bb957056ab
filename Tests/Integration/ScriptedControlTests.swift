import ControlAPI
import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// `applocker` with a simulated AppLocker, whose refusals and ends come when the test wants them.
@Suite("The command line: refusals and ends of AppLocker")
struct ScriptedControlTests {
    private let directory: TemporaryDirectory
    private let socket: ScriptedSocket

    init() throws {
        directory = try TemporaryDirectory()
        socket = ScriptedSocket(path: directory.path("control.sock"))
    }

    /// Runs `applocker`; the passcodes are lines of descriptor 3.
    private func start(_ arguments: String..., passcodes: [String]) throws -> ChildProcess {
        let lines = try directory.write(passcodes.map { $0 + "\n" }.joined(), to: "passcodes")
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: lines))
        defer { withExtendedLifetime(file) {} }
        return try ChildProcess(
            BuiltProducts.path("applocker"), arguments + ["--passcode-fd", "3", "--socket", socket.path],
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path],
            descriptors: [3: file.fileDescriptor])
    }

    private static func reply(_ body: some Encodable) -> ScriptedSocket.Reply {
        .whole(status: 200, (try? JSONEncoder().encode(body)) ?? Data())
    }

    private static func refusal(_ code: ControlError.Code, _ message: String) -> ScriptedSocket.Reply {
        let error = ControlError(code, message)
        return .whole(status: error.status, (try? JSONEncoder().encode(ControlErrorBody(error: error))) ?? Data())
    }

    private func ask(_ prompt: String) async throws {
        // The stream counts a moment after its first event was sent.
        await eventually("the prompter's stream is open") { socket.streamCount == 1 }
        let report = PromptReport(
            prompt: prompt, app: "diary", name: "Diary", icon: nil, path: "/usr/bin/diary", process: 42,
            parentName: "bash", user: 1_000, userName: "eve", expiresInSeconds: 60, defaultGrantSeconds: 300,
            hasOwnPasscode: false, startsAgain: false, lockout: LockoutState(failures: 0, remainingSeconds: 0))
        let event = try JSONEncoder().encode(PromptEvent.ask(report))
        socket.send(Data("data: ".utf8) + event + Data("\n\n".utf8))
    }

    @Test("The prompter goes on after a full disk, an end of AppLocker during an answer, and a refused connection")
    func prompterGoesOn() async throws {
        let streams = Mutex(0)
        let handler: ScriptedSocket.Handler = { request in
            switch request.route {
            case ControlRoute.prompts.rawValue:
                let count = streams.withLock { count in
                    count += 1
                    return count
                }
                return count == 2
                    ? Self.refusal(.busy, "AppLocker is starting.") : .stream(Data("data: {\"ready\":{}}\n\n".utf8))
            case "POST /v1/prompts/ends/answer": return .hangUp
            case "POST /v1/prompts/full/answer" where !request.body.contains("second"):
                return Self.refusal(.failed, "The disk is full.")
            default: return Self.reply(PromptAnswer())
            }
        }
        try socket.start(handler)
        let prompter = try start(
            "prompt", "--tty", "--grant", "this-launch", passcodes: ["first", "second", "third", "fourth", "fifth"])
        func printed(_ words: String, times: Int = 1) async throws {
            await eventually("it prints \(words): \(prompter.stateDescription)") {
                prompter.output.components(separatedBy: words).count - 1 >= times || !prompter.isRunning
            }
            try #require(prompter.isRunning, "\(prompter.errorOutput)")
        }
        try await printed("Ready.")
        try await ask("full")
        try await printed("The disk is full.")
        try await printed("Diary continues.")
        try await ask("ends")
        try await printed("The launch is no longer waiting.")
        try await ask("next")
        try await printed("Diary continues.", times: 2)
        socket.stop()
        try await printed("Reconnecting")
        try socket.start(handler)
        try await printed("Ready.", times: 2)
        #expect(streams.withLock { $0 } == 3)
        try await ask("last")
        try await printed("Diary continues.", times: 3)
        prompter.kill()
    }

    @Test("More events than a reply may have are read in several, and shown oldest first")
    func longLog() async throws {
        try socket.start { request in
            let query = URLComponents(string: String(request.route.dropFirst(4)))?.queryItems ?? []
            func number(_ name: String) -> Int64? { query.first { $0.name == name }?.value.flatMap { Int64($0) } }
            guard let limit = number("limit"), limit <= LogQuery.maximumLimit else {
                return Self.refusal(.badRequest, "limit")
            }
            let last = min(number("before") ?? .max, 2_501) - 1
            let events = (max(1, last - limit + 1)...last).map { number in
                EventReport(
                    number: number, time: 0, kind: "locked", app: nil, user: nil, process: nil, path: nil, reason: nil,
                    sentence: "Locked.")
            }
            return Self.reply(EventList(events: events))
        }
        for (limit, first) in [("1001", 1_500), ("100000", 1)] {
            let child = try start("log", "--limit", limit, "--json", passcodes: [])
            try #require(try await child.wait() == .code(0), "\(child.errorOutput)")
            let list = try JSONDecoder().decode(EventList.self, from: child.outputData)
            #expect(list.events.map(\.number) == Array(Int64(first)...2_500))
        }
    }

    @Test("Following everybody's log reads the passcode once, and opens a session again when one has ended")
    func follow() async throws {
        let requests = Mutex<(passcodes: [String], limits: [String])>(([], []))
        try socket.start { request in
            let route = request.route
            if route == ControlRoute.openSession.rawValue {
                let body = try? JSONDecoder().decode(PasscodeRequest.self, from: request.body)
                let number = requests.withLock {
                    $0.passcodes.append(body?.passcode ?? "")
                    return $0.passcodes.count
                }
                return Self.reply(SessionReport(token: "\(number)", expiresInSeconds: 900, idleSeconds: 300))
            }
            guard route.hasPrefix("GET /v1/log?") else { return Self.reply(DoneReport()) }
            let query = URLComponents(string: String(route.dropFirst(4)))?.queryItems ?? []
            let after = query.first { $0.name == "after" }?.value.flatMap { Int64($0) } ?? 0
            // Each session ends after one event.
            guard request.token == "\(after + 1)" else { return Self.refusal(.sessionNeeded, "Open a session first.") }
            requests.withLock { $0.limits.append(query.first { $0.name == "limit" }?.value ?? "") }
            return Self.reply(
                EventList(events: [
                    EventReport(
                        number: after + 1, time: 0, kind: "locked", app: nil, user: nil, process: nil, path: nil,
                        reason: nil, sentence: "Event \(after + 1).")
                ]))
        }
        let child = try start("log", "--all", "--follow", "--limit", "5", passcodes: ["the only line"])
        await eventually("three sessions' events are shown: \(child.stateDescription)") {
            child.output.contains("Event 3.") || !child.isRunning
        }
        try #require(child.isRunning, "\(child.errorOutput)")
        child.kill()
        let shown = child.output.components(separatedBy: "Event ").dropFirst().map { $0.prefix(1) }
        #expect(shown.prefix(3) == ["1", "2", "3"])
        let (passcodes, limits) = requests.withLock { $0 }
        #expect(passcodes.count >= 3 && passcodes.allSatisfy { $0 == "the only line" })
        #expect(limits.prefix(3) == ["5", "1000", "1000"])
    }
}

extension Data {
    fileprivate func contains(_ words: String) -> Bool { range(of: Data(words.utf8)) != nil }
}
