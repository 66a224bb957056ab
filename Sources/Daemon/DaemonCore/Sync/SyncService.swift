import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

/// Keeps this computer and the hub equal: local changes are sent in order and once, received records are checked and
/// stored.
///
/// The hub is untrusted. Invalid hub responses are counted and reported to the owner.
actor SyncService: HubReader {
    let household: HouseholdService
    let store: any SyncStore
    let blobs: any BlobStore
    let time: any TimeSource
    let log: ActivityLog
    /// Receives whether the hub is connected.
    private let authorizer: LaunchAuthorizer
    private var backoff: Backoff
    /// Commands for this computer, in the order of arrival.
    let commands: AsyncStream<CheckedRecord>
    private let commandReceived: AsyncStream<CheckedRecord>.Continuation

    // MARK: State of the connection

    private(set) var isConnected = false {
        didSet { authorizer.update { [isConnected] in $0.isHubConnected = isConnected } }
    }
    private(set) var problem: String?
    private(set) var lastSync: Double?
    var recordsAtHub = 0
    private(set) var refused = 0
    /// Reports about the hub for the owner, one sentence each, without repetition.
    private(set) var protocolViolations: [String] = []
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
    private let events: DaemonEvents
    private let received: AsyncStream<DaemonEvent>

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

    init(
        household: HouseholdService, store: any SyncStore, blobs: any BlobStore, time: any TimeSource,
        log: ActivityLog, authorizer: LaunchAuthorizer, events: DaemonEvents, backoff: Backoff = Backoff()
    ) {
        self.events = events
        received = events.subscribe()
        self.authorizer = authorizer
        self.household = household
        self.store = store
        self.blobs = blobs
        self.time = time
        self.log = log
        self.backoff = backoff
        (commands, commandReceived) = AsyncStream.makeStream()
    }

    // MARK: The connection

    /// Keeps a connection to the hub until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keepConnected() }
            group.addTask { await self.household.followJoining() }
            group.addTask { await self.followEvents() }
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

    private func followEvents() async {
        for await event in received {
            switch event {
            case .householdChanged: householdChanged()
            case .recordsQueued: queued()
            default: break
            }
        }
    }

    /// Another hub, or none: the work with the previous one ends.
    private func householdChanged() {
        (refused, protocolViolations, recordsAtHub, lastSync, problem) = (0, [], 0, nil, nil)
        reading?.cancel()
        nap?.cancel()
    }

    private func keepConnected() async {
        while !Task.isCancelled {
            var wait = Duration.seconds(3_600)
            if let session = await household.session {
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
                    problem = ControlError(hub: error).message
                    if let error = error as? RosterViolation { await reportProtocolViolation(error.description) }
                    if await isRevoked(error) { continue }
                }
                isConnected = false
                wait = reading.isCancelled ? .zero : backoff.next()
            } else {
                let triesAgain = await household.connectEmbedded()
                if await household.session != nil { continue }
                // The hub of `applocker up` may not answer yet, or there is no passcode yet.
                if triesAgain { wait = .seconds(2) }
            }
            let nap = Task { [time] in _ = try? await time.sleep(for: wait) }
            self.nap = nap
            await withTaskCancellationHandler {
                await nap.value
            } onCancel: {
                nap.cancel()
            }
        }
    }

    /// Whether the hub rejects this computer because another computer revoked it.
    private func isRevoked(_ error: any Error) async -> Bool {
        guard (error as? HubError)?.code == .unauthorized else { return false }
        return (try? await household.leaveIfRevoked()) == true
    }

    /// One connection, from its beginning to its end.
    private func read(_ session: HouseholdService.Session) async throws {
        let hub = session.hub
        reportedSequence = 0
        try await household.followRoster()
        do {
            try await household.finishRevocation()
        } catch let error as HubError {
            // It is sent again at the next connection; everything else continues.
            problem = error.message
        }
        try await loadCursor()
        let report = try await hub.household()
        try await compareStores(report, session)
        reportedSequence = report.sequence
        let number = await household.session?.roster.head.number ?? 0
        try await readPages(hub)
        try await endComparing()
        try await household.answerOthers(upTo: number)
        for try await item in try await hub.stream(after: cursor) {
            try Task.checkCancellation()
            // A stream ends when its store is replaced. What was read before may be from an earlier store.
            if case .open = item {
                guard try await hub.household().generations == report.generations else {
                    throw HubUnreachable(.offline, "The hub was restarted meanwhile.")
                }
                // An entry that was added before the stream was open is not announced on it.
                if try await household.followRoster().head.number > number { try await rosterChanged(hub) }
            }
            try await handle(item, hub)
        }
    }

    /// Works also while no stream is open.
    func readUpToDate() async throws {
        guard let hub = await household.session?.hub else { return }
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
        case .join: await household.deviceJoined()
        case .live(let sequence):
            cursor = max(cursor, sequence)
            await wentLive()
        }
    }

    private func rosterChanged(_ hub: any HubConnection) async throws {
        let number = try await household.followRoster().head.number
        // Read first: after the answer, records of devices that the roster revokes are refused.
        try await readPages(hub)
        try await household.answerOthers(upTo: number)
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
        events.send(.hubConnected)
    }

    // MARK: Receiving

    /// Checks records and stores them in one transaction with the cursor.
    /// - Parameter areNext: they follow the cursor. A conflict does not: records in between are still to be read.
    func receive(_ records: [HubRecord], areNext: Bool = true) async throws {
        var incoming = IncomingChange()
        var commands: [CheckedRecord] = []
        let keeps = try await household.keepsRecords()
        for record in records {
            lastSync = time.wallClock()
            guard let checked = try await checked(record) else { continue }
            switch checked.name.collection {
            case .commands:
                if checked.name.revision == 1 { commands.append(checked) }
            case .keys where await household.isForThisComputer(checked):
                do {
                    try await household.takeKeys(checked)
                    incoming.householdRecords.append(record)
                } catch {
                    await refuse(.unreadable, record)
                }
            case .keys, .devices: incoming.householdRecords.append(record)
            // Records from other computers to companions.
            case .status, .apps, .events, .requests: break
            // A record of another computer's vault, or of a phone's own one: no key here opens it.
            case _ where !keeps(checked.name.vault): break
            default:
                incoming.vaultRecords.append(
                    IncomingRecord(
                        record: StoredRecord(
                            name: checked.name, epoch: checked.epoch, author: checked.author.id, sealed: checked.sealed,
                            blobs: checked.blobs),
                        sequence: checked.sequence, ancestors: checked.ancestors, received: time.wallClock()))
            }
        }
        if !incoming.vaultRecords.isEmpty || !incoming.householdRecords.isEmpty {
            if areNext {
                let last = records.compactMap(\.sequence).max() ?? 0
                incoming.documents[HouseholdDocuments.cursor] = Array(String(max(cursor, last)).utf8)
            }
            try await store.take(incoming)
            if !incoming.vaultRecords.isEmpty { events.send(.vaultRecordsReceived) }
        }
        for command in commands { commandReceived.yield(command) }
    }

    /// Nil: the record is not to be stored.
    private func checked(_ record: HubRecord) async throws -> CheckedRecord? {
        // The household was left meanwhile.
        guard let session = await household.session else { return nil }
        guard let collection = RecordCollection(rawValue: record.collection) else {
            await refuse(.malformed, record)
            return nil
        }
        let isOwn = record.author == session.device
        // The hub also serves this computer's own records. For a vault's record this makes up for a lost reply.
        if isOwn, RecordCheck.isOfHousehold(collection) { return nil }
        let known = try await store.known(collection, record.id.item)
        let isCompared = known?.isCompared ?? true
        let newest = isCompared ? known?.revision ?? 0 : 0
        if let known, isCompared, record.revision <= known.revision {
            // An older record may arrive while a newer one is written, but not with a later sequence number.
            if record.revision < known.revision, record.sequence ?? 0 > known.sequence, known.sequence > 0 {
                await refuse(.notNewer, record)
            }
            return nil
        }
        do {
            return try RecordCheck(session.roster).check(record, known: newest)
        } catch .unknownAuthor {
            // The author may have been admitted or revoked a moment ago.
            let roster = try await household.followRoster()
            let check = RecordCheck(roster, departing: await household.departing())
            if let checked = try? check.check(record, known: newest) { return checked }
            if roster.revoked.contains(record.author.item) { return nil }
            await refuse(.unknownAuthor, record)
        } catch {
            await refuse(error, record)
        }
        return nil
    }

    private func refuse(_ refusal: RecordRefusal, _ record: HubRecord) async {
        refused += 1
        await reportProtocolViolation("\(refusal)")
    }

    /// - Parameter what: what the hub returned.
    func reportProtocolViolation(_ what: String) async { await report("The hub returned \(what); it was refused.") }

    /// Reports a sentence to the owner once, in the status and the log.
    func report(_ sentence: String) async {
        guard
            !protocolViolations.contains(sentence), protocolViolations.count < Self.maximumProtocolViolations
        else { return }
        protocolViolations.append(sentence)
        await log.enqueue(.hubMisbehaved, sentence)
    }

    // MARK: For people

    func status() async throws -> HubStatus {
        let session = await household.session
        // Before the store is read: a record that is written meanwhile counts twice rather than not at all.
        let inMemory = fresh.count + unwritten
        return HubStatus(
            url: session?.settings.url, household: session?.roster.household.description,
            device: household.signingKey.publicKey.id.description, connected: isConnected, lastSync: lastSync,
            records: recordsAtHub, waiting: session == nil ? 0 : try await store.waitingCount() + inMemory,
            problem: session == nil ? await household.revocationNotice : problem ?? parkedSentence, refused: refused,
            misbehaviour: protocolViolations,
            conflicts: try await store.conflicts().count, revoking: await household.revocation?.name,
            joining: await household.joining?.report.sentence)
    }

    private var parkedSentence: String? {
        guard let first = parked.min(by: { $0.key < $1.key })?.value else { return nil }
        return parked.count == 1 ? first : "\(parked.count) records can't be sent. \(first)"
    }

    /// Keys of another vault were added: its records, which were skipped, are read now.
    func readAgain() async throws {
        guard await household.session != nil else { return }
        cursor = 0
        try await saveCursor()
        reading?.cancel()
    }

    /// Updates the number of records at the hub, if it can be reached.
    func refreshCounts() async {
        guard isConnected, let report = try? await household.session?.hub.household() else { return }
        recordsAtHub = report.records
    }

    func disconnected(_ error: any Error) { problem = ControlError(hub: error).message }

    func lastSynced() { lastSync = time.wallClock() }
}
