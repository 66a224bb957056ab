import Household
import HubAPI
import SealedFormats
import Sync
import Synchronization

/// A companion's part of the sync engine: it keeps every record of the household, and always has its vault keys.
actor CompanionSyncDelegate: SyncDelegate {
    private let hub: any HubConnection
    private var secrets: HouseholdSecrets
    private var roster: Roster
    private var owners = VaultOwners()
    private(set) var reports: [String] = []

    /// What happens while the engine, after `connect`, reads that there is still no session. Nil: there is one.
    private var whenFounded: (@Sendable () async -> Void)?
    private var isConnecting = false

    init(hub: any HubConnection, secrets: HouseholdSecrets, roster: Roster) {
        (self.hub, self.secrets, self.roster) = (hub, secrets, roster)
    }

    /// There is no session until the engine has tried to connect and found none once more.
    func beginWithoutSession(whenFounded: @escaping @Sendable () async -> Void) { self.whenFounded = whenFounded }

    // MARK: The household

    var session: SyncSession? {
        get async {
            guard let whenFounded else { return requireSession() }
            if isConnecting {
                self.whenFounded = nil
                await whenFounded()
            }
            return nil
        }
    }
    func requireSession() -> SyncSession { SyncSession(hub: hub, secrets: secrets, roster: roster) }
    func connect() -> Bool {
        isConnecting = true
        return false
    }

    func followRoster() async throws -> Roster {
        var longer = roster
        if try await longer.follow(hub), longer.head.number > roster.head.number { roster = longer }
        return roster
    }

    func finishRevocation() {}
    func answerOthers(upTo number: UInt64) {}
    func deviceJoined() {}
    func leaveIfRevoked() -> Bool { false }
    func departing() -> Set<ItemID> { [] }

    // MARK: Records

    func keepsRecords() -> @Sendable (_ vault: ItemID) -> Bool { { _ in true } }
    nonisolated func use(of record: CheckedRecord) -> RecordUse { .keep }

    func ingestKeys(_ record: CheckedRecord) throws {
        guard DeviceKeys.isFor(secrets.device, id: record.name.id, author: record.author.id),
            let sealed = record.sealed
        else { return }
        let ring = try DeviceKeys.open(sealed, as: record.name, with: secrets.boxKey)
        try secrets.add(
            owners.accept(
                ring, from: record.author.id, known: secrets.ring, members: Set(roster.members.map(\.id))))
    }

    nonisolated func received(_ records: [CheckedRecord]) {}
    nonisolated func vaultRecordsReceived() {}
    nonisolated func sent(_ record: HubRecord) {}

    nonisolated func waitsForNewestKeys() -> String { "It waits for the newest keys." }

    func resealed(_ record: StoredRecord, revision: UInt64) throws -> StoredRecord {
        let bytes = try open(record)
        return try seal(bytes, record.name.id, revision: revision, in: record.name.vault)
    }

    func open(_ record: StoredRecord) throws -> [UInt8] {
        let envelope = try RecordEnvelope(bytes: record.sealed ?? [])
        guard let key = secrets.ring.key(.vault, vault: record.name.vault, epoch: envelope.wrapEpoch) else {
            throw RecordRefusal.unreadable
        }
        return [UInt8](try envelope.open(as: record.name, vaultKey: key))
    }

    func seal(_ note: [UInt8], _ id: ItemID, revision: UInt64, in vault: ItemID) throws -> StoredRecord {
        guard let entry = secrets.ring.current(.vault, vault: vault) else { throw RecordRefusal.unreadable }
        let name = RecordName(vault: vault, collection: .notes, id: id, revision: revision)
        let envelope = try RecordEnvelope(sealing: note, as: name, vaultKey: entry.key, epoch: entry.epoch)
        return StoredRecord(name: name, epoch: entry.epoch, author: secrets.device, sealed: envelope.bytes)
    }

    // MARK: Reports

    nonisolated func connectionChanged(isConnected: Bool) {}
    nonisolated func caughtUp() {}
    func report(_ sentence: String) { reports.append(sentence) }
    func reportLoss(_ sentence: String) { reports.append(sentence) }
    nonisolated func sentence(for error: any Error) -> String { "\(error)" }
    nonisolated func sentence(afterSendingAgain count: Int) -> String { "\(count) records were sent again." }
}

