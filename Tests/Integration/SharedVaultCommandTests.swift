import ControlAPI
import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// `applocker moments` in shared vaults, with a simulated AppLocker that records its requests.
@Suite("The command line: shared vaults")
struct SharedVaultCommandTests {
    private let directory: TemporaryDirectory
    private let socket: ScriptedSocket

    private static let id = "3f9a" + String(repeating: "0", count: 28)
    private static let moment = MomentReport(
        id: "77c1" + String(repeating: "0", count: 28), revision: 1, title: "At the lake", date: 0, offset: 0, mood: "",
        place: nil, photos: [], favourite: false, created: 0, modified: 0, removed: nil)

    init() throws {
        directory = try TemporaryDirectory()
        socket = ScriptedSocket(path: directory.path("control.sock"))
    }

    /// In a session without a terminal; descriptor 3 has a passcode.
    private func start(_ arguments: [String], input: ChildProcess.Input = .nothing) throws -> ChildProcess {
        let passcode = try directory.write("correct horse 9\n", to: "passcode")
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: passcode))
        defer { withExtendedLifetime(file) {} }
        return try ChildProcess(
            BuiltProducts.path("applocker"), arguments + ["--socket", socket.path],
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path], descriptors: [3: file.fileDescriptor],
            input: input, grouping: .session)
    }

    private func run(_ arguments: String..., input: ChildProcess.Input = .nothing) async throws -> ChildProcess {
        let child = try start(arguments, input: input)
        try await child.wait()
        return child
    }

    private static func vault(_ state: SharedVaultReport.State, waiting: Int = 0) -> SharedVaultReport {
        SharedVaultReport(
            id: id, name: state == .waiting ? "" : "Us two", hub: "https://hub.example", state: state,
            words: state == .waiting ? ["apple", "river", "stone"] : nil,
            members: state == .waiting ? [] : ["desk", "Anna's phone"], vault: String(repeating: "1", count: 32),
            isConnected: true, waiting: waiting)
    }

    private static func reply(_ body: some Encodable) -> ScriptedSocket.Reply {
        .whole(status: 200, (try? JSONEncoder().encode(body)) ?? Data())
    }

    private static func refusal(_ code: ControlError.Code, _ message: String) -> ScriptedSocket.Reply {
        let error = ControlError(code, message)
        return .whole(status: error.status, (try? JSONEncoder().encode(ControlErrorBody(error: error))) ?? Data())
    }

    /// A request's path, decoded, and the field that names a vault.
    private struct Address: Equatable {
        var method: String
        var path: String
        var vault: String?

        init(_ route: String) {
            let words = route.split(separator: " ").map(String.init)
            let components = URLComponents(string: words[1])
            method = words[0]
            path = components?.path ?? ""
            vault = components?.queryItems?.first { $0.name == "vault" }?.value
        }

        var concernsMoments: Bool {
            ["/v1/moments", "/v1/photos/", "/v1/blobs/"].contains { path.hasPrefix($0) }
        }
    }

    private static func answer(_ request: ScriptedSocket.Request) -> ScriptedSocket.Reply {
        let address = Address(request.route)
        switch (address.method, address.path) {
        case ("GET", "/v1/status"):
            return reply(
                StatusReport(
                    version: "1", isSetUp: true, protection: .held, degraded: [],
                    monitoring: MonitoringState(isOn: true),
                    lockedApps: 0, unlockedApps: 0, waitingLaunches: 0, prompterConnected: false,
                    lockout: LockoutState(failures: 0, remainingSeconds: 0), processes: []))
        case ("POST", "/v1/vault/unlock"):
            return reply(VaultStatus(vault: String(repeating: "2", count: 32), isOpen: true))
        case ("GET", "/v1/vaults/Us two"): return reply(vault(.member))
        case ("GET", "/v1/moments"): return reply(MomentList(moments: [moment], unreadable: 0))
        case ("GET", _) where address.path.hasPrefix("/v1/moments/"):
            return reply(MomentContent(moment: moment, words: "Cold."))
        case (_, _) where address.path.hasPrefix("/v1/moments"): return reply(moment)
        case ("POST", "/v1/photos/known"):
            let digests = (try? JSONDecoder().decode(KnownPhotosRequest.self, from: request.body))?.digests ?? []
            return reply(KnownPhotos(places: digests.map { _ in nil }))
        case ("PUT", _) where address.path.hasPrefix("/v1/blobs/"): return reply(DoneReport())
        default: return refusal(.failed, "The test does not expect \(request.route).")
        }
    }

    @Test("Every request about moments, photos and blobs names the vault, and no other does")
    func requestsNameTheVault() async throws {
        let requests = Mutex<[Address]>([])
        try socket.start { request in
            requests.withLock { $0.append(Address(request.route)) }
            return Self.answer(request)
        }
        let photo = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("System/PicturesTests/Fixtures/orientation-1.jpg")
        let folder = directory.path("old")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.copyItem(at: photo, to: URL(fileURLWithPath: folder + "/one.jpg"))
        let (name, out) = ("At the lake", directory.path("out"))
        let commands: [(words: [String], needs: [String])] = [
            (["list"], ["GET /v1/moments"]),
            (["trash"], ["GET /v1/moments"]),
            (["stats"], ["GET /v1/moments"]),
            (["show", name], ["GET /v1/moments/\(name)"]),
            (["favourite", name], ["GET /v1/moments/\(name)", "PATCH /v1/moments/\(Self.moment.id)"]),
            (["restore", name], ["PATCH /v1/moments/\(Self.moment.id)"]),
            (["remove", name, "--for-good", "--yes"], ["DELETE /v1/moments/\(Self.moment.id)"]),
            (["add", name, "--photo", photo.path], ["PUT /v1/blobs/", "POST /v1/moments"]),
            (["import", folder], ["POST /v1/photos/known", "PUT /v1/blobs/", "POST /v1/moments"]),
            (
                ["export", out, "--yes", "--passcode-fd", "3"],
                ["GET /v1/moments", "GET /v1/moments/\(Self.moment.id)"]
            ),
        ]
        for (words, needs) in commands {
            requests.withLock { $0 = [] }
            let child = try start(["moments"] + words + ["--vault", "Us two"])
            try #require(try await child.wait() == .code(0), "\(words): \(child.errorOutput)")
            let (about, others) = requests.withLock { all in
                (all.filter(\.concernsMoments), all.filter { !$0.concernsMoments })
            }
            #expect(about.allSatisfy { $0.vault == "Us two" }, "\(words)")
            #expect(others.allSatisfy { $0.vault == nil }, "\(words)")
            for need in needs {
                #expect(about.contains { "\($0.method) \($0.path)".hasPrefix(need) }, "\(words): \(need)")
            }
        }
        let removed = try await run("moments", "remove", name, "--vault", "Us two")
        #expect(removed.output.contains("`applocker moments restore 77c10000 --vault 'Us two'` restores it."))

        requests.withLock { $0 = [] }
        #expect(try await run("moments", "list").exit == .code(0))
        #expect(requests.withLock { $0 } == [Address("GET /v1/moments")])
    }

    @Test("Photos are not sealed for a vault that no member has confirmed")
    func addingBeforeConfirmation() async throws {
        try socket.start { request in
            request.route.hasPrefix("GET /v1/vaults/") ? Self.reply(Self.vault(.waiting)) : Self.answer(request)
        }
        let added = try await run("moments", "add", "At the lake", "--vault", "3f9a")
        #expect(added.exit == .code(1) && added.errorOutput.contains("No member has confirmed this computer"))
    }

    @Test("Joining shows the words, and waits until a member has confirmed")
    func joining() async throws {
        let requests = Mutex<[ScriptedSocket.Request]>([])
        try socket.start { request in
            let count = requests.withLock { all in
                all.append(request)
                return all.count
            }
            return Self.reply(Self.vault(count % 3 == 0 ? .member : .waiting))
        }
        let link = "https://hub.example/#vault=AbC"
        let joined = try await run("moments", "join", "--proxy", "http://proxy:3128", input: .text(link + "\n"))
        #expect(joined.exit == .code(0), "\(joined.errorOutput)")
        #expect(joined.output.components(separatedBy: "apple river stone").count == 2)
        #expect(joined.output.contains("a member of \"Us two\"; `applocker moments list --vault 'Us two'` lists"))
        let sent = requests.withLock { $0 }
        #expect(sent.map(\.route) == ["POST /v1/vaults", "GET /v1/vaults/\(Self.id)", "GET /v1/vaults/\(Self.id)"])
        let body = try JSONDecoder().decode(JoinHubRequest.self, from: try #require(sent.first).body)
        #expect(body.link == link && body.proxy == "http://proxy:3128")

        let json = try await run("moments", "join", link, "--json")
        let lines = try json.output.split(separator: "\n").map { line in
            try JSONDecoder().decode(SharedVaultReport.self, from: Data(line.utf8))
        }
        #expect(lines == [Self.vault(.waiting), Self.vault(.member)])
    }

    @Test("A refusal ends joining, as does a removal; an interruption leaves the request")
    func joiningEnds() async throws {
        let polls = Mutex(0)
        let later = Mutex(Self.refusal(.hub, "The member refused."))
        try socket.start { request in
            if request.route == "POST /v1/vaults" { return Self.reply(Self.vault(.waiting)) }
            polls.withLock { $0 += 1 }
            return later.withLock { $0 }
        }
        let refused = try await run("moments", "join", "link")
        #expect(refused.exit == .code(1) && refused.errorOutput.contains("The member refused."))
        later.withLock { $0 = Self.reply(Self.vault(.removed)) }
        let removed = try await run("moments", "join", "link")
        #expect(removed.exit == .code(1) && removed.errorOutput.contains("removed this computer from \"Us two\""))

        later.withLock { $0 = Self.reply(Self.vault(.waiting)) }
        polls.withLock { $0 = 0 }
        let waiting = try start(["moments", "join", "link"])
        await eventually("it polls: \(waiting.stateDescription)") { polls.withLock { $0 } > 0 || !waiting.isRunning }
        waiting.kill(SIGINT)
        #expect(try await waiting.wait() == .code(1))
        #expect(waiting.errorOutput.contains("`applocker moments vaults`"))
        let missing = try await run("moments", "join")
        #expect(missing.exit == .code(2) && missing.errorOutput.contains("The invitation is missing"))
    }

    @Test("Leaving asks with what is lost, and --forget needs no hub")
    func leaving() async throws {
        let routes = Mutex<[String]>([])
        try socket.start { request in
            if request.route.hasPrefix("GET") { return Self.reply(Self.vault(.member, waiting: 2)) }
            routes.withLock { $0.append(request.route) }
            return request.route.hasSuffix("?forget=true")
                ? Self.reply(DoneReport()) : Self.refusal(.hub, "The hub can't be reached.")
        }
        let asked = try await run("moments", "leave", "Us two")
        #expect(asked.exit == .code(2) && asked.errorOutput.contains("2 changes not sent yet will be lost."))
        #expect(routes.withLock { $0 }.isEmpty)
        let offline = try await run("moments", "leave", "Us two", "--yes")
        #expect(offline.exit == .code(1) && offline.errorOutput.contains("can't be reached. Use --forget"))
        let forgotten = try await run("moments", "leave", "Us two", "--forget", "--yes")
        #expect(forgotten.exit == .code(0), "\(forgotten.errorOutput)")
        #expect(forgotten.output == "This computer has left \"Us two\".\n")
        let path = "DELETE /v1/vaults/\(Self.id)"
        #expect(routes.withLock { $0 } == [path, path + "?forget=true"])
    }

    @Test("The list has the vaults, as text and as JSON")
    func list() async throws {
        let list = SharedVaultList(vaults: [Self.vault(.member, waiting: 1)])
        try socket.start { _ in Self.reply(list) }
        #expect(try await run("moments", "vaults").output.contains("3f9a0000  Us two  connected  1"))
        let json = try await run("moments", "vaults", "--json")
        #expect(try JSONDecoder().decode(SharedVaultList.self, from: json.outputData) == list)
    }
}
