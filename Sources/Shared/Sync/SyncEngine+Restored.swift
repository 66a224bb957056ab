import Foundation
import Household
import HubAPI
import SealedFormats

// How far the hub was read. If its store was restored from a backup or replaced, everything is read from the beginning
// and compared, and what the hub no longer has is sent again.
extension SyncEngine {
    func loadCursor() async throws {
        let before = comparisons
        let bytes = try await store.document(SyncDocuments.cursor)
        guard before == comparisons else { return }
        cursor = max(cursor, bytes.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0)
        if bytes == nil { cursor = 0 }
    }

    func saveCursor() async throws {
        var change = IncomingChange()
        change.documents[SyncDocuments.cursor] = Array(String(cursor).utf8)
        try await store.ingest(change)
    }

    func compareStores(_ report: HouseholdReport, _ session: SyncSession) async throws {
        recordsAtHub = report.records
        let served = [UInt8](try JSONEncoder().encode(report.generations))
        let known = try await store.decoded([HubGeneration].self, SyncDocuments.generations)
        let newest = max(cursor, try await store.newestSequence())
        if let known {
            let common = HubHistory.common(
                known: known, newest: newest, served: report.generations, sequence: report.sequence)
            if common < newest {
                try await store.beginComparing(
                    of: session.secrets.device,
                    documents: [
                        SyncDocuments.generations: served, SyncDocuments.comparing: [1],
                        SyncDocuments.cursor: Array("0".utf8),
                    ])
                // After the write: `loadCursor` could otherwise read the old cursor from disk and restore it.
                cursor = 0
                comparisons += 1
                hasBacklog = true
                return
            }
        }
        // Compared as values, because encoded JSON has no defined order of keys.
        if known != report.generations { try await store.save(served, as: SyncDocuments.generations) }
    }

    func endComparing() async throws {
        guard try await store.document(SyncDocuments.comparing) != nil else { return }
        let count = try await store.endComparing(documents: [SyncDocuments.comparing: nil])
        await report(delegate.sentence(afterSendingAgain: count))
    }
}
