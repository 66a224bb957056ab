import Foundation
import HubAPI
import HubStore
import SealedFormats

/// Checks that need no access to the store.
enum Check {
    /// The largest integer that the databases can store.
    static let largestNumber = UInt64(Int64.max)

    static func collection(_ name: String) throws {
        guard RecordDecision.isCollection(name) else {
            throw HubError(.badRequest, "A collection's name is 1 to 32 characters of a-z and \"-\".")
        }
    }

    static func bytes(_ data: Data, _ count: Int, _ name: String) throws {
        guard data.count == count else {
            throw HubError(.badRequest, "\(name) has \(data.count) bytes instead of \(count).")
        }
    }

    static func bytes(_ data: Data, _ range: ClosedRange<Int>, _ name: String) throws {
        guard range.contains(data.count) else {
            throw HubError(
                data.count > range.upperBound ? .tooLarge : .badRequest,
                "\(name) has \(data.count) bytes; it must have \(range.lowerBound) to \(range.upperBound).")
        }
    }

    static func number(_ number: UInt64, upTo largest: UInt64 = largestNumber, _ name: String) throws {
        guard (1...largest).contains(number) else {
            throw HubError(.badRequest, "\(name) is not a number from 1 to \(largest).")
        }
    }

    static func range(_ number: Int, _ range: ClosedRange<Int>, _ name: String) throws {
        guard range.contains(number) else {
            throw HubError(.badRequest, "\(name) is \(number); it must be \(range.lowerBound) to \(range.upperBound).")
        }
    }

    /// Collections that only computers may write.
    static let ofComputers: Set<String> = ["status", "apps", "icons", "events", "requests", "intruders"]
    /// Collections that only devices that administer may write.
    static let ofAdministrators: Set<String> = ["keys", "devices"]
    static let commands = "commands"

    static func record(_ record: HubRecord, from device: StoredDevice) throws {
        try collection(record.collection)
        try number(record.revision, "The record's revision")
        guard record.replaces ?? 0 < record.revision else {
            throw HubError(.badRequest, "A record replaces a revision below its own.")
        }
        try bytes(record.signature, 64, "The record's signature")
        if let sealed = record.sealed {
            try bytes(sealed, 1...HubRecord.maximumSealedBytes, "The record's sealed")
        }
        guard record.blobs.count <= HubRecord.maximumBlobs, Set(record.blobs).count == record.blobs.count else {
            throw HubError(.badRequest, "A record names at most \(HubRecord.maximumBlobs) blobs, each once.")
        }
        if let version = record.replacedVersion { try bytes(version, RecordVersion.length, "replacedVersion") }
        if let ancestors = record.ancestors { try bytes(ancestors, 0...HubRecord.maximumAncestors, "ancestors") }
        guard record.author == device.id else {
            throw HubError(.forbidden, "The record's author is not the device of this token.")
        }
        if ofComputers.contains(record.collection), device.role != .computer {
            throw HubError(.forbidden, "Only computers write \"\(record.collection)\".")
        }
        if ofAdministrators.contains(record.collection), !device.role.administers {
            throw HubError(.forbidden, "Only devices that may admit others write \"\(record.collection)\".")
        }
        if record.collection == commands, (record.revision == 1) != device.role.isCompanion {
            throw HubError(
                .forbidden, "A companion writes revision 1 of a command; computers write the later ones.")
        }
    }
}
