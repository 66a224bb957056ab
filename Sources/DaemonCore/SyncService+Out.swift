import Foundation
import Household
import SealedFormats
import WireProtocol

// What goes out, in two lanes that don't wait for each other: records of the household, which are news, and records of
// vaults, which may have large content.
extension SyncService {
    private static let batch = 128
    private static let batchBytes = 4 << 20
    /// So much content at most lies at the hub without its records.
    private static let batchContentBytes = 16 << 20

    /// Has records of the household sent, and written to disk meanwhile; after those that were given before.
    /// - Parameter documents: written in the same transaction.
    func submit(_ records: [HubRecord], documents: [String: [UInt8]?] = [:]) {
        fresh += records
        freshDocuments.merge(documents) { $1 }
        queueSignal.raise()
    }

    /// Records were queued on disk.
    func queued() {
        hasBacklog = true
        queueSignal.raise()
    }

    // MARK: The household's

    /// News don't wait for the disk: they go to both at once where nothing older waits. Killed in between, they are sent
    /// again, which changes nothing: the very same record has been written.
    func sendQueue() async {
        for await _ in queueSignal.raised {
            while await sendQueuedBatch() {}
            if Task.isCancelled { return }
            // The hub did not take everything although it is there: a limit, or a moment of trouble.
            if hasBacklog, isConnected { raiseLater(queueSignal) }
        }
    }

    /// - Returns: whether there may be more to do at once.
    private func sendQueuedBatch() async -> Bool {
        if !fresh.isEmpty {
            await sendFresh()
            return !fresh.isEmpty || hasBacklog || !delivered.isEmpty
        }
        if !delivered.isEmpty {
            let batch = delivered
            delivered = []
            // Where it can't be written they are sent once more after the next start.
            try? await store.unqueue(batch)
            return !fresh.isEmpty || hasBacklog
        }
        guard hasBacklog, isConnected, let session = await household.session else { return false }
        // Before the store is asked: what is queued while it answers counts.
        hasBacklog = false
        do {
            let lines = try await store.queued(limit: Self.batch)
            guard !lines.isEmpty else { return !fresh.isEmpty || hasBacklog }
            hasBacklog = true
            let taken = Self.fitting(lines.map(\.record))
            let settled = try await deliver(Array(taken), to: session)
            try await store.unqueue(zip(lines, settled).filter(\.1).map(\.0.number))
            // The hub does not want to just now: it is tried again at the next connection, or with the next news.
            return settled.contains(true)
        } catch {
            hasBacklog = true
            disconnected(error)
            return false
        }
    }

    private func sendFresh() async {
        let batch = Array(Self.fitting(fresh))
        fresh.removeFirst(batch.count)
        unwritten = batch.count
        var change = StateChange(documents: freshDocuments)
        freshDocuments = [:]
        change.household = batch
        let session = await household.session
        guard let session, isConnected, !hasBacklog else {
            hasBacklog = true
            if session == nil { unwritten = 0 } else { await keep(change) }
            return
        }
        async let kept: Void = keep(change)
        let settled = try? await deliver(batch, to: session)
        await kept
        let left = settled.map { zip(batch, $0).filter { !$0.1 }.map(\.0) } ?? batch
        if !left.isEmpty { hasBacklog = true }
        delivered += settled.map { zip(batch, $0).filter(\.1).map(\.0) } ?? []
    }

    private func keep(_ change: StateChange) async {
        defer { unwritten = 0 }
        do {
            try await store.write(change)
        } catch {
            await log.note(.eventsLost, "News for other devices could not be written (\(error)).")
        }
    }

    private static func fitting(_ records: [HubRecord]) -> ArraySlice<HubRecord> {
        var bytes = 0
        let count = records.prefix { record in
            bytes += (record.sealed?.count ?? 0) * 4 / 3 + 1_024
            return bytes <= batchBytes
        }.count
        return records.prefix(min(max(count, 1), batch))
    }

