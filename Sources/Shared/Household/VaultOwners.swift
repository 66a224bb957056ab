public import SealedFormats

/// The computer that owns a vault: the first that sent its key, as long as it is in the household. Otherwise another
/// computer could send a newer key, and read what companions write into the vault afterwards.
public struct VaultOwners: Codable, Equatable, Sendable {
    /// By vault.
    private var owners: [String: ItemID] = [:]

    public init() {}

    /// - Returns: the accepted keys; of another computer's vault only known ones.
    public mutating func accept(
        _ keys: KeyRing, from sender: ItemID, known ring: KeyRing, members: Set<ItemID>
    ) -> KeyRing {
        var accepted: [KeyRing.Entry] = []
        for entry in keys.entries where entry.kind != .device {
            guard entry.kind != .status else {
                accepted.append(entry)
                continue
            }
            let owner = owners[entry.vault.description].flatMap { members.contains($0) ? $0 : nil }
            if owner == nil { owners[entry.vault.description] = sender }
            let isKnown = ring.key(entry.kind, vault: entry.vault, epoch: entry.epoch) == entry.key
            if owner ?? sender == sender || isKnown { accepted.append(entry) }
        }
        return KeyRing(accepted)
    }
}
