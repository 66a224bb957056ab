import Foundation
import Household
import SealedFormats
import WireProtocol

/// Keeps this computer and the hub alike: what was written here goes there, in order and once; what others wrote comes here,
/// checked.
///
/// The hub is believed nothing. What it serves that no honest hub would is counted, shown, and told the owner.
actor SyncService {
    let household: HouseholdService
    let store: any SyncStore
    let blobs: any BlobStore
    let time: any TimeSource
    let log: ActivityLog
    /// Told whether a phone can be reached.
    private let judge: LaunchJudge
    private var backoff: Backoff
    /// Commands for this computer, in the order in which they came.
    let commands: AsyncStream<CheckedRecord>
    private let commandReceived: AsyncStream<CheckedRecord>.Continuation

    // MARK: State, for the connection

    private(set) var isConnected = false {
        didSet { judge.update { [isConnected] in $0.isHubConnected = isConnected } }
    }
    private(set) var problem: String?
    private(set) var lastSync: Double?
    var recordsAtHub = 0
    private(set) var refused = 0
    /// What the owner has to know of the hub, a sentence each; the same once.
    private(set) var misbehaviour: [String] = []
    private static let maximumMisbehaviour = 20
    /// How often the hub's store turned out to be another one.
    var comparisons = 0
    /// Up to here the hub was read; on disk it may be a little behind.
    var cursor: UInt64 = 0
    /// The hub's newest sequence number, as it said when this connection began: a page that ends before it is not the last one.
    private var reportedSequence: UInt64 = 0
    /// The reading of the stream, cut short when there is another hub.
    private var reading: Task<Void, any Error>?
    private var nap: Task<Void, Never>?
    /// Told when the connection opens.
    private var onConnected: (@Sendable () async -> Void)?
    /// Told when records of vaults came.
    private var onTaken: (@Sendable () async -> Void)?

    // MARK: State, for what goes out

    var fresh: [HubRecord] = []
    var freshDocuments: [String: [UInt8]?] = [:]
    /// How many are no longer fresh and not yet on disk.
    var unwritten = 0
    /// Sent, and still on disk.
    var delivered: [HubRecord] = []
    /// Something may wait on disk.
    var hasBacklog = true
    /// Lines of the outbox that can't be sent just now, by their numbers, and why: one sentence each.
    var parked: [Int64: String] = [:]
    let queueSignal = Signal()
    let outboxSignal = Signal()

    init(
        household: HouseholdService, store: any SyncStore, blobs: any BlobStore, time: any TimeSource,
        log: ActivityLog, judge: LaunchJudge, backoff: Backoff = Backoff()
    ) {
        self.judge = judge
        self.household = household
        self.store = store
        self.blobs = blobs
        self.time = time
        self.log = log
        self.backoff = backoff
        (commands, commandReceived) = AsyncStream.makeStream()
    }

    func tell(connected: @escaping @Sendable () async -> Void, taken: @escaping @Sendable () async -> Void) {
        onConnected = connected
        onTaken = taken
    }

    // MARK: The connection

    /// Keeps in touch with the hub until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keepConnected() }
            group.addTask { await self.household.followJoining() }
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

    /// Another hub, or none: what is under way with the one before ends.
    func sessionChanged() {
        (refused, misbehaviour, recordsAtHub, lastSync, problem) = (0, [], 0, nil, nil)
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
                    if let error = error as? RosterMisbehaviour { await misbehaved(error.description) }
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

    /// Whether the hub does not know this computer any more, because another computer revoked it.
    private func isRevoked(_ error: any Error) async -> Bool {
        guard (error as? HubError)?.code == .unauthorized else { return false }
        return (try? await household.forgetWhereItWasPutOut()) == true
    }

    /// One connection, from its beginning to its end.
    private func read(_ session: HouseholdService.Session) async throws {
        let hub = session.hub
        reportedSequence = 0
        try await household.followRoster()
        do {
            try await household.finishRevocation()
        } catch let error as HubError {
            // Told again at the next connection; meanwhile everything else goes on.
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
            // The stream ends with the store that it is of. What was read before it may have been of an earlier one.
            if case .open = item {
                guard try await hub.household().generations == report.generations else {
                    throw HubUnreachable(.offline, "The hub was started anew meanwhile.")
                }
                // An entry that was added before the stream was open is not announced on it.
                if try await household.followRoster().head.number > number { try await rosterChanged(hub) }
            }
            try await received(item, hub)
        }
    }

    /// Reads everything that the hub has, also while no stream is open.
    func readUpToDate() async throws {
        guard let hub = await household.session?.hub else { return }
        try await loadCursor()
        try await readPages(hub, isCompared: false)
    }

    /// - Parameter isCompared: the hub's store was found to be the one that was read before, so fewer records are its fault.
    private func readPages(_ hub: any HubConnection, isCompared: Bool = true) async throws {
        while true {
            // The stream, and another reading, move the cursor on meanwhile.
            let (asked, before) = (cursor, comparisons)
            let page = try await hub.records(after: asked)
            guard before == comparisons else {
                throw HubUnreachable(.offline, "The hub's store was found replaced meanwhile.")
            }
            // Taken as complete, this page would lose the last records of revoked devices.
            guard page.next >= asked, page.more || page.next >= reportedSequence else {
                if isCompared { await misbehaved("fewer records than before") }
                throw HubUnreachable(.notUnderstood, "The hub served fewer records than before.")
            }
            try await receive(page.records)
            // A hub that turns in a circle is not followed.
            guard page.next > cursor || !page.more else { break }
            cursor = max(cursor, page.next)
            if !page.more { break }
        }
        try await saveCursor()
    }

    private func received(_ item: HubStreamItem, _ hub: any HubConnection) async throws {
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
        // First: from the answer on, records of devices that the roster revokes are refused.
        try await readPages(hub)
        try await household.answerOthers(upTo: number)
        // What was refused by an older list of devices may be taken now.
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
        await onConnected?()
    }

    // MARK: What comes in

    /// Checks records and takes them over, all in one transaction with how far the hub was read.
    /// - Parameter areNext: they follow what was read before. What was written between that and a conflict is still to be read.
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
            // What other computers tell the companions.
            case .status, .apps, .events, .requests: break
            // Of another computer's vault, or of one that a phone keeps to itself: nothing here opens it.
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
            if !incoming.vaultRecords.isEmpty { await onTaken?() }
        }
        for command in commands { commandReceived.yield(command) }
    }

    /// Nil: nothing is to be taken over.
    private func checked(_ record: HubRecord) async throws -> CheckedRecord? {
        guard let session = await household.session, let collection = RecordCollection(rawValue: record.collection)
        else {
            await refuse(.malformed, record)
            return nil
        }
        let isOwn = record.author == session.device
        // What this computer wrote comes back to it; of a vault's record it is how a lost answer is made good.
        if isOwn, RecordCheck.isOfHousehold(collection) { return nil }
        let known = try await store.known(collection, record.id.item)
        let isCompared = known?.isCompared ?? true
        let newest = isCompared ? known?.revision ?? 0 : 0
        if let known, isCompared, record.revision <= known.revision {
            // It was under way while a newer one was written. Later than that one it must not come.
            if record.revision < known.revision, record.sequence ?? 0 > known.sequence, known.sequence > 0 {
                await refuse(.notNewer, record)
            }
            return nil
        }
        do {
            return try RecordCheck(session.roster).check(record, known: newest)
        } catch .unknownAuthor {
            // Somebody may have been admitted a moment ago; or revoked.
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
        await misbehaved("\(refusal)")
    }

    /// - Parameter what: what it was that the hub served.
    func misbehaved(_ what: String) async { await report("The hub served \(what); it was refused.") }

    /// For the owner, in the status and the log; the same once.
    func report(_ sentence: String) async {
        guard !misbehaviour.contains(sentence), misbehaviour.count < Self.maximumMisbehaviour else { return }
        misbehaviour.append(sentence)
        await log.note(.hubMisbehaved, sentence)
    }

    // MARK: For people

    func status() async throws -> HubStatus {
        let session = await household.session
        // Before the store is asked: what it is given meanwhile counts twice rather than not at all.
        let inMemory = fresh.count + unwritten
        return HubStatus(
            url: session?.settings.url, household: session?.roster.household.description,
            device: household.signingKey.publicKey.id.description, connected: isConnected, lastSync: lastSync,
            records: recordsAtHub, waiting: session == nil ? 0 : try await store.waitingCount() + inMemory,
            problem: session == nil ? await household.putOut : problem ?? parkedSentence, refused: refused,
            misbehaviour: misbehaviour,
            conflicts: try await store.conflicts().count, revoking: await household.revocation?.name,
            joining: await household.joining?.report.sentence)
    }

    private var parkedSentence: String? {
        guard let first = parked.min(by: { $0.key < $1.key })?.value else { return nil }
        return parked.count == 1 ? first : "\(parked.count) records can't be sent. \(first)"
    }

    /// This computer got keys of another vault: what was passed over of it is read now.
    func readAgain() async throws {
        guard await household.session != nil else { return }
        cursor = 0
        try await saveCursor()
        reading?.cancel()
    }

    /// Asks the hub how much it keeps; what it said last where it can't be asked.
    func refreshCounts() async {
        guard isConnected, let report = try? await household.session?.hub.household() else { return }
        recordsAtHub = report.records
    }

    func disconnected(_ error: any Error) { problem = ControlError(hub: error).message }

    func lastSynced() { lastSync = time.wallClock() }
}

/// Wakes one waiting task; raised while nobody waits, it wakes the next at once.
final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func raise() { continuation.yield() }
    func finish() { continuation.finish() }
    /// For one reader.
    var raised: AsyncStream<Void> { stream }
}