    /// - Returns: for each record whether it is settled: written, or never to be written.
    private func deliver(_ records: [HubRecord], to session: HouseholdService.Session) async throws -> [Bool] {
        var outcomes = try await session.hub.write(records)
        lastSynced()
        // Where the hub has nothing of a record any more, after a restored backup, it begins anew there.
        let missing = outcomes.indices.filter { outcomes[$0].error?.code == .conflict }
        try await resend(records, replacing: missing.map { ($0, 0) }, to: session.hub, &outcomes)
        // An older state of what this computer wrote, after a restored backup, gives way.
        var older: [(index: Int, revision: UInt64)] = []
        for (index, outcome) in outcomes.enumerated() {
            guard let conflict = outcome.conflict, isOlder(conflict, than: records[index], session) else { continue }
            older.append((index, conflict.revision))
        }
        try await resend(records, replacing: older, to: session.hub, &outcomes)
        var settled: [Bool] = []
        for (record, outcome) in zip(records, outcomes) {
            if let conflict = outcome.conflict {
                // The hub has another state than this computer thought, as after a restored backup: the next one goes on
                // from there.
                settled.append(try await adopt(conflict, insteadOf: record, session))
            } else if let error = outcome.error {
                settled.append(await isFinal(error, of: record.collection))
            } else {
                settled.append(true)
            }
        }
        return settled
    }

    /// Sends some of the records once more, each in place of this revision at the hub, and takes over their outcomes.
    private func resend(
        _ records: [HubRecord], replacing places: [(index: Int, revision: UInt64)], to hub: any HubConnection,
        _ outcomes: inout [HubWriteOutcome]
    ) async throws {
        guard !places.isEmpty else { return }
        let again = places.map { place in
            var record = records[place.index]
            record.replaces = place.revision
            return record
        }
        for (place, outcome) in zip(places, try await hub.write(again)) { outcomes[place.index] = outcome }
    }

    private func isOlder(_ stored: HubRecord, than record: HubRecord, _ session: HouseholdService.Session) -> Bool {
        stored.collection == record.collection && stored.id == record.id && stored.revision < record.revision
            && stored.author == session.device
    }

    /// - Returns: false where the record is to be sent again, because the conflict is none.
    private func adopt(
        _ conflict: HubRecord, insteadOf record: HubRecord, _ session: HouseholdService.Session
    ) async throws -> Bool {
        guard conflict.collection == record.collection, conflict.id == record.id else {
            await misbehaved("a conflict with another record")
            return false
        }
        do throws(RecordRefusal) {
            _ = try RecordCheck(session.roster).check(conflict, known: 0)
        } catch {
            await misbehaved("a conflict with a record that nobody wrote")
            return error != .wrongSignature
        }
        guard conflict.revision >= record.revision else { return !isOlder(conflict, than: record, session) }
        var incoming = IncomingChange()
        incoming.householdRecords = [conflict]
        try await store.take(incoming)
        return true
    }

    private func isFinal(_ error: HubError, of collection: String) async -> Bool {
        switch error.code {
        case .unavailable, .tooMany, .quotaExceeded, .failed, .unauthorized, .forbidden:
            disconnected(error)
            return false
        default:
            await log.note(.eventsLost, "The hub refused a record of \(collection): \(error.message)")
            return true
        }
    }

    // MARK: Vaults'

    func sendOutbox() async {
        for await _ in outboxSignal.raised {
            do {
                while isConnected, try await sendOutboxBatch() {}
            } catch {
                disconnected(error)
                raiseLater(outboxSignal)
            }
            if Task.isCancelled { return }
        }
    }

    /// The connection may be fine for others: the next attempt comes by itself.
    private func raiseLater(_ signal: Signal) {
        Task { [time] in
            _ = try? await time.sleep(for: .seconds(5))
            signal.raise()
        }
    }

    private func sendOutboxBatch() async throws -> Bool {
        guard let session = await household.session else { return false }
        let lines = try await store.outbox(limit: 64, but: Set(parked.keys))
        guard !lines.isEmpty else { return false }
        var batch: [(line: OutboxLine, record: HubRecord)] = []
        var (bytes, contentBytes) = (0, UInt64(0))
        for line in lines {
            bytes += (line.record.sealed?.count ?? 0) * 4 / 3 + 1_024
            if !batch.isEmpty, bytes > Self.batchBytes || contentBytes > Self.batchContentBytes { break }
            do {
                // Of a record that the hub has, it has the content.
                guard let sent = line.replaces > 0 ? 0 : try await upload(line.record, to: session.hub) else {
                    // Nobody has its content, so nobody could look at it.
                    try await store.acknowledge(line, sequence: 0)
                    continue
                }
                contentBytes += sent
            } catch {
                try park(line, error)
                continue
            }
            var record = session.secrets.sign(
                line.record.name, epoch: line.record.epoch, sealed: line.record.sealed,
                blobs: line.record.sealed == nil ? [] : line.record.blobs, replaces: line.replaces)
            record.ancestors = Data(line.ancestors.suffix(HubRecord.maximumAncestors))
            record.replacedVersion = line.replacedVersion.map { Data($0) }
            batch.append((line, record))
        }
        guard !batch.isEmpty else { return true }
        let before = comparisons
        var outcomes = try await session.hub.write(batch.map(\.record))
        lastSynced()
        try await resendWithContent(batch, to: session.hub, &outcomes)
        // Another store answers meanwhile: what the one before had counts no more.
        guard before == comparisons else { return true }
        for (entry, outcome) in zip(batch, outcomes) {
            if let sequence = outcome.sequence {
                try await store.acknowledge(entry.line, sequence: sequence)
            } else if let conflict = outcome.conflict {
                do {
                    try await settle(entry.line, conflict)
                } catch {
                    try park(entry.line, error)
                }
            } else if outcome.error?.code == .conflict {
                // The hub has nothing of it any more: it is sent as new.
                try await store.forgetKnown(entry.line.record.name.collection, entry.line.record.name.id)
            } else if let error = outcome.error {
                try park(entry.line, error)
            }
        }
        return true
    }

