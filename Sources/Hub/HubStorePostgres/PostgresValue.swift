import CPostgreSQL
import Foundation
import HubAPI
import HubStore

/// A parameter of a statement, in PostgreSQL's binary form.
enum PostgresValue {
    case integer(Int64?)
    case text(String?)
    case bytes(Data?)
    /// As uuid.
    case id(HubID?)
    case flag(Bool)
    case integers([Int64])
    case texts([String])
    case ids([HubID])
    /// As bytea[].
    case byteRows([Data?])

    static func number(_ value: UInt64) -> PostgresValue { .integer(Int64(clamping: value)) }

    /// - Returns: false for NULL; nothing is appended then.
    func append(to buffer: inout [UInt8]) -> Bool {
        switch self {
        case .integer(nil), .text(nil), .bytes(nil), .id(nil): return false
        case .integer(let value?): buffer.append(bigEndian: value)
        case .text(let value?): buffer.append(contentsOf: value.utf8)
        case .bytes(let value?): buffer.append(contentsOf: value)
        case .id(let value?): buffer.append(contentsOf: value.bytes)
        case .flag(let value): buffer.append(value ? 1 : 0)
        case .integers(let values): Self.append(values, of: 20, to: &buffer) { $1.append(bigEndian: $0) }
        case .texts(let values): Self.append(values, of: 25, to: &buffer) { $1.append(contentsOf: $0.utf8) }
        case .ids(let values): Self.append(values, of: 2_950, to: &buffer) { $1.append(contentsOf: $0.bytes) }
        case .byteRows(let values): Self.append(values, of: 17, to: &buffer) { $1.append(contentsOf: $0) }
        }
        return true
    }

    /// An array of one dimension (PostgreSQL's array_send): dimensions, whether there are NULLs, the elements' type,
    /// count, lower bound, and each element after its length.
    private static func append<Element>(
        _ values: [Element?], of type: Int32, to buffer: inout [UInt8], _ body: (Element, inout [UInt8]) -> Void
    ) {
        buffer.append(bigEndian: Int32(values.isEmpty ? 0 : 1))
        buffer.append(bigEndian: Int32(values.contains { $0 == nil } ? 1 : 0))
        buffer.append(bigEndian: type)
        guard !values.isEmpty else { return }
        buffer.append(bigEndian: Int32(values.count))
        buffer.append(bigEndian: Int32(1))
        for value in values {
            let place = buffer.count
            buffer.append(bigEndian: Int32(-1))
            guard let value else { continue }
            body(value, &buffer)
            let length = Int32(buffer.count - place - 4)
            withUnsafeBytes(of: length.bigEndian) { buffer.replaceSubrange(place..<(place + 4), with: $0) }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

/// The result of a statement, in PostgreSQL's binary form; freed with the value.
final class PostgresRows: Sequence {
    fileprivate let result: OpaquePointer

    /// Owns the result from now on.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }
    var first: PostgresRow? { count > 0 ? PostgresRow(rows: self, index: 0) : nil }

    /// How many rows an INSERT, UPDATE or DELETE changed.
    var changed: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    func makeIterator() -> AnyIterator<PostgresRow> {
        var index: Int32 = 0
        return AnyIterator { [self] in
            guard index < PQntuples(result) else { return nil }
            defer { index += 1 }
            return PostgresRow(rows: self, index: index)
        }
    }
}

struct PostgresRow {
    fileprivate let rows: PostgresRows
    fileprivate let index: Int32

    private func value(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(rows.result, index, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(rows.result, index, column), count: Int(PQgetlength(rows.result, index, column)))
    }

    func isNull(_ column: Int32) -> Bool { PQgetisnull(rows.result, index, column) != 0 }

    func optionalInteger(_ column: Int32) -> Int64? {
        value(column).map { bytes in bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) } }
    }

    /// A bigint; 0 for NULL.
    func integer(_ column: Int32) -> Int64 { optionalInteger(column) ?? 0 }
    func unsigned(_ column: Int32) -> UInt64 { UInt64(clamping: integer(column)) }
    func bytes(_ column: Int32) -> Data? { value(column).map { Data($0) } }
    func text(_ column: Int32) -> String? { value(column).map { String(decoding: $0, as: UTF8.self) } }
    func flag(_ column: Int32) -> Bool { value(column)?.first == 1 }

    /// A uuid.
    /// - Throws: `PostgresError` if it is invalid: the tables were changed by another program.
    func id(_ column: Int32) throws -> HubID {
        guard let id = value(column).flatMap({ HubID(bytes: $0) }) else { throw PostgresRow.unexpected }
        return id
    }

    /// A value that no statement of the hub writes.
    static var unexpected: PostgresError { PostgresError(state: "XX001", message: "unexpected value", isLost: false) }
}
