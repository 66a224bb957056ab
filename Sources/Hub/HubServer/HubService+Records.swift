import Foundation
import HTTPTypes
import HubAPI
import HubStore

extension HubService {
    static let maximumPageRecords = 1_000
    /// The limit of sealed bytes on one page; a single record may exceed it.
    static let maximumPageBytes = 2 << 20

    func records(_ request: HubRequest) async throws -> HubReply {
        let after = try request.number("after", default: 0)
        let limit = try request.number("limit", default: 256)
        try Check.number(limit, "The query's limit")
        let household = try request.knownDevice().household
        let count = min(Int(limit), Self.maximumPageRecords)
        let bytes = try await store.recordBytes(
            of: household, after: after, limit: count, maximumBytes: Self.maximumPageBytes)
        try request.share.growToEncode(bytes)
        let page = try await metrics.timing("page") {
            try await store.records(
                of: household, after: after, limit: count, maximumBytes: Self.maximumPageBytes)
        }
        return try .json(page)
    }

    func record(_ request: HubRequest) async throws -> HubReply {
        let collection = request.parameters["collection"] ?? ""
        try Check.collection(collection)
        let household = try request.knownDevice().household
        let id = try request.id()
        try request.share.growToEncode(try await store.recordBytes(collection, id, of: household))
        guard let record = try await store.record(collection, id, of: household) else {
            throw HubError(.notFound, "There is no such record.")
        }
        return try .json(record)
    }

    func writeRecord(_ request: HubRequest) async throws -> HubReply {
        let replaced = try Self.replacedRevision(request.headers)
        let record = try request.message(HubRecord.self)
        guard record.collection == request.parameters["collection"], record.id == (try request.id()) else {
            throw HubError(.badRequest, "The record in the body is not the one that the path names.")
        }
        try Check.number(record.revision, "The record's revision")
        guard record.revision - 1 == replaced else {
            throw HubError(
                .badRequest, "If-Match is \(replaced); revision \(record.revision) replaces \(record.revision - 1).")
        }
        let outcome = try await write([record], from: request.knownDevice())[0]
        if let error = outcome.error { throw error }
        if let current = outcome.conflict { throw RecordConflict(current: current) }
        return try .json(outcome)
    }

    /// Parses `If-Match: "N"`, or `If-None-Match: *`, which is 0 (RFC 9110 section 13.1).
    static func replacedRevision(_ headers: HTTPFields) throws -> UInt64 {
        if headers[.ifNoneMatch]?.trimmingWhitespace() == "*", headers[.ifMatch] == nil { return 0 }
        guard let text = headers[.ifMatch]?.trimmingWhitespace(), text.count >= 3, text.hasPrefix("\""),
            text.hasSuffix("\"")
        else {
            throw HubError(
                .badRequest,
                "This needs If-Match: \"N\", the revision that it replaces, or If-None-Match: * for a new one.")
        }
        return try HubRequest.number(String(text.dropFirst().dropLast()), "If-Match")
    }

    func writeRecords(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(HubWriteRequest.self)
        guard (1...HubWriteRequest.maximumRecords).contains(message.records.count) else {
            throw HubError(.badRequest, "1 to \(HubWriteRequest.maximumRecords) records can be written at once.")
        }
        let device = try request.knownDevice()
        try limits.count(records: message.records.count, of: device)
        return try .json(HubWriteAnswer(outcomes: try await write(message.records, from: device)))
    }

    /// Writes records independently: one that is refused doesn't affect the others.
    private func write(_ records: [HubRecord], from device: StoredDevice) async throws -> [HubWriteOutcome] {
        var outcomes = [HubWriteOutcome?](repeating: nil, count: records.count)
        var (signed, writable): ([(index: Int, record: HubRecord)], [(index: Int, record: HubRecord)]) = ([], [])
        for (index, record) in records.enumerated() {
            do {
                try Check.record(record, from: device)
                try await authors.check(record, by: device)
                signed.append((index, record))
            } catch let error as HubError {
                outcomes[index] = HubWriteOutcome(error: error)
            }
        }
        let named = Set(signed.flatMap(\.record.blobs))
        let complete = named.isEmpty ? [] : try await store.completeBlobs(named, of: device.household)
        for (index, var record) in signed {
            do {
                try await quotas.reserve(Self.added(by: record), for: device.household)
                guard complete.isSuperset(of: record.blobs) else { throw HubError.incompleteBlob }
                record.sequence = nil
                writable.append((index, record))
            } catch let error as HubError {
                outcomes[index] = HubWriteOutcome(error: error)
            }
        }
        if !writable.isEmpty {
            let written = try await metrics.timing("write") {
                try await store.write(writable.map(\.record), household: device.household, at: time.seconds())
            }
            guard written.count == writable.count else {
                throw HubError(.failed, "The store's sequence of records is damaged.")
            }
            for (outcome, entry) in zip(written, writable) { outcomes[entry.index] = outcome }
            metrics.wrote(records: written.count { $0.sequence != nil })
        }
        return outcomes.map { $0 ?? HubWriteOutcome(error: HubError(.failed, "The record was skipped.")) }
    }

    /// An upper bound in bytes. A removal adds nothing: a tombstone counts no more than the record that it replaces.
    private static func added(by record: HubRecord) -> UInt64 {
        let isRemoval = record.sealed == nil && record.replaces ?? record.revision - 1 > 0
        return isRemoval ? 0 : UInt64(RecordDecision.bytes(of: record))
    }
}
