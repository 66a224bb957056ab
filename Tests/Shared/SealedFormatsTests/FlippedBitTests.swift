import Foundation
import TestSupport
import Testing

@testable import SealedFormats

/// Random single flipped bits in each format, 500 in every run and 10,000 with APPLOCKER_LONG=1: each is an error, and
/// no plaintext is returned.
struct FlippedBitTests {
    static let times = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil ? 10_000 : 500

    /// Flips one random bit at a time; `open` must throw each time.
    static func flip(
        _ sealed: [UInt8], times: Int = Self.times, test: String = #function, open: ([UInt8]) throws -> Void
    ) throws {
        try open(sealed)
        var generator = RepeatableRandom(ofTest: test)
        for _ in 0..<times {
            let bit = Int.random(in: 0..<sealed.count * 8, using: &generator)
            let code = try refusal { try open(sealed.flipped(bit: bit)) }
            #expect(code != nil, "bit \(bit)")
        }
    }

    @Test func inAnEnvelope() throws {
        let (name, key) = (FormatSamples.name(), FormatSamples.key())
        let sealed = try RecordEnvelope(
            sealing: FormatSamples.bytes(40), as: name, vaultKey: key, epoch: UInt32.max
        ).bytes
        try Self.flip(sealed) { _ = try RecordEnvelope(bytes: $0).open(as: name, vaultKey: key) }
    }

    @Test func inAStream() throws {
        let key = FormatSamples.key()
        let stream = ContentStream(sealing: ContentStreamTests.name, key: key, chunkSize: .kibi64)
        let sealed = SealedContent.seal(FormatSamples.bytes(300), with: stream)
        try Self.flip(sealed) { _ = try SealedContent.open($0, name: ContentStreamTests.name, key: key) }
        let long = SealedContent.seal(FormatSamples.bytes((1 << 17) + 300), with: stream)
        try Self.flip(long, times: Self.times / 100) {
            _ = try SealedContent.open($0, name: ContentStreamTests.name, key: key)
        }
    }

    /// Every slot is used: bits of an unused one have no meaning.
    @Test func inAKeySlotBlock() throws {
        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        let keys = (0..<8).map { _ in FormatSamples.stretchedKey() }
        for (index, key) in keys.enumerated() { slots.set(index, to: FormatSamples.key(), behind: key) }
        let sealed = slots.bytes
        var generator = RepeatableRandom()
        for _ in 0..<Self.times {
            let bit = Int.random(in: 0..<sealed.count * 8, using: &generator)
            guard let changed = try? KeySlots(bytes: sealed.flipped(bit: bit)) else {
                #expect(bit / 8 < 12)
                continue
            }
            // A bit of the header invalidates all slots, a bit of a slot only that one.
            let slot = bit / 8 < 44 ? Int.random(in: 0..<8, using: &generator) : (bit / 8 - 44) / 112
            #expect(changed.open(keys[slot]) == nil, "bit \(bit)")
        }
    }

    @Test func inAKeyRing() throws {
        let root = FormatSamples.key()
        let sealed = FormatSamples.ring().sealed(under: root)
        try Self.flip(sealed) { _ = try KeyRing(sealed: $0, rootKey: root) }
    }

    @Test func inABox() throws {
        let (keys, name) = (BoxKeyPair(), FormatSamples.name())
        let sealed = try PublicKeyBox.seal([1, 2, 3], as: name, to: keys.publicKey)
        try Self.flip(sealed) { _ = try PublicKeyBox.open($0, as: name, with: keys) }
    }

    @Test func inABackupsHeader() throws {
        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        let (passcode, root) = (FormatSamples.stretchedKey(), FormatSamples.key())
        for index in 0..<8 { slots.set(index, to: root, behind: passcode) }
        // Only the first slot is tried, so that no other one opens.
        let sealed = Array(BackupHeader(slots: slots).bytes.prefix(8 + 44 + 112))
        let rest = (0..<784).map { _ in UInt8.random(in: 0...255) }
        try Self.flip(sealed) { bytes in
            guard try BackupHeader(bytes: bytes + rest).slots.open(passcode) != nil else {
                throw SealedFormatsError(.wrongKey, "no slot")
            }
        }
    }

    @Test func inALockedFilesHeader() throws {
        let (vault, id, key) = (ItemID.random(), ItemID.random(), FormatSamples.key())
        let envelope = try RecordEnvelope(
            sealing: [1], as: LockedFileHeader.name(vault: vault, id: id), vaultKey: key, epoch: 1)
        try Self.flip(LockedFileHeader(vault: vault, id: id, envelope: envelope).bytes) { bytes in
            let header = try LockedFileHeader(bytes: bytes)
            _ = try header.envelope.open(
                as: LockedFileHeader.name(vault: header.vault, id: header.id), vaultKey: key)
        }
    }
}
