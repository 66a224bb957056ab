import Testing

@testable import SealedFormats

struct KeySlotsTests {
    @Test func everySlotOpensWithItsOwnPasscodeAndReturnsItsIndex() {
        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: true)
        let keys = (0..<KeySlots.count).map { _ in (FormatSamples.stretchedKey(), FormatSamples.key()) }
        for (index, (passcode, root)) in keys.enumerated() { slots.set(index, to: root, behind: passcode) }
        for (index, (passcode, root)) in keys.enumerated() {
            let opened = slots.open(passcode)
            #expect(opened?.slot == index)
            #expect(opened?.rootKey == root)
        }
        #expect(slots.open(FormatSamples.stretchedKey()) == nil)
    }

    @Test func theBlockDoesNotRevealHowManySlotsAreUsed() throws {
        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        for used in 0...KeySlots.count {
            #expect(slots.bytes.count == 940)
            #expect(try KeySlots(bytes: slots.bytes) == slots)
            // An empty slot would have too few different byte values in its 112 bytes.
            for slot in slots.slots { #expect(slot.count == 112 && Set(slot).count > 50) }
            #expect(Set(slots.slots).count == KeySlots.count)
            if used < KeySlots.count {
                slots.set(used, to: FormatSamples.key(), behind: FormatSamples.stretchedKey())
            }
        }
    }

    @Test func aClearedSlotDoesNotOpen() {
        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        let (passcode, other) = (FormatSamples.stretchedKey(), FormatSamples.stretchedKey())
        slots.set(0, to: FormatSamples.key(), behind: passcode)
        slots.set(1, to: FormatSamples.key(), behind: other)
        slots.clear(0)
        #expect(slots.open(passcode) == nil)
        #expect(slots.open(other)?.slot == 1)
    }

    @Test func theSameRootKeyLooksDifferentEachTime() {
        let (passcode, root) = (FormatSamples.stretchedKey(), FormatSamples.key())
        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        slots.set(0, to: root, behind: passcode)
        let first = slots.slots[0]
        slots.set(0, to: root, behind: passcode)
        #expect(zip(first, slots.slots[0]).filter { $0 == $1 }.count < 20)
    }

    /// A slot is bound to its block: salt, cost and kind.
    @Test func aSlotMovedToAnotherBlockDoesNotOpen() throws {
        let (passcode, root) = (FormatSamples.stretchedKey(), FormatSamples.key())
        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        slots.set(0, to: root, behind: passcode)
        let other = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        let moved = try KeySlots(bytes: Array(other.bytes[..<44] + slots.bytes[44...]))
        #expect(moved.open(passcode) == nil)
    }

    @Test func theMixedSecretIsRequiredAndVerified() throws {
        let passcode = SecretBytes(utf8: "7294")
        let with = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: true)
        let without = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false)
        #expect(try refusal { try with.stretch(passcode, mixedSecret: nil) } == .machineSecretMissing)
        #expect(
            try refusal { try without.stretch(passcode, mixedSecret: FormatSamples.key()) } == .machineSecretMissing)
        #expect(
            try refusal { try with.stretch(passcode, mixedSecret: .random(count: 31)) } == .machineSecretUnusable)
        #expect(
            try refusal { try with.stretch(passcode, mixedSecret: .random(count: 0)) } == .machineSecretUnusable)
    }

    @Test func aWrongPasscodeOrMixedSecretDoesNotOpen() throws {
        var slots = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: true)
        let (secret, root) = (FormatSamples.key(), FormatSamples.key())
        func stretched(_ text: String, _ secret: SecretBytes) throws -> KeySlots.StretchedKey {
            try slots.stretch(SecretBytes(utf8: text), mixedSecret: secret)
        }
        slots.set(3, to: root, behind: try stretched("7294", secret))
        #expect(slots.open(try stretched("7294", secret))?.rootKey == root)
        #expect(slots.open(try stretched("7295", secret)) == nil)
        #expect(slots.open(try stretched("7294", FormatSamples.key())) == nil)
    }

    @Test func everyTruncationIsRefused() throws {
        let bytes = KeySlots(derivation: FormatSamples.derivation, usesMixedSecret: false).bytes
        for length in 0..<bytes.count {
            #expect(try refusal { try KeySlots(bytes: Array(bytes[..<length])) } == .malformed)
        }
        #expect(try refusal { try KeySlots(bytes: bytes + [0]) } == .malformed)
    }
}
