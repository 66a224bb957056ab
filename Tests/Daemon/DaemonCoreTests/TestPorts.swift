import ControlAPI
import DaemonCore
import Foundation
import Glibc
import Household
import Policy
import SealedFormats
import SealedStore
import Sync
import Synchronization

/// A real store whose writes and reads can be made to fail or wait.
actor BreakableStore: RecordStore {
    struct Full: Error, CustomStringConvertible {
        let description = "no space left on device"
    }

    private let store: StateDatabase
    /// Only the newest: a long run must not fill the memory with the test's own data.
    private(set) var saved: [(name: String, bytes: [UInt8])] = []
    /// The number of writes that still succeed; nil means all.
    private var writesLeft: Int?
    /// While it is closed, all writes wait here, or those of one document.
    private var isClosed = false
    private var heldDocument: String?
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// The number of ids of each read of records.
    private(set) var readings: [Int] = []
    /// Reads of records by id wait here while it is set.
    private var holdsReadings = false
    private var waitingReadings: [CheckedContinuation<Void, Never>] = []

    /// The read of this document that waits with its result, after a number of other reads of it.
    private var heldReading: (document: String, after: Int)?
    private var heldReader: CheckedContinuation<Void, Never>?

    init(_ store: StateDatabase) { self.store = store }

    func holdReading(of document: String, after count: Int) { heldReading = (document, count) }

    var isReadingHeld: Bool { heldReader != nil }

    func releaseReading() {
        heldReading = nil
        heldReader?.resume()
        heldReader = nil
    }

    func holdReadings() { holdsReadings = true }

    func releaseReadings() {
        holdsReadings = false
        for waiter in waitingReadings { waiter.resume() }
        waitingReadings = []
    }

    func fail(after writes: Int? = 0) { writesLeft = writes }

    func hold(writesOf document: String? = nil) { (isClosed, heldDocument) = (true, document) }

    func release() {
        isClosed = false
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    var waitingWrites: Int { waiting.count }

    func document(_ name: String) async throws -> [UInt8]? {
        let bytes = try await store.document(name)
        guard let held = heldReading, held.document == name else { return bytes }
        if held.after > 0 {
            heldReading?.after -= 1
        } else {
            heldReading = nil
            await withCheckedContinuation { heldReader = $0 }
        }
        return bytes
    }

    func save(_ bytes: [UInt8], as name: String) async throws {
        try await write(StateChange(documents: [name: bytes]))
    }

    func write(_ change: StateChange) async throws {
        if isClosed, heldDocument.map({ change.documents[$0] != nil }) ?? true {
            await withCheckedContinuation { waiting.append($0) }
        }
        if let left = writesLeft {
            guard left > 0 else { throw Full() }
            writesLeft = left - 1
        }
        try await store.write(change)
        for (name, bytes) in change.documents { saved.append((name, bytes ?? [])) }
        if saved.count > 256 { saved.removeFirst(128) }
    }

    func records(in collection: RecordCollection) async throws -> [StoredRecord] {
        try await store.records(in: collection)
    }

    func records(in collection: RecordCollection, ids: [ItemID]) async throws -> [StoredRecord] {
        readings.append(ids.count)
        if holdsReadings { await withCheckedContinuation { waitingReadings.append($0) } }
        return try await store.records(in: collection, ids: ids)
    }

    func pruneEarlierVersions(at time: Double) async throws { try await store.pruneEarlierVersions(at: time) }

    func stamps(in collection: RecordCollection) async throws -> [ItemID: RecordStamp] {
        try await store.stamps(in: collection)
    }

    func record(_ collection: RecordCollection, _ id: ItemID) async throws -> StoredRecord? {
        try await store.record(collection, id)
    }

    func blobsOfRecords() async throws -> Set<ItemID> { try await store.blobsOfRecords() }

    func isOfRecord(blob: ItemID) async throws -> Bool { try await store.isOfRecord(blob: blob) }

    func eraseAll() async throws { try await store.eraseAll() }
}

extension StateDatabase {
    /// The device of all tests of this module.
    static let testKey = DeviceSigningKey()

    convenience init(path: String) throws { try self.init(path: path, signingKey: Self.testKey) }
}

/// A camera that returns the test's photo. Sendable because its state is in one `Mutex`.
final class TestCamera: PhotoSource {
    private let photo = Mutex<[UInt8]?>(nil)

    func show(_ photo: [UInt8]?) { self.photo.withLock { $0 = photo } }

    func photograph() async throws -> [UInt8] {
        guard let photo = photo.withLock({ $0 }) else { throw PhotoSourceError(.noCamera, "No camera was found.") }
        return photo
    }
}

/// A gate that applies each change at once or when the test releases it, and records everything as text.
///
/// Launches are decided by the real authorizer, exactly as in the real gate's reader. Sendable because its state is in
/// one `Mutex`.
final class RecordingGate: LaunchGatePort {
    private struct State {
        var actions: [String] = []
        var answers: [UInt64: Bool] = [:]
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var paths: [AppID: [String]] = [:]
        var guarded: [AppID: Bool] = [:]
    }

    let events: AsyncStream<GateEvent>
    private let continuation: AsyncStream<GateEvent>.Continuation
    private let authorizer: LaunchAuthorizer
    private let state = Mutex(State())

    init(authorizer: LaunchAuthorizer) {
        self.authorizer = authorizer
        (events, continuation) = AsyncStream.makeStream()
    }

    // MARK: For the test

    func report(_ event: GateEvent) { continuation.yield(event) }

    func connect(_ state: GateState = .held(orphansDenied: 0)) { report(.connected(state, process: 77)) }

    func disconnect() {
        state.withLock { $0.guarded = [:] }
        report(.disconnected)
    }

    @discardableResult
    func launch(_ launch: HeldLaunch) -> Decision {
        let decision = authorizer.authorize(launch)
        if decision.verdict != .ask, decision.reason != .grantedOnce, !launch.deniedAtOnce {
            answer(launch, allow: decision.verdict == .allow)
        }
        report(.launch(launch, decision))
        return decision
    }

    var actions: [String] { state.withLock { $0.actions } }

    func forgetActions() { state.withLock { $0.actions = [] } }

    /// Nil if there is no answer yet.
    func answer(to number: UInt64) -> Bool? { state.withLock { $0.answers[number] } }

    func isGuarded(_ app: AppID) -> Bool? { state.withLock { $0.guarded[app] } }

    func paths(_ app: AppID) -> [String] { state.withLock { $0.paths[app] ?? [] } }

    /// Changes are applied only after `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    func applyOne() { state.withLock { $0.waiting.removeFirst() }.resume() }

    var waitingChanges: Int { state.withLock { $0.waiting.count } }

    private func applied() async {
        await withCheckedContinuation { continuation in
            let isApplied = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if isApplied { continuation.resume() }
        }
    }

    private func note(_ action: String) { state.withLock { $0.actions.append(action) } }

    // MARK: LaunchGatePort

    func configure(answerWithin: Duration, maximumWaitingPerUser: Int) {
        note("configure \(answerWithin.components.seconds) \(maximumWaitingPerUser)")
    }

    func set(_ app: ResolvedApp, guarded: Bool) async {
        note("set \(app.id) \(guarded ? "guarded" : "open")")
        await applied()
        state.withLock { state in
            state.paths[app.id] = app.executables
            state.guarded[app.id] = guarded
        }
    }

    func setGuarded(_ app: AppID, _ guarded: Bool) async {
        note("\(guarded ? "guard" : "open") \(app)")
        await applied()
        state.withLock { $0.guarded[app] = guarded }
    }

    func forget(_ app: AppID) async {
        note("forget \(app)")
        await applied()
        state.withLock { $0.guarded[app] = nil }
    }

    func synchronised(_ apps: Set<AppID>) async -> Bool {
        note("synchronised")
        await applied()
        return true
    }

    func answer(_ launch: HeldLaunch, allow: Bool) {
        state.withLock { state in
            state.actions.append("answer \(launch.number) \(allow ? "allow" : "deny")")
            state.answers[launch.number] = allow
        }
    }

    func protect(process: Int32) { note("protect \(process)") }

    func order(_ order: InstanceOrderKind, app: AppID) { note("\(order) \(app)") }
}

/// Apps by name, each with one executable; a test can change them.
actor TestResolver: AppResolver {
    private var apps: [String: ResolvedApp] = [:]
    private var isHeld = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ apps: [ResolvedApp]) { self.apps = Dictionary(uniqueKeysWithValues: apps.map { ($0.id.rawValue, $0) }) }

    private var essential: Set<String> = []

    func put(_ app: ResolvedApp, named reference: String? = nil, isEssential: Bool = false) {
        apps[reference ?? app.id.rawValue] = app
        if isEssential { essential.insert(reference ?? app.id.rawValue) }
    }

    func hold() { isHeld = true }

    func release() {
        isHeld = false
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    func resolve(_ references: [String], user: UInt32) async -> [Result<ResolvedApp, ControlError>] {
        if isHeld { await withCheckedContinuation { waiting.append($0) } }
        return references.map { reference in
            if reference == "bash" || essential.contains(reference) {
                return .failure(ControlError(.essential, "\(reference) is needed by the system."))
            }
            guard let app = apps[reference] ?? apps.values.first(where: { $0.name == reference }) else {
                return .failure(ControlError(.noSuchApp, "There is no \(reference)."))
            }
            return .success(app)
        }
    }

    func installed(user: UInt32) async -> (apps: [ResolvedApp], problems: [String]) {
        (apps.values.sorted { $0.id < $1.id }, [])
    }

    func lockable(user: UInt32) async -> [OtherApp] {
        apps.values.map { OtherApp(id: $0.id.rawValue, name: $0.name) }
    }

    func icons(named names: [String: String], user: UInt32) async -> [RemoteIcon] {
        names.map { app, name in RemoteIcon(app: app, type: "image/png", data: Data(name.utf8)) }
    }
}

struct TestDirectory: ProcessDirectory {
    func userName(_ user: UInt32) -> String? { "user\(user)" }
    func processName(_ process: Int32) -> String? { "process\(process)" }
    /// A process number is its owner's number times 1,000, plus a small number.
    func owner(of process: Int32) -> UInt32? { UInt32(process / 1_000) }
    /// Processes 7 to 9 of any user belong to a login of alice.
    func loginUser(of process: Int32) -> UInt32? { 7...9 ~= process ? alice.user : nil }
}
