import Foundation
import Testing

@testable import SealedFormats

struct LockedFileTests {
    @Test func aHeaderIsReadAndItsNamesAreAuthenticated() throws {
        let (vault, id, key) = (ItemID.random(), ItemID.random(), FormatSamples.key())
        let name = LockedFileHeader.name(vault: vault, id: id)
        let envelope = try RecordEnvelope(sealing: Array("{}".utf8), as: name, vaultKey: key, epoch: 3)
        let bytes = LockedFileHeader(vault: vault, id: id, envelope: envelope).bytes
        #expect(try LockedFileHeader.envelopeLength(inFixed: Array(bytes.prefix(44))) == bytes.count - 44)
        let read = try LockedFileHeader(bytes: bytes)
        #expect(read.vault == vault && read.id == id && read.envelope == envelope && read.bytes == bytes)
        for length in 0..<bytes.count {
            #expect(try refusal { try LockedFileHeader(bytes: Array(bytes[..<length])) } == .malformed)
        }
        #expect(try refusal { try LockedFileHeader(bytes: bytes + [0]) } == .malformed)
        #expect(
            try refusal {
                try read.envelope.open(as: LockedFileHeader.name(vault: id, id: vault), vaultKey: key)
            } == .wrongKey)
    }
}

struct BackupTests {
    @Test func aHeaderIsReadAndEveryTruncationIsRefused() throws {
        let slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        let bytes = BackupHeader(slots: slots).bytes
        #expect(bytes.count == BackupHeader.length && BackupHeader.length == 948)
        #expect(try BackupHeader(bytes: bytes).slots == slots)
        for length in 0..<bytes.count {
            #expect(try refusal { try BackupHeader(bytes: Array(bytes[..<length])) } == .malformed)
        }
        #expect(try refusal { try BackupHeader(bytes: bytes + [0]) } == .malformed)
    }

    @Test func entryHeadersAreParsedStrictly() throws {
        for kind in [BackupEntry.Kind.manifest, .settings, .keyRing, .record, .blob] {
            let entry = BackupEntry(kind: kind, length: 1_000_000)
            #expect(entry.header.count == BackupEntry.headerLength)
            #expect(try BackupEntry(header: entry.header) == entry)
        }
        for kind in UInt8.min...UInt8.max where ![1, 2, 3, 4, 5, 255].contains(kind) {
            #expect(try refusal { try BackupEntry(header: [kind] + [UInt8](repeating: 0, count: 8)) } == .malformed)
        }
        func code(_ kind: BackupEntry.Kind, _ length: UInt64) throws -> SealedFormatsError.Code? {
            try refusal { try BackupEntry(header: BackupEntry(kind: kind, length: length).header) }
        }
        #expect(try code(.record, 32 << 20) == nil)
        #expect(try code(.record, (32 << 20) + 1) == .tooLarge)
        #expect(try code(.manifest, .max) == .tooLarge)
        #expect(try code(.blob, .max) == nil)
        #expect(try code(.blob, 15) == .malformed)
        #expect(try code(.end, 0) == nil)
        #expect(try code(.end, 1) == .malformed)
        for length in 0..<9 {
            #expect(try refusal { try BackupEntry(header: [UInt8](repeating: 1, count: length)) } == .malformed)
        }
    }
}

struct RecoveryCodeTests {
    @Test func newCodesDifferAndAreReadFromTheirPrintedForm() throws {
        var seen: Set<String> = []
        for _ in 0..<200 {
            let code = RecoveryCode()
            let printed = code.printed.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            #expect(printed.utf8.count == 44)
            #expect(printed.split(separator: "-").map(\.count) == Array(repeating: 4, count: 9))
            #expect(try RecoveryCode(text: code.printed).passcode == code.passcode)
            #expect(try RecoveryCode(text: code.passcode).printed == code.printed)
            seen.insert(printed)
        }
        #expect(seen.count == 200)
    }

    /// 20 bits of checksum: one of a million mistakes is not detected.
    @Test func everyMistypedDigitIsDetected() throws {
        let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        let passcode = RecoveryCode().passcode.withUnsafeBytes { Array($0) }
        var unnoticed = 0
        for position in passcode.indices {
            for digit in digits where digit != passcode[position] {
                var mistyped = passcode
                mistyped[position] = digit
                if try refusal({ try RecoveryCode(text: secret(mistyped)) }) != .malformed { unnoticed += 1 }
            }
        }
        #expect(unnoticed <= 1)
    }
}

struct FieldTests {
    @Test func differentListsOfFieldsHaveDifferentBytes() {
        func fields(_ list: [String]) -> [UInt8] {
            var fields = Fields()
            for field in list { fields.add(field) }
            return fields.bytes
        }
        let lists = [[], [""], ["", ""], ["ab"], ["a", "b"], ["b", "a"], ["", "ab"], ["ab", ""], ["a", "", "b"]]
        #expect(Set(lists.map(fields)).count == lists.count)
        #expect(fields(["a", ""]) == [0, 0, 0, 1, 97, 0, 0, 0, 0])
    }

    @Test func numbersAreReadMostSignificantFirstAndNeverPastTheEnd() throws {
        var reader = ByteReader([1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 255, 255], subject: "test")
        let numbers = (try reader.number(UInt8.self), try reader.number(UInt16.self), try reader.number(UInt32.self))
        #expect(numbers == (1, 0x0203, 0x0405_0607))
        let (tooLong, negative) = (
            try refusal { try reader.number(UInt64.self) }, try refusal { try reader.bytes(-1) }
        )
        #expect(tooLong == .malformed && negative == .malformed)
        #expect(reader.remaining == 5)
        let bytes = try reader.bytes(2)
        #expect(bytes == [8, 9])
        let notAtTheEnd = try refusal { try reader.end() }
        #expect(notAtTheEnd == .malformed)
        let rest = reader.rest()
        #expect(rest == [255, 255, 255])
        try reader.end()
        var largest = ByteReader([UInt8](repeating: 255, count: 8), subject: "test")
        let number = try largest.number(UInt64.self)
        #expect(number == .max)
    }

    @Test func idsAreSixteenBytesAndThirtyTwoDigits() throws {
        let id = try #require(ItemID(bytes: Array(UInt8(0)..<16)))
        #expect(id.description == "000102030405060708090a0b0c0d0e0f")
        #expect(id.bytes == Array(0..<16))
        #expect(ItemID(id.description) == id)
        #expect(ItemID(bytes: Data(Array(0..<20))[2..<18])?.bytes == Array(2..<18))
        let text = id.description
        for text in ["", String(text.dropLast()), text + "0", text.uppercased(), " " + text.dropFirst()] {
            #expect(ItemID(text) == nil)
        }
        for count in [0, 15, 17] { #expect(ItemID(bytes: [UInt8](repeating: 0, count: count)) == nil) }
        #expect(try JSONDecoder().decode([ItemID].self, from: JSONEncoder().encode([id])) == [id])
        let ids = (0..<50).map { _ in ItemID.random() }
        #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
    }

    @Test func collectionsAreOneToThirtyTwoLettersOrDashes() {
        for text in ["a", "locked-files", String(repeating: "z", count: 32)] {
            #expect(RecordCollection(rawValue: text)?.rawValue == text)
        }
        for text in ["", String(repeating: "a", count: 33), "A", "a1", "a b", "ä", "a\0", "a_b", "a/b"] {
            #expect(RecordCollection(rawValue: text) == nil)
        }
    }
}
