import Foundation

@testable import SealedFormats

/// A new sample of a format, and how to open it.
enum FormatSamples {
    /// The lowest cost that the parser accepts; stretching is skipped if a test is not about it.
    static let derivation = KeySlots.Derivation.pbkdf2(rounds: 600_000)

    static func name(
        vault: ItemID = .random(), collection: RecordCollection = .notes, id: ItemID = .random(), revision: UInt64 = 1
    ) -> RecordName {
        RecordName(vault: vault, collection: collection, id: id, revision: revision)
    }

    static func key() -> SecretBytes { .random(count: 32) }

    static func stretchedKey() -> KeySlots.StretchedKey { KeySlots.StretchedKey(key: key()) }

    static func bytes(_ count: Int) -> [UInt8] { randomBytes(count) }

    static func ring() -> KeyRing {
        let vault = ItemID.random()
        return KeyRing([
            KeyRing.Entry(kind: .vault, vault: vault, epoch: 1, key: key()),
            KeyRing.Entry(kind: .vault, vault: vault, epoch: 2, key: key()),
            KeyRing.Entry(kind: .inbox, vault: vault, epoch: 1, key: BoxKeyPair().privateKey),
            KeyRing.Entry(kind: .device, vault: vault, epoch: 1, key: key()),
        ])
    }
}

extension [UInt8] {
    func flipped(bit: Int) -> [UInt8] {
        var copy = self
        copy[bit / 8] ^= 1 << (bit % 8)
        return copy
    }
}
