import Household
public import HubAPI
import SealedFormats

/// Keeps a device and the hub equal: local changes are sent in order and once, received records are checked and
/// stored.
///
/// The hub is untrusted. Invalid hub responses are counted and reported to the owner.
public actor SyncEngine {
    let delegate: any SyncDelegate
    let store: any SyncStore
    let blobs: any BlobStore
    let time: any WallClock
    private var backoff: Backoff

    // MARK: State of the connection

    public private(set) var isConnected = false {
        didSet { delegate.connectionChanged(isConnected: isConnected) }
    }
    private var problem: String?
    /// The last failure to reach the hub for content, and until when, since boot, it counts for other content too.
    var contentOutage: (error: HubUnreachable, end: Duration)?
    var lastSync: Double?
    var recordsAtHub = 0
    private var refused = 0
    /// Reports about the hub for the owner, one sentence each, without repetition.
    public private(set) var protocolViolations: [String] = []
    private static let maximumProtocolViolations = 20
    /// How often the hub's store was found to be another one.
    var comparisons = 0
    /// The sequence number up to which the hub was read; the stored one may be a little behind.
    var cursor: UInt64 = 0
    /// The hub's newest sequence number when this connection began. A page that ends before it is not the last one.
    private var reportedSequence: UInt64 = 0
    /// The task that reads the stream; cancelled when the hub changes.
    private var reading: Task<Void, any Error>?
    private var nap: Task<Void, Never>?
    /// Since the delegate was last asked for its session, which may be another one now.
    private var householdHasChanged = false

    // MARK: State of sending

    var fresh: [HubRecord] = []
    var freshDocuments: [String: [UInt8]?] = [:]
    /// How many are no longer fresh and not yet on disk.
    var unwritten = 0
    /// Records that were sent and are still queued on disk.
    var delivered: [HubRecord] = []
    /// Records may be queued on disk.
    var hasBacklog = true
    /// Lines of the outbox that can't be sent now, by number, with the reason as a sentence.
    var parked: [Int64: String] = [:]
    let queueSignal = Signal()
    let outboxSignal = Signal()

    public init(
        delegate: any SyncDelegate, store: any SyncStore, blobs: any BlobStore, time: any WallClock,
        backoff: Backoff = Backoff(first: .milliseconds(500), longest: .seconds(60))
    ) {
        self.delegate = delegate
        self.store = store
        self.blobs = blobs
        self.time = time
        self.backoff = backoff
    }

    // MARK: The connection

    /// Keeps a connection to the hub until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keepConnected() }
            group.addTask { await self.sendQueue() }
            group.addTask { await self.sendOutbox() }
            group.addTask {
                for await _ in self.store.outboxChanges { self.outboxSignal.raise() }
            }
            await group.next()
            group.cancelAll()
            queueSignal.finish()
            outboxSignal.finish()
        }
    }

    /// Another hub, or none: the work with the previous one ends.
    public func householdChanged() {
        (refused, protocolViolations, recordsAtHub, lastSync, problem) = (0, [], 0, nil, nil)
        householdHasChanged = true
        reading?.cancel()
        nap?.cancel()
    }

    private func keepConnected() async {
        while !Task.isCancelled {
            var wait = Duration.seconds(3_600)
            householdHasChanged = false
            let session = await delegate.session
            if householdHasChanged { continue }
            if let session {
                defer { isConnected = false }
                let reading = Task { try await read(session) }
                self.reading = reading
                do {
                    try await withTaskCancellationHandler {
                        try await reading.value
                    } onCancel: {
                        reading.cancel()
                    }
                    problem = "The hub closed the connection."
                } catch is CancellationError {
                    problem = nil
                } catch {
                    problem = delegate.sentence(for: error)
                    if let error = error as? RosterViolation { await reportProtocolViolation(error.description) }
                    if await isRevoked(error) { continue }
                }
                wait = reading.isCancelled ? .zero : backoff.next()
            } else {
                let triesAgain = await delegate.connect()
                if await delegate.session != nil { continue }
                // What it connects to may not answer yet.
                if triesAgain { wait = .seconds(2) }
            }
            if householdHasChanged { continue }
            let nap = Task { [time, end = time.elapsed() + wait] in _ = try? await time.sleep(until: end) }
            self.nap = nap
            await withTaskCancellationHandler {
                await nap.value
            } onCancel: {
                nap.cancel()
            }
        }
    }

    /// Whether the hub rejects this device because a computer revoked it.
    private func isRevoked(_ error: any Error) async -> Bool {
        guard (error as? HubError)?.code == .unauthorized else { return false }
        return (try? await delegate.leaveIfRevoked()) == true
    }

    /// One connection, from its beginning to its end.
    private func read(_ session: SyncSession) async throws {
        let hub = session.hub
        reportedSequence = 0
        try await delegate.followRoster()
        do {
            try await delegate.finishRevocation()
        } catch let error as HubError {
            // It is sent again at the next connection; everything else continues.
            problem = error.message
        }
        try await loadCursor()
        let report = try await hub.household()
        try await compareStores(report, session)
        reportedSequence = report.sequence
        let number = await delegate.session?.roster.head.number ?? 0
        try await readPages(hub)
        try await endComparing()
        try await delegate.answerOthers(upTo: number)
        for try await item in try await hub.stream(after: cursor) {
            try Task.checkCancellation()
            // A stream ends when its store is replaced. What was read before may be from an earlier store.
            if case .open = item {
                guard try await hub.household().generations == report.generations else {
                    throw HubUnreachable(.offline, "The hub was restarted meanwhile.")
                }
                // An entry that was added before the stream was open is not announced on it.
                if try await delegate.followRoster().head.number > number { try await rosterChanged(hub) }
            }
            try await handle(item, hub)
        }
    }

    /// Returns when everything that the hub had is here. Works also while no stream is open.
    ///
    /// - Throws: what the connection throws.
    public func readUpToDate() async throws {
        guard let hub = await delegate.session?.hub else { return }
        try await loadCursor()
        try await readPages(hub, isCompared: false)
    }

    /// - Parameter isCompared: the hub's store is known to be the same as before, so fewer records are a violation.
    private func readPages(_ hub: any HubConnection, isCompared: Bool = true) async throws {
        while true {
            // The stream, or another reading, may advance the cursor meanwhile.
            let (asked, before) = (cursor, comparisons)
            let page = try await hub.records(after: asked)
            guard before == comparisons else {
                throw HubUnreachable(.offline, "The hub's store was replaced; it is compared again.")
            }
            // Accepted as complete, this page would lose the last records of revoked devices.
            guard page.next >= asked, page.more || page.next >= reportedSequence else {
                if isCompared { await reportProtocolViolation("fewer records than before") }
                throw HubUnreachable(.notUnderstood, "The hub returned fewer records than before.")
            }
            try await receive(page.records)
            // Stops if the hub's pages make no progress.
            guard page.next > cursor || !page.more else { break }
            cursor = max(cursor, page.next)
            if !page.more { break }
        }
        try await saveCursor()
    }

    private func handle(_ item: HubStreamItem, _ hub: any HubConnection) async throws {
        switch item {
        case .open: break
        case .record(let record):
            try await receive([record])
            if let sequence = record.sequence { cursor = max(cursor, sequence) }
        case .large(let sequence):
            if let record = try await hub.record(at: sequence) { try await receive([record]) }
            cursor = max(cursor, sequence)
        case .roster: try await rosterChanged(hub)
        case .join: await delegate.deviceJoined()
        case .live(let sequence):
            cursor = max(cursor, sequence)
            await wentLive()
        }
    }

    private func rosterChanged(_ hub: any HubConnection) async throws {
        let number = try await delegate.followRoster().head.number
        // Read first: after the answer, records of devices that the roster revokes are refused.
        try await readPages(hub)
        try await delegate.answerOthers(upTo: number)
        // Lines that an older roster kept from being sent may be sent now.
        unpark()
    }

    private func wentLive() async {
        isConnected = true
        parked = [:]
        problem = nil
        backoff.succeeded()
        lastSync = time.wallClock()
        queueSignal.raise()
        outboxSignal.raise()
        delegate.caughtUp()
    }

    func refuse(_ refusal: RecordRefusal, _ record: HubRecord) async {
        refused += 1
        await reportProtocolViolation("\(refusal)")
    }

    /// - Parameter what: what the hub returned.
    public func reportProtocolViolation(_ what: String) async {
        await report("The hub returned \(what); it was refused.")
    }

    /// Reports a sentence to the owner once, in the status and the log.
    func report(_ sentence: String) async {
        guard
            !protocolViolations.contains(sentence), protocolViolations.count < Self.maximumProtocolViolations
        else { return }
        protocolViolations.append(sentence)
        await delegate.report(sentence)
    }

    // MARK: For people

    public var state: SyncState {
        SyncState(
            isConnected: isConnected, problem: problem ?? parkedSentence, lastSync: lastSync,
            recordsAtHub: recordsAtHub, inMemory: fresh.count + unwritten, refused: refused,
            protocolViolations: protocolViolations)
    }

    private var parkedSentence: String? {
        guard let first = parked.min(by: { $0.key < $1.key })?.value else { return nil }
        return parked.count == 1 ? first : "\(parked.count) records can't be sent. \(first)"
    }

    /// Keys of another vault were added: its records, which were skipped, are read now.
    public func readAgain() async throws {
        guard await delegate.session != nil else { return }
        cursor = 0
        try await saveCursor()
        reading?.cancel()
    }

    /// Updates the number of records at the hub, if it can be reached.
    public func refreshCounts() async {
        guard isConnected, let report = try? await delegate.session?.hub.household() else { return }
        recordsAtHub = report.records
    }

    func disconnected(_ error: any Error) { problem = delegate.sentence(for: error) }

    func lastSynced() { lastSync = time.wallClock() }
}
