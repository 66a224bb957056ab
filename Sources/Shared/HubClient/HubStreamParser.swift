import Foundation
import HubAPI
import NIOCore

/// Server-sent events (WHATWG HTML, section 9.2.6) as a hub sends them. Comments, unknown fields and unknown events are
/// passed over.
struct HubStreamParser {
    private var pending: [UInt8] = []
    private var event = ""
    private var id = ""
    private var data: [UInt8] = []
    /// A record is at most 64 KiB there, in base64, with its name around it.
    private static let maximumLineBytes = 1 << 20

    /// - Throws: `HubUnreachable` for what no hub sends.
    mutating func read(_ bytes: some Collection<UInt8>) throws -> [HubStreamItem] {
        pending.append(contentsOf: bytes)
        var items: [HubStreamItem] = []
        var start = pending.startIndex
        while let end = pending[start...].firstIndex(of: UInt8(ascii: "\n")) {
            var line = pending[start..<end]
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if let item = try parse(line) { items.append(item) }
            start = end + 1
        }
        pending.removeSubrange(..<start)
        guard pending.count + data.count <= Self.maximumLineBytes else { throw Self.notUnderstood }
        return items
    }

    /// - Returns: the event, where the line ends one.
    private mutating func parse(_ line: ArraySlice<UInt8>) throws -> HubStreamItem? {
        guard !line.isEmpty else {
            defer { (event, data) = ("", []) }
            return try item()
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = colon == line.endIndex ? [] : line[(colon + 1)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": event = String(decoding: value, as: UTF8.self)
        case "id": id = String(decoding: value, as: UTF8.self)
        case "data": data += value
        default: break
        }
        return nil
    }

    private func item() throws -> HubStreamItem? {
        let text = String(decoding: data, as: UTF8.self)
        switch HubStreamEvent(rawValue: event) {
        case .record:
            guard var record = try? JSONDecoder().decode(HubRecord.self, from: Data(data)) else {
                throw Self.notUnderstood
            }
            if let sequence = UInt64(id) { record.sequence = sequence }
            return .record(record)
        case .large:
            let sequence = try number(id)
            // Such a record is asked for by the number before its own.
            guard sequence > 0 else { throw Self.notUnderstood }
            return .large(sequence: sequence)
        case .live: return try .live(sequence: number(id))
        case .roster: return try .roster(number: number(text))
        case .join:
            guard let id = HubID(text) else { throw Self.notUnderstood }
            return .join(invitation: id)
        case nil: return nil
        }
    }

    private func number(_ text: String) throws -> UInt64 {
        guard let number = UInt64(text) else { throw Self.notUnderstood }
        return number
    }

    private static var notUnderstood: HubUnreachable {
        HubUnreachable(.notUnderstood, "The hub's stream is invalid; update hub and devices to one version.")
    }
}
