import AsyncHTTPClient
import Crypto
import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import HubServer
@testable import SealedFormats

/// A hub on a free port with a real store, ended after the test.
final class HubUnderTest: Sendable {
    let port: Int
    let directory: TemporaryDirectory
    let store: SQLiteHubStore
    let server: HubServer
    let time: TestTime
    let log: CollectedLog
    let client: HTTPClient
    let scheme: String
    private let task: Task<Void, any Error>

    private init(
        port: Int, directory: TemporaryDirectory, store: SQLiteHubStore, server: HubServer, time: TestTime,
        log: CollectedLog, client: HTTPClient, scheme: String, task: Task<Void, any Error>
    ) {
        self.port = port
        self.directory = directory
        self.store = store
        self.server = server
        self.time = time
        self.log = log
        self.client = client
        self.scheme = scheme
        self.task = task
    }

    typealias Configuring = (inout HubConfiguration, TemporaryDirectory) throws -> Void
    /// What the hub uses instead of its store.
    typealias Wrapping = (SQLiteHubStore) -> any HubStore

    /// A hub that was not started yet.
    struct Configured {
        let configure: Configuring
        let client: HTTPClient.Configuration
        let wrap: Wrapping

        /// Starts a hub, runs the test with it, and ends it with SIGTERM's sequence.
        func run(_ test: (HubUnderTest) async throws -> Void) async throws {
            let hub = try await start(configure, client: client, wrap: wrap)
            do {
                try await test(hub)
            } catch {
                try? await hub.end()
                throw error
            }
            try await hub.end()
        }
    }

    static func configured(client: HTTPClient.Configuration = .init(), _ configure: @escaping Configuring) -> Configured
    {
        Configured(configure: configure, client: client, wrap: { $0 })
    }

    /// A hub whose calls of the store are observed.
    static func observed(_ test: (HubUnderTest, ObservedStore) async throws -> Void) async throws {
        let observed = Mutex<ObservedStore?>(nil)
        let wrap: Wrapping = { store in
            let new = ObservedStore(store)
            observed.withLock { $0 = new }
            return new
        }
        try await Configured(configure: { _, _ in }, client: .init(), wrap: wrap).run { hub in
            try await test(hub, try #require(observed.withLock { $0 }))
        }
    }

    static func run(_ test: (HubUnderTest) async throws -> Void) async throws {
        try await configured { _, _ in }.run(test)
    }

    static func start(
        _ configure: Configuring = { _, _ in }, client: HTTPClient.Configuration = .init(),
        wrap: Wrapping = { $0 }
    ) async throws -> HubUnderTest {
        let directory = try TemporaryDirectory()
        let store = try SQLiteHubStore(path: directory.path("hub/hub.sqlite"))
        let blobs = try DirectoryBlobStore(path: directory.path("hub/blobs"))
        var configuration = HubConfiguration(listener: .tcp(host: "127.0.0.1", port: 0))
        configuration.limits.shutdownTimeout = .seconds(60)
        // One test has many devices at one address.
        configuration.limits.arrivals = .init(perSecond: 1_000, burst: 1_000)
        try configure(&configuration, directory)
        let (time, log) = (TestTime(), CollectedLog())
        let logger = Logger(label: "hub") { _ in CollectingLogHandler(log: log) }
        let server = try HubServer(
            configuration: configuration, store: wrap(store), blobs: blobs, time: time, logger: logger)
        let (ports, port) = AsyncStream<Int>.makeStream()
        let task = Task {
            defer { port.finish() }
            try await server.run { port.yield($0) }
        }
        var found: Int?
        for await port in ports {
            found = port
            break
        }
        guard let found else {
            try await task.value
            throw HubDidNotStart()
        }
        var clientConfiguration = client
        clientConfiguration.timeout.connect = .seconds(60)
        // The hub closes a silent connection after 30 s: a request that is sent on it just then fails.
        clientConfiguration.connectionPool.idleTimeout = .seconds(20)
        clientConfiguration.redirectConfiguration = .disallow
        return HubUnderTest(
            port: found, directory: directory, store: store, server: server, time: time, log: log,
            client: HTTPClient(eventLoopGroupProvider: .singleton, configuration: clientConfiguration),
            scheme: configuration.certificate == nil ? "http" : "https", task: task)
    }

    /// Ends as SIGTERM does, and waits for the end.
    func end() async throws {
        try await client.shutdown()
        await server.stop()
        try await task.value
    }

    /// Ends without closing the client's connections first.
    func stopOnly() async throws {
        await server.stop()
        try await task.value
    }

    struct HubDidNotStart: Error {}

    var host: String { scheme == "https" ? "localhost" : "127.0.0.1" }

    // MARK: Requests

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: Data

        func decoded<Message: Decodable>(_ type: Message.Type = Message.self) throws -> Message {
            try JSONDecoder().decode(type, from: body)
        }

        func header(_ name: String) -> String? { headers.first(name: name) }

        var error: HubError? { try? decoded(HubErrorBody.self).error }
    }