    /// One line that can't be sent waits beside the others, which go on: until the next connection, or for a while.
    /// - Throws: the error, where it is of the connection or of this computer as a whole.
    func park(_ line: OutboxLine, _ error: any Error) throws {
        switch error {
        case is CancellationError: throw error
        case let error as HubUnreachable where error.code != .notUnderstood: throw error
        case let error as HubError where [.unauthorized, .tooMany, .unavailable].contains(error.code): throw error
        default: break
        }
        parked[line.number] = "A record of \(line.record.name.collection.rawValue): \(ControlError(hub: error).message)"
        guard parked.count == 1 else { return }
        Task { [time] in
            _ = try? await time.sleep(for: .seconds(300))
            self.unpark()
        }
    }

    func unpark() {
        guard !parked.isEmpty else { return }
        parked = [:]
        outboxSignal.raise()
    }

    /// The hub has another revision than this computer thought.
    private func settle(_ line: OutboxLine, _ conflict: HubRecord) async throws {
        guard conflict.id == HubID(line.record.name.id), conflict.collection == line.record.name.collection.rawValue
        else {
            await misbehaved("a conflict with another record")
            throw HubUnreachable(.notUnderstood, "The hub answered for another record than it was sent.")
        }
        let own = line.record
        if conflict.revision == own.name.revision, conflict.sealed.map({ [UInt8]($0) }) == own.sealed {
            // Another device sent the very same again, as to a restored hub, or removed it too. Under that device's signature it lies there:
            // once the device is removed, this computer signs it anew.
            return try await store.acknowledge(line, sequence: conflict.sequence ?? 0, author: conflict.author.item)
        }
        let known = try await store.known(own.name.collection, own.name.id)
        let before = known?.atHub ?? 0
        try await receive([conflict], areNext: false)
        if try await store.known(line.record.name.collection, line.record.name.id) != known { return }
        // An earlier version of what is here, under a revision as high as this one's.
        if before == conflict.revision, line.record.name.revision <= before {
            return try await overwrite(line, conflict)
        }
        // Without progress this would be tried for ever.
        guard conflict.revision > before, let roster = await household.session?.roster,
            (try? RecordCheck(roster).check(conflict, known: before)) == nil
        else { throw HubUnreachable(.notUnderstood, "The hub refuses a record without a reason that holds.") }
        try await overwrite(line, conflict)
    }

    /// The hub has a record that nobody takes: of a device that was revoked since, or of no device at all. Nothing of it is
    /// kept, and what waits here takes its place.
    private func overwrite(_ line: OutboxLine, _ conflict: HubRecord) async throws {
        var record = line.record
        if record.name.revision <= conflict.revision {
            let (next, isTooFar) = conflict.revision.addingReportingOverflow(1)
            guard !isTooFar, next <= HubRecord.maximumNumber else {
                throw HubError(.conflict, "The record at the hub has the last of all revisions; write it anew.")
            }
            if record.sealed == nil {
                record.name.revision = next
            } else {
                guard let resealed = try await household.vault.openKeys()?.resealed(record, revision: next) else {
                    throw ControlError(.vaultLocked, "It is sent once the vault is open.")
                }
                record = resealed
            }
        }
        try await store.overwrite(
            line, as: record, known: KnownRevision(revision: conflict.revision, sequence: conflict.sequence ?? 0),
            version: RecordVersion.digest(revision: conflict.revision, sealed: conflict.sealed.map { [UInt8]($0) }))
    }
}
