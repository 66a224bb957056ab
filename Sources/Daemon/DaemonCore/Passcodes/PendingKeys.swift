import Foundation
import SealedFormats

/// Vault keys that were made while the vault was locked, for example when one phone revoked another. They are boxed to
/// the vault's own inbox, so that on this computer only the owner's passcode opens them.
struct PendingKeys: Codable {
    struct Box: Codable {
        /// The epoch of the inbox key that opens it, which is in the ring or in an earlier box.
        var inboxEpoch: UInt32
        var sealed: Data
    }

    static let documentName = "key-ring-pending"

    /// Oldest first.
    private(set) var boxes: [Box] = []

    /// - Throws: `SealedFormatsError`.
    mutating func add(_ keys: KeyRing, to document: VaultDocument) throws {
        let inbox = try BoxPublicKey(bytes: [UInt8](document.inboxPublicKey))
        let sealed = try DeviceKeys.seal(keys, as: Self.name(document.vault, document.inboxEpoch), to: inbox)
        boxes.append(Box(inboxEpoch: document.inboxEpoch, sealed: Data(sealed)))
    }

    /// Adds the keys of the boxes that the ring opens to the ring. Other boxes stay.
    mutating func open(into ring: inout KeyRing, vault: ItemID) {
        var left: [Box] = []
        for box in boxes {
            guard let key = ring.key(.inbox, vault: vault, epoch: box.inboxEpoch),
                let pair = try? BoxKeyPair(privateKey: key),
                let keys = try? DeviceKeys.open(
                    [UInt8](box.sealed), as: Self.name(vault, box.inboxEpoch), with: pair),
                let larger = try? ring.adding(keys.entries)
            else {
                left.append(box)
                continue
            }
            ring = larger
        }
        boxes = left
    }

    private static func name(_ vault: ItemID, _ inboxEpoch: UInt32) -> RecordName {
        RecordName(vault: vault, collection: .keys, id: vault, revision: UInt64(inboxEpoch))
    }
}

extension KeyRing {
    /// The highest epoch of each vault, as `VaultDocument` stores it.
    var vaultEpochs: [String: UInt32] {
        let ofVaults = entries.filter { $0.kind == .vault || $0.kind == .inbox }
        return Dictionary(ofVaults.map { ($0.vault.description, $0.epoch) }, uniquingKeysWith: max)
    }
}
