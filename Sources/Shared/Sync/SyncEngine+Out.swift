import Foundation
import Household
public import HubAPI
import SealedFormats

// Outgoing records, in two independent lanes: those of the household, which are urgent, and those of vaults, which may
// have large content.
extension SyncEngine {
    private static let batch = 128
    private static let batchBytes = 4 << 20
    /// The most bytes of content that are uploaded before their records.
    private static let batchContentBytes = 16 << 20

    /// Sends records of the household, after those that were submitted earlier, and writes them to disk meanwhile.
    /// - Parameter documents: written in the same transaction.
    public func submit(_ records: [HubRecord], documents: [String: [UInt8]?] = [:]) {
        fresh += records
        freshDocuments.merge(documents) { $1 }
        queueSignal.raise()
    }

    /// Records were queued on disk.
    public func queued() {
        hasBacklog = true
        queueSignal.raise()
    }

    // MARK: The household's

    /// Fresh records do not wait for the disk: unless older ones are queued, they are sent and written at the same
    /// time. After a crash in between they are sent again, without effect, because the records are identical.
    func sendQueue() async {
        for await _ in queueSignal.raised {
            while await sendQueuedBatch() {}
            if Task.isCancelled { return }
            // The hub is connected but did not accept everything, because of a limit or a temporary failure.
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
            // If the write fails, they are sent again after the next start.
            try? await store.unqueue(batch)
            return !fresh.isEmpty || hasBacklog
        }
        guard hasBacklog, isConnected, let session = await delegate.session else { return false }
        // Before the store is read, so that records which are queued meanwhile count.
        hasBacklog = false
        do {
            let lines = try await store.queued(limit: Self.batch)
            guard !lines.isEmpty else { return !fresh.isEmpty || hasBacklog }
            hasBacklog = true
            let taken = Self.fitting(lines.map(\.record))
            let settled = try await deliver(Array(taken), to: session)
            try await store.unqueue(zip(lines, settled).filter(\.1).map(\.0.number))
            // If the hub accepted none, they are sent again at the next connection, or with the next record.
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
        let session = await delegate.session
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
            await delegate.reportLoss("Events for other devices could not be written (\(error)).")
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
    private func deliver(_ records: [HubRecord], to session: SyncSession) async throws -> [Bool] {
        var outcomes = try await session.hub.write(records)
        lastSynced()
        // A record that the hub has lost, as after a restored backup, is sent as new.
        let missing = outcomes.indices.filter { outcomes[$0].error?.code == .conflict }
        try await resend(records, replacing: missing.map { ($0, 0) }, to: session.hub, &outcomes)
        // An older revision by this device, as after a restored backup, is replaced.
        var older: [(index: Int, revision: UInt64)] = []
        for (index, outcome) in outcomes.enumerated() {
            guard let conflict = outcome.conflict, isOlder(conflict, than: records[index], session) else { continue }
            older.append((index, conflict.revision))
        }
        try await resend(records, replacing: older, to: session.hub, &outcomes)
        var settled: [Bool] = []
        for (record, outcome) in zip(records, outcomes) {
            if let conflict = outcome.conflict {
                // The hub has another revision than expected, as after a restored backup: the next one continues from
                // it.
                settled.append(try await adopt(conflict, insteadOf: record, session))
            } else if let error = outcome.error {
                settled.append(await isFinal(error, of: record.collection))
            } else {
                settled.append(true)
            }
        }
        return settled
    }

    /// Sends some of the records again, each to replace this revision at the hub, and updates their outcomes.
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

    private func isOlder(_ stored: HubRecord, than record: HubRecord, _ session: SyncSession) -> Bool {
        stored.collection == record.collection && stored.id == record.id && stored.revision < record.revision
            && stored.author == session.device
    }

    /// - Returns: false if the record is to be sent again, because the conflict is invalid.
    private func adopt(
        _ conflict: HubRecord, insteadOf record: HubRecord, _ session: SyncSession
    ) async throws -> Bool {
        guard conflict.collection == record.collection, conflict.id == record.id else {
            await reportProtocolViolation("a conflict with another record")
            return false
        }
        do throws(RecordRefusal) {
            _ = try RecordCheck(session.roster).check(conflict, known: 0)
        } catch {
            await reportProtocolViolation("a conflict with an invalid record")
            return error != .wrongSignature
        }
        guard conflict.revision >= record.revision else { return !isOlder(conflict, than: record, session) }
        var incoming = IncomingChange()
        incoming.householdRecords = [conflict]
        try await store.ingest(incoming)
        return true
    }

    private func isFinal(_ error: HubError, of collection: String) async -> Bool {
        switch error.code {
        case .unavailable, .tooMany, .quotaExceeded, .failed, .unauthorized, .forbidden:
            disconnected(error)
            return false
        default:
            await delegate.reportLoss("The hub refused a record of \(collection): \(error.message)")
            return true
        }
    }

    // MARK: Vaults'

    func sendOutbox() async {
        for await _ in outboxSignal.raised {
            do {
                while isConnected, try await sendOutboxBatch() {}
            } catch is CancellationError {
            } catch {
                disconnected(error)
                raiseLater(outboxSignal)
            }
            if Task.isCancelled { return }
        }
    }

    /// The connection may work for other requests, so this one is tried again later.
    private func raiseLater(_ signal: Signal) {
        Task { [time, end = time.elapsed() + .seconds(5)] in
            _ = try? await time.sleep(until: end)
            signal.raise()
        }
    }

    private func sendOutboxBatch() async throws -> Bool {
        guard let session = await delegate.session else { return false }
        let lines = try await store.outbox(limit: 64, but: Set(parked.keys))
        guard !lines.isEmpty else { return false }
        var batch: [(line: OutboxLine, record: HubRecord)] = []
        var (bytes, contentBytes) = (0, UInt64(0))
        let shared = EpochKeys.vault(of: session.roster.household)
        for line in lines {
            if line.record.name.vault == shared, line.record.isBefore(session.roster.keysEpoch, of: line.ancestors) {
                try park(line, HubUnreachable(.notUnderstood, delegate.waitsForNewestKeys()))
                continue
            }
            bytes += (line.record.sealed?.count ?? 0) * 4 / 3 + 1_024
            if !batch.isEmpty, bytes > Self.batchBytes || contentBytes > Self.batchContentBytes { break }
            do {
                // The hub already has the content of a record that it has.
                guard let sent = line.replaces > 0 ? 0 : try await upload(line.record, to: session.hub) else {
                    // No device could read it, because its content is missing everywhere.
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
        // The hub's store was replaced meanwhile: these outcomes do not count.
        guard before == comparisons else { return true }
        for (entry, outcome) in zip(batch, outcomes) {
            if let sequence = outcome.sequence {
                try await store.acknowledge(entry.line, sequence: sequence)
                await delegate.sent(entry.record)
            } else if let conflict = outcome.conflict {
                do {
                    if try await settle(entry.line, conflict) { await delegate.sent(entry.record) }
                } catch {
                    try park(entry.line, error)
                }
            } else if outcome.error?.code == .conflict {
                // The hub no longer has the record: it is sent as new.
                try await store.forgetKnown(entry.line.record.name.collection, entry.line.record.name.id)
            } else if let error = outcome.error {
                try park(entry.line, error)
            }
        }
        return true
    }

    /// Sets aside a line that can't be sent, until the next connection or for five minutes. The others continue.
    /// - Throws: the error, if it concerns the connection or this device as a whole.
    func park(_ line: OutboxLine, _ error: any Error) throws {
        switch error {
        case is CancellationError: throw error
        case let error as HubUnreachable where error.code != .notUnderstood: throw error
        case let error as HubError where [.unauthorized, .tooMany, .unavailable].contains(error.code): throw error
        default: break
        }
        parked[line.number] = "A record of \(line.record.name.collection.rawValue): \(delegate.sentence(for: error))"
        guard parked.count == 1 else { return }
        Task { [weak self, time, end = time.elapsed() + .seconds(300)] in
            _ = try? await time.sleep(until: end)
            await self?.unpark()
        }
    }

    /// Tries what could not be sent again.
    public func unpark() {
        guard !parked.isEmpty else { return }
        parked = [:]
        outboxSignal.raise()
    }

    /// Resolves a conflict: the hub has another revision than expected.
    /// - Returns: whether that has the same content, so that the line is acknowledged.
    private func settle(_ line: OutboxLine, _ conflict: HubRecord) async throws -> Bool {
        guard conflict.id == HubID(line.record.name.id), conflict.collection == line.record.name.collection.rawValue
        else {
            await reportProtocolViolation("a conflict with another record")
            throw HubUnreachable(.notUnderstood, "The hub answered for the wrong record.")
        }
        let own = line.record
        let roster = await delegate.session?.roster
        if conflict.revision == own.name.revision, conflict.sealed.map({ [UInt8]($0) }) == own.sealed,
            let roster, (try? RecordCheck(roster).check(conflict, known: 0)) != nil
        {
            // Another device sent the same content, as to a restored hub, or removed the record too. The hub has it
            // under that device's signature: once the device is revoked, this computer signs it again.
            try await store.acknowledge(line, sequence: conflict.sequence ?? 0, author: conflict.author.item)
            return true
        }
        let known = try await store.known(own.name.collection, own.name.id)
        let before = known?.atHub ?? 0
        try await receive([conflict], areNext: false)
        if try await store.known(line.record.name.collection, line.record.name.id) != known { return false }
        // The hub has an earlier version, under a revision as high as that of the local one.
        if before == conflict.revision, line.record.name.revision <= before {
            try await overwrite(line, conflict)
            return false
        }
        // Without this check it would be tried for ever.
        guard conflict.revision > before, let roster = await delegate.session?.roster,
            (try? RecordCheck(roster).check(conflict, known: before)) == nil
        else { throw HubUnreachable(.notUnderstood, "The hub refuses a record without a valid reason.") }
        try await overwrite(line, conflict)
        return false
    }

    /// The hub has a record that no device accepts, because its author was revoked or is unknown. It is discarded, and
    /// the local record replaces it.
    private func overwrite(_ line: OutboxLine, _ conflict: HubRecord) async throws {
        var record = line.record
        if record.name.revision <= conflict.revision {
            guard conflict.revision - record.name.revision <= HubRecord.largestStep else {
                await reportProtocolViolation("a conflict with a revision that is too high")
                throw HubUnreachable(.notUnderstood, "The hub refuses a record without a valid reason.")
            }
            let next = conflict.revision + 1
            guard next <= HubRecord.maximumNumber else {
                throw HubError(.conflict, "The record at the hub has the highest possible revision; create a new one.")
            }
            if record.sealed == nil {
                record.name.revision = next
            } else {
                record = try await delegate.resealed(record, revision: next)
            }
        }
        try await store.overwrite(
            line, as: record, known: KnownRevision(revision: conflict.revision, sequence: conflict.sequence ?? 0),
            version: RecordVersion.digest(revision: conflict.revision, sealed: conflict.sealed.map { [UInt8]($0) }))
    }
}

extension StoredRecord {
    /// Whether this is sealed under keys that a device has which left since, and the hub never had it.
    ///
    /// - Parameter ancestors: the versions that the hub had, 16 bytes each.
    fileprivate func isBefore(_ epoch: UInt32, of ancestors: [UInt8]) -> Bool {
        sealed != nil && self.epoch < epoch && !RecordVersion.versions(in: ancestors).contains(version)
    }
}