/// A replica in memory. If a record was changed here and at the hub, the hub's version stays and the local one becomes
/// a conflict.
actor MemoryStore: SyncStore {
    private struct Key: Hashable {
        let collection: RecordCollection
        let id: ItemID
    }

    private struct Entry {
        var record: StoredRecord
        var known: KnownRevision?
        /// Versions that the hub had; the last one is its current version.
        var versions: [UInt8] = []
        /// The number of its line in the outbox, if it has one.
        var line: Int64?
    }

    private var documents: [String: [UInt8]] = [:]
    private var entries: [Key: Entry] = [:]
    private var household: [Key: HubRecord] = [:]
    private var queue: [QueuedRecord] = []
    private var setAside: [StoredRecord] = []
    private var lastNumber: Int64 = 0
    nonisolated let outboxChanges: AsyncStream<Void>
    private let outboxChanged: AsyncStream<Void>.Continuation

    init() { (outboxChanges, outboxChanged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    private func key(_ record: HubRecord) -> Key {
        Key(collection: RecordCollection(rawValue: record.collection)!, id: record.id.item)
    }

    private func key(_ name: RecordName) -> Key { Key(collection: name.collection, id: name.id) }

    private func nextNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Documents and records

    func document(_ name: String) -> [UInt8]? { documents[name] }
    func save(_ bytes: [UInt8], as name: String) { documents[name] = bytes }

    private func save(_ changed: [String: [UInt8]?]) {
        for (name, bytes) in changed { documents[name] = bytes }
    }

    func records(in collection: RecordCollection) -> [StoredRecord] {
        entries.values.map(\.record).filter { $0.name.collection == collection && $0.sealed != nil }
    }

    func records(in collection: RecordCollection, ids: [ItemID]) -> [StoredRecord] {
        records(in: collection).filter { ids.contains($0.name.id) }
    }

    func stamps(in collection: RecordCollection) -> [ItemID: RecordStamp] {
        Dictionary(uniqueKeysWithValues: records(in: collection).map { ($0.name.id, RecordStamp(of: $0)) })
    }

    func record(_ collection: RecordCollection, _ id: ItemID) -> StoredRecord? {
        entries[Key(collection: collection, id: id)]?.record
    }

    func blobsOfRecords() -> Set<ItemID> { Set(entries.values.flatMap(\.record.blobs)) }
    func isOfRecord(blob: ItemID) -> Bool { blobsOfRecords().contains(blob) }
    func pruneEarlierVersions(at time: Double) {}

    func eraseAll() {
        (documents, entries, household, queue) = ([:], [:], [:], [])
    }

    func write(_ change: StateChange) {
        save(change.documents)
        for record in change.records {
            let number = nextNumber()
            entries[key(record.name), default: Entry(record: record)].record = record
            entries[key(record.name)]?.line = number
        }
        queue += change.household.map { QueuedRecord(number: nextNumber(), record: $0) }
        outboxChanged.yield()
    }

    func write(_ change: StateChange, resolving conflicts: [StoredRecord]) {
        setAside.removeAll { conflicts.contains($0) }
        write(change)
    }

    // MARK: Out

    func queued(limit: Int) -> [QueuedRecord] { Array(queue.prefix(limit)) }
    func unqueue(_ numbers: [Int64]) { queue.removeAll { numbers.contains($0.number) } }
    func unqueue(_ records: [HubRecord]) { queue.removeAll { records.contains($0.record) } }

    func outbox(limit: Int, but excluded: Set<Int64>) -> [OutboxLine] {
        entries.values.compactMap { entry in
            guard let line = entry.line, !excluded.contains(line) else { return nil }
            return OutboxLine(
                number: line, record: entry.record, replaces: entry.known?.atHub ?? 0, ancestors: entry.versions)
        }
        .sorted { $0.number < $1.number }.prefix(limit).map { $0 }
    }

    func overwrite(_ line: OutboxLine, as record: StoredRecord, known: KnownRevision, version: [UInt8]) {
        guard var entry = entries[key(record.name)], entry.line == line.number else { return }
        (entry.record, entry.known) = (record, known)
        entry.versions += version
        entries[key(record.name)] = entry
    }

    func acknowledge(_ line: OutboxLine, sequence: UInt64, author: ItemID?) {
        guard var entry = entries[key(line.record.name)] else { return }
        if entry.line == line.number { entry.line = nil }
        entry.known = KnownRevision(revision: line.record.name.revision, sequence: sequence)
        entry.versions += line.record.version
        entries[key(line.record.name)] = entry
    }

    func forgetKnown(_ collection: RecordCollection, _ id: ItemID) {
        let key = Key(collection: collection, id: id)
        guard let known = entries[key]?.known else { return }
        entries[key]?.known = KnownRevision(revision: known.revision, sequence: 0, atHub: 0)
    }

    func beginComparing(of device: ItemID, documents: [String: [UInt8]?]) {
        for key in entries.keys { forgetKnown(key.collection, key.id) }
        for key in household.keys { household[key]?.sequence = nil }
        save(documents)
    }

    func endComparing(documents: [String: [UInt8]?]) -> Int {
        for (key, entry) in entries where entry.known?.atHub == 0 && entry.line == nil {
            entries[key]?.line = nextNumber()
        }
        save(documents)
        outboxChanged.yield()
        return entries.values.count { $0.line != nil }
    }

    func newestSequence() -> UInt64 {
        max(
            entries.values.compactMap(\.known?.sequence).max() ?? 0, household.values.compactMap(\.sequence).max() ?? 0)
    }

    func waitingCount() -> Int { queue.count + entries.values.count { $0.line != nil } }

    // MARK: In

    func known(_ collection: RecordCollection, _ id: ItemID) -> KnownRevision? {
        let key = Key(collection: collection, id: id)
        return RecordCheck.isOfHousehold(collection)
            ? household[key].map { KnownRevision(revision: $0.revision, sequence: $0.sequence ?? 0) }
            : entries[key]?.known
    }

    func ingest(_ incoming: IncomingChange) {
        for received in incoming.vaultRecords { ingest(received) }
        for record in incoming.householdRecords where record.revision > household[key(record)]?.revision ?? 0 {
            household[key(record)] = record
        }
        save(incoming.documents)
    }

    private func ingest(_ received: IncomingRecord) {
        let (key, version) = (key(received.record.name), received.record.version)
        var entry = entries[key] ?? Entry(record: received.record)
        let known = KnownRevision(revision: received.record.name.revision, sequence: received.sequence)
        let isOlder = RecordVersion.versions(in: entry.versions).dropLast().contains(version)
        if entry.known?.isCompared == false, isOlder || entry.record.version == version {
            // A restored hub has this version, or an ancestor of the local one.
            if isOlder { entry.line = nextNumber() }
        } else {
            if entry.line != nil, entry.record.version != version { setAside.append(entry.record) }
            (entry.record, entry.line) = (received.record, nil)
        }
        entry.known = known
        entry.versions += version
        entries[key] = entry
    }

    func conflicts() -> [StoredRecord] { setAside }

    /// The household's records of a collection.
    func householdRecords(in collection: RecordCollection) -> [HubRecord] {
        household.filter { $0.key.collection == collection }.map(\.value)
    }
}
