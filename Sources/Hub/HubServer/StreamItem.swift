import Foundation
import HubAPI
import NIOCore

/// One event of a household's streams, formatted once and shared by all of them (WHATWG HTML, section 9.2.5).
struct StreamItem: Sendable {
    /// The record's sequence number; nil for events that a page of records doesn't contain.
    let sequence: UInt64?
    /// Whether only devices that administer receive it.
    let isForAdministrators: Bool
    let bytes: ByteBuffer

    /// The limit of sealed bytes in an event; a longer record is only announced, and the device fetches it.
    static let maximumSealedBytes = 64 << 10

    static func record(_ record: HubRecord) throws -> StreamItem {
        let sequence = record.sequence ?? 0
        let isLarge = record.sealed?.count ?? 0 > maximumSealedBytes
        let bytes =
            isLarge
            ? event(.large, id: sequence, data: [UInt8](String(sequence).utf8))
            : event(.record, id: sequence, data: [UInt8](try JSONEncoder().encode(record)))
        return StreamItem(sequence: sequence, isForAdministrators: false, bytes: bytes)
    }

    static func roster(_ number: UInt64) -> StreamItem {
        StreamItem(
            sequence: nil, isForAdministrators: false, bytes: event(.roster, id: nil, data: Array(String(number).utf8)))
    }

    static func join(_ invitation: HubID) -> StreamItem {
        StreamItem(
            sequence: nil, isForAdministrators: true,
            bytes: event(.join, id: nil, data: Array(invitation.description.utf8)))
    }

    static func live(_ sequence: UInt64) -> ByteBuffer { event(.live, id: sequence, data: []) }

    static let heartbeat = ByteBuffer(string: ":\n\n")

    private static func event(_ name: HubStreamEvent, id: UInt64?, data: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(data.count + 64)
        buffer.writeString("event: \(name.rawValue)\n")
        if let id { buffer.writeString("id: \(id)\n") }
        buffer.writeString("data: ")
        buffer.writeBytes(data)
        buffer.writeString("\n\n")
        return buffer
    }
}