    func send(
        _ method: String, _ target: String, token: Data? = nil, headers: [(String, String)] = [], body: Data? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "\(scheme)://\(host):\(port)\(target)")
        request.method = .RAW(value: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(Self.text(token))") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await client.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 64 << 20)
        return Answer(
            status: Int(response.status.code), headers: response.headers, body: Data(bytes.readableBytesView))
    }

    func request(
        _ route: HubRoute, _ parameters: [String] = [], query: String = "", token: Data? = nil,
        headers: [(String, String)] = [], _ body: (any Encodable)? = nil
    ) async throws -> Answer {
        var left = parameters[...]
        let path = route.template.split(separator: "/").map { part in
            "/" + (part.hasPrefix("{") ? left.popFirst() ?? "-" : String(part))
        }.joined()
        return try await send(
            route.method, path + query, token: token, headers: headers,
            body: try body.map { try JSONEncoder().encode($0) })
    }

    static func text(_ token: Data) -> String {
        token.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    // MARK: Households

    func found(_ household: HubID = .random(), role: HubDeviceRole = .computer) async throws -> TestDevice {
        let founder = TestDevice(household: household, role: role)
        let answer = try await request(
            .foundHousehold,
            body: NewHouseholdRequest(
                household: household, device: founder.id, entry: founder.entry, tokenHash: founder.tokenHash,
                role: role == .computer ? nil : role))
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        return founder
    }

    func request(_ route: HubRoute, token: Data? = nil, body: any Encodable) async throws -> Answer {
        try await request(route, [], token: token, body)
    }

    /// Invites a device, joins, and admits it.
    func pair(with computer: TestDevice, role: HubDeviceRole = .companion, admit: Bool = true) async throws
        -> TestDevice
    {
        let device = TestDevice(household: computer.household, role: role)
        let (invitation, proof) = (HubID.random(), Data.random(32))
        let invited = try await request(
            .invite, token: computer.token,
            body: NewInvitationRequest(id: invitation, proofHash: Data(SHA256.hash(data: proof))))
        #expect(invited.status == 204)
        let joined = try await request(
            .join, [invitation.description],
            JoinRequest(
                proof: proof, device: device.id, role: role, tokenHash: device.tokenHash, sealed: Data("name".utf8)))
        #expect(joined.status == 200)
        if admit {
            try await append(
                .admit(device: device.id, role: role, invitation: invitation),
                try await admitting(device.member, by: computer), by: computer)
        }
        return device
    }

    @discardableResult
    func append(_ change: HubAPI.RosterChange, _ entry: Data? = nil, by computer: TestDevice) async throws
        -> UInt64
    {
        let number = try await store.household(computer.household).rosterNumber + 1
        var entry = entry
        if entry == nil, let revoked = change.revoked {
            entry = try await self.revoking(ItemID(bytes: revoked.bytes)!, by: computer)
        }
        let answer = try await request(
            .appendToRoster, token: computer.token,
            body: RosterAppendRequest(number: number, entry: entry ?? Data(), change: change))
        #expect(answer.status == 204, "\(String(decoding: answer.body, as: UTF8.self))")
        return number
    }

    // The next entry of the chain, signed by this device.

    func admitting(_ member: RosterMember, by device: TestDevice) async throws -> Data {
        try await next(.admit(member), by: device)
    }

    func revoking(_ member: ItemID, by device: TestDevice) async throws -> Data {
        try await next(.revoke(member), by: device)
    }

    private func next(_ change: RosterEntry.Change, by device: TestDevice) async throws -> Data {
        let last = try RosterEntry(bytes: [UInt8](try #require(try await chain(of: device).last)))
        return Data(
            RosterEntry(
                number: last.number + 1, previous: last.hash, time: 0, author: device.key.publicKey.id, change: change
            ).signed(by: device.key))
    }

    func chain(of device: TestDevice) async throws -> [Data] { try await store.roster(of: device.household, after: 0) }

    @discardableResult
    func put(_ record: HubRecord, by device: TestDevice) async throws -> Answer {
        try await request(
            .writeRecord, [record.collection, record.id.description], token: device.token,
            headers: [("If-Match", "\"\(record.revision - 1)\"")], record)
    }
}

/// A device with its own token, as the hub knows it.
struct TestDevice: Sendable {
    let household: HubID
    let role: HubDeviceRole
    let key = DeviceSigningKey()
    let token = Data.random(32)

    var id: HubID { HubID(bytes: key.publicKey.id.bytes)! }

    var item: ItemID { key.publicKey.id }
    var member: RosterMember { member(as: role) }

    func member(as role: HubDeviceRole) -> RosterMember {
        RosterMember(role: role.device, signingKey: key.publicKey, boxKey: BoxKeyPair().publicKey)
    }

    /// The entry by which it founds a household.
    var entry: Data { entry(as: role) }

    func entry(as role: HubDeviceRole) -> Data {
        Data(Roster(founder: key, boxKey: BoxKeyPair().publicKey, role: role.device, at: 0).entries[0])
    }

    var tokenHash: Data { Data(SHA256.hash(data: token)) }

    func record(
        _ collection: String = "notes", id: HubID = .random(), revision: UInt64 = 1, sealed: Data? = Data.random(64),
        blobs: [HubID] = []
    ) -> HubRecord {
        signed(
            HubRecord(
                collection: collection, id: id, vault: household, revision: revision, epoch: 1, author: self.id,
                sealed: sealed, blobs: blobs, signature: Data(count: 64)))
    }

    /// The record with this device's signature, whatever author it names.
    func signed(_ record: HubRecord) -> HubRecord {
        guard let collection = RecordCollection(rawValue: record.collection) else { return record }
        var record = record
        let item = { (id: HubID) in ItemID(bytes: id.bytes)! }
        let name = RecordName(
            vault: item(record.vault), collection: collection, id: item(record.id), revision: record.revision)
        record.signature = Data(
            RecordSignature.sign(
                name, epoch: record.epoch, blobs: record.blobs.map(item), sealed: record.sealed.map { [UInt8]($0) },
                with: key))
        return record
    }
}

extension HubID {
    static func random() -> HubID {
        HubID(Data.random(16).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined())!
    }
}

extension Data {
    static func random(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}

/// The computer's clocks, which a test can advance.
final class TestTime: HubTime {
    private let ahead = Mutex(Duration.zero)
    private let asked = Mutex<[Duration]>([])
    private let real = SystemHubTime()

    func milliseconds() -> Int64 { real.milliseconds() + Int64(ahead.withLock { $0 } / .milliseconds(1)) }
    func elapsed() -> Duration { real.elapsed() + ahead.withLock { $0 } }
    func advance(by duration: Duration) { ahead.withLock { $0 += duration } }

    /// The length of each sleep, in order of their starts.
    var sleeps: [Duration] { asked.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        // Before a test can observe the sleep and advance the clock.
        let end = elapsed() + duration
        asked.withLock { $0.append(duration) }
        try await poll(until: end)
    }

    func sleep(until end: Duration) async throws {
        asked.withLock { $0.append(end - elapsed()) }
        try await poll(until: end)
    }

    private func poll(until end: Duration) async throws {
        while elapsed() < end { try await Task.sleep(for: min(.milliseconds(20), end - elapsed())) }
    }
}

/// The lines of the hub's log.
final class CollectedLog: Sendable {
    private let text = Mutex<[String]>([])
    func add(_ line: String) { text.withLock { $0.append(line) } }
    var lines: [String] { text.withLock { $0 } }
}

struct CollectingLogHandler: LogHandler {
    let log: CollectedLog
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(log: CollectedLog) { self.log = log }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        log.add("\(event.level) \(event.message) \(metadata.merging(event.metadata ?? [:]) { _, new in new })")
    }
}
