import Foundation
import Testing

@testable import SealedFormats

struct RecordEnvelopeTests {
    @Test func bodiesOfEverySizeAreOpened() throws {
        let (name, key) = (FormatSamples.name(), FormatSamples.key())
        for size in Array(0...600) + [4_095, 4_096, 4_097, 65_532, 65_533, 1 << 20] {
            let body = FormatSamples.bytes(size)
            let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: key, epoch: 1)
            let read = try RecordEnvelope(bytes: envelope.bytes)
            #expect(read == envelope)
            let opened = try read.open(as: name, vaultKey: key)
            #expect(opened.startIndex == 0)
            #expect(Array(opened) == body)
        }
    }

    @Test func theLargestBodyFitsAndOneByteMoreIsRefused() throws {
        let (name, key) = (FormatSamples.name(), FormatSamples.key())
        let largest = [UInt8](repeating: 7, count: (16 << 20) - 4)
        let sealed = try RecordEnvelope(sealing: largest, as: name, vaultKey: key, epoch: 1).bytes
        #expect(try RecordEnvelope(bytes: sealed).open(as: name, vaultKey: key).count == largest.count)
        #expect(
            try refusal { try RecordEnvelope(sealing: largest + [7], as: name, vaultKey: key, epoch: 1) } == .tooLarge)
    }

    @Test func everyPartOfTheNameIsAuthenticated() throws {
        let (name, key) = (FormatSamples.name(), FormatSamples.key())
        let envelope = try RecordEnvelope(sealing: [1, 2, 3], as: name, vaultKey: key, epoch: 5)
        let others = [
            FormatSamples.name(collection: name.collection, id: name.id),
            FormatSamples.name(vault: name.vault, collection: .files, id: name.id),
            FormatSamples.name(vault: name.vault, collection: name.collection),
            FormatSamples.name(vault: name.vault, collection: name.collection, id: name.id, revision: 2),
            FormatSamples.name(vault: name.id, collection: name.collection, id: name.vault),
        ]
        for other in others { #expect(try refusal { try envelope.open(as: other, vaultKey: key) } == .wrongKey) }
        #expect(try refusal { try envelope.open(as: name, vaultKey: FormatSamples.key()) } == .wrongKey)
    }

    @Test func aRewrappedRecordOpensOnlyWithTheNewKeyAndKeepsItsBody() throws {
        let (name, old, new) = (FormatSamples.name(), FormatSamples.key(), FormatSamples.key())
        let envelope = try RecordEnvelope(sealing: [1, 2, 3], as: name, vaultKey: old, epoch: 2)
        let rewrapped = try envelope.rewrapped(as: name, from: old, to: new, epoch: 3)
        #expect(rewrapped.wrapEpoch == 3 && rewrapped.bodyEpoch == 2)
        #expect(rewrapped.bytes[128...] == envelope.bytes[128...])
        #expect(rewrapped.bytes[16..<128] != envelope.bytes[16..<128])
        #expect(try Array(rewrapped.open(as: name, vaultKey: new)) == [1, 2, 3])
        #expect(try refusal { try rewrapped.open(as: name, vaultKey: old) } == .wrongKey)
        let again = try rewrapped.rewrapped(as: name, from: new, to: old, epoch: 9)
        #expect(try Array(RecordEnvelope(bytes: again.bytes).open(as: name, vaultKey: old)) == [1, 2, 3])
        #expect(
            try refusal { try rewrapped.rewrapped(as: name, from: new, to: old, epoch: 2) } == .parametersOutOfRange)
        #expect(try refusal { try envelope.rewrapped(as: name, from: new, to: new, epoch: 3) } == .wrongKey)
    }

    @Test func twoEnvelopesOfOneBodyHaveNothingInCommon() throws {
        let (name, key) = (FormatSamples.name(), FormatSamples.key())
        let one = try RecordEnvelope(sealing: [1], as: name, vaultKey: key, epoch: 1).bytes
        let other = try RecordEnvelope(sealing: [1], as: name, vaultKey: key, epoch: 1).bytes
        #expect(zip(one[16...], other[16...]).filter { $0 == $1 }.count < 30)
    }

    @Test func everyTruncationIsRefused() throws {
        let (name, key) = (FormatSamples.name(), FormatSamples.key())
        let sealed = try RecordEnvelope(
            sealing: FormatSamples.bytes(300), as: name, vaultKey: key, epoch: 1
        ).bytes
        for length in 0..<sealed.count {
            let code = try refusal {
                try RecordEnvelope(bytes: Array(sealed[..<length])).open(as: name, vaultKey: key)
            }
            #expect(code == (length < 128 + 256 + 16 ? .malformed : .damaged))
        }
    }
}

struct PaddingTests {
    /// The rule of docs/formats.md again, in floating point.
    @Test func paddedLengthsFollowTheRuleAndAddAtMostTwelvePercent() {
        for count in Array(0...70_000) + [1 << 20, (1 << 20) - 4, (1 << 20) - 3, (16 << 20) - 4] {
            let (length, padded) = (count + 4, Padding.paddedLength(of: count))
            #expect(padded >= length && padded >= 256)
            guard length > 256 else {
                #expect(padded == 256)
                continue
            }
            let exponent = floor(log2(Double(length)))
            let unit = Int(pow(2, exponent - floor(log2(exponent)) - 1))
            #expect(padded == (length + unit - 1) / unit * unit)
            #expect(Double(padded) <= Double(length) * 1.12)
        }
    }

    @Test func paddingOfAnotherFormIsRefused() throws {
        func unpad(_ bytes: some Collection<UInt8>) -> Data? {
            var padded = Data(bytes)
            return Padding.unpad(wiping: &padded)
        }
        let padded = Array(try Padding.pad([1, 2, 3]))
        #expect(unpad(padded) == Data([1, 2, 3]))
        for length in 0..<padded.count { #expect(unpad(padded[..<length]) == nil) }
        #expect(unpad(padded + [UInt8](repeating: 0, count: 16)) == nil)
        for position in 7..<256 { #expect(unpad(padded.flipped(bit: position * 8 + 7)) == nil) }
        #expect(unpad([255, 255, 255, 255] + padded[4...]) == nil)
        #expect(unpad([0, 0, 0, 253] + padded[4...]) == nil)
        #expect(unpad([0, 0, 0, 252] + [UInt8](repeating: 9, count: 252))?.count == 252)
    }

    @Test func paddedBytesAreWiped() throws {
        var padded = try Padding.pad([1, 2, 3])
        let body = try #require(Padding.unpad(wiping: &padded))
        #expect(Array(body) == [1, 2, 3])
        #expect(padded.allSatisfy { $0 == 0 })
    }
}
