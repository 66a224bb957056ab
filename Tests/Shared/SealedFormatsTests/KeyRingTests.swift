import Testing

@testable import SealedFormats

struct KeyRingTests {
    @Test func aRingIsOpenedAsItWasSealed() throws {
        let (ring, root) = (FormatSamples.ring(), FormatSamples.key())
        let opened = try KeyRing(sealed: ring.sealed(under: root), rootKey: root)
        #expect(opened.entries.map(\.kind) == ring.entries.map(\.kind))
        #expect(opened.entries.map(\.vault) == ring.entries.map(\.vault))
        #expect(opened.entries.map(\.epoch) == ring.entries.map(\.epoch))
        #expect(opened.entries.map(\.key) == ring.entries.map(\.key))
        let other = FormatSamples.key()
        #expect(try refusal { try KeyRing(sealed: ring.sealed(under: root), rootKey: other) } == .wrongKey)
    }

    @Test func theHighestEpochOfTheVaultIsCurrentAndOlderOnesAreFound() {
        let (vault, other) = (ItemID.random(), ItemID.random())
        var ring = KeyRing([])
        let keys = (0..<4).map { _ in FormatSamples.key() }
        for (index, epoch) in [UInt32(2), 300, 1].enumerated() {
            ring.add(KeyRing.Entry(kind: .vault, vault: vault, epoch: epoch, key: keys[index]))
        }
        ring.add(KeyRing.Entry(kind: .inbox, vault: vault, epoch: 900, key: keys[3]))
        #expect(ring.current(.vault, vault: vault)?.epoch == 300)
        #expect(ring.current(.vault, vault: vault)?.key == keys[1])
        #expect(ring.key(.vault, vault: vault, epoch: 1) == keys[2])
        #expect(ring.key(.vault, vault: vault, epoch: 3) == nil)
        #expect(ring.current(.vault, vault: other) == nil)
        #expect(ring.current(.device, vault: vault) == nil)
    }

    /// A ring with duplicate keys would be refused when it is opened.
    @Test func aKeyAddedTwiceIsStoredOnce() throws {
        var ring = FormatSamples.ring()
        for entry in ring.entries { ring.add(entry) }
        #expect(ring.entries.count == 4)
        #expect(try KeyRing(plaintext: ring.plaintext).entries.count == 4)
    }

    @Test func theLargestRingFits() throws {
        let (vault, key, root) = (ItemID.random(), FormatSamples.key(), FormatSamples.key())
        let ring = KeyRing((1...4_096).map { KeyRing.Entry(kind: .vault, vault: vault, epoch: $0, key: key) })
        let opened = try KeyRing(sealed: ring.sealed(under: root), rootKey: root)
        #expect(opened.entries.count == 4_096)
        #expect(opened.current(.vault, vault: vault)?.epoch == 4_096)
    }

    /// A backup, or an old box, may contain the maximum number of other keys.
    @Test func moreKeysThanTheMaximumAreRefused() throws {
        let (vault, key) = (ItemID.random(), FormatSamples.key())
        func ring(_ epochs: ClosedRange<UInt32>) -> KeyRing {
            KeyRing(epochs.map { KeyRing.Entry(kind: .vault, vault: vault, epoch: $0, key: key) })
        }
        var own = ring(1...2_048)
        try own.addMissing(of: ring(1_000...4_096))
        #expect(own.entries.count == KeyRing.maximumEntries)
        try own.addMissing(of: ring(1...4_096))
        let (full, last) = (own, ring(.max ... .max))
        #expect(try refusal { try full.adding(last.entries) } == .tooLarge)
        #expect(try refusal { try last.adding(full.entries) } == .tooLarge)
    }

    /// A ring with two keys of one name would be refused when it is opened.
    @Test func anExistingKeyIsNotReplaced() throws {
        let ring = FormatSamples.ring()
        let others = ring.entries.map {
            KeyRing.Entry(kind: $0.kind, vault: $0.vault, epoch: $0.epoch, key: FormatSamples.key())
        }
        #expect(try ring.adding(others).entries.map(\.key) == ring.entries.map(\.key))
    }

    @Test func everyTruncationIsRefused() throws {
        let root = FormatSamples.key()
        let sealed = FormatSamples.ring().sealed(under: root)
        for length in 0..<sealed.count {
            let code = try refusal { try KeyRing(sealed: Array(sealed[..<length]), rootKey: root) }
            #expect(code == (length < 69 ? .malformed : .damaged))
        }
        let plaintext = FormatSamples.ring().plaintext.withUnsafeBytes { Array($0) }
        for length in 0..<plaintext.count {
            #expect(try refusal { try KeyRing(plaintext: secret(plaintext[..<length])) } == .malformed)
        }
    }
}
