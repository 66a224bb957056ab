import ControlAPI
import Foundation
import Household
import SealedFormats
import Sync

/// A vault that this computer shares with devices of other households.
struct SharedVaultEntry: Sendable {
    var stored: StoredSharedVault
    /// Without keys that the members make: those are in the replica.
    let secrets: HouseholdSecrets

    var household: ItemID { secrets.household }
    /// This computer's id in the vault: another one after each invitation.
    var device: ItemID { secrets.device }
    var vault: ItemID { EpochKeys.vault(of: household) }
}

/// What is stored of it besides its keys.
struct StoredSharedVault: Codable, Sendable {
    var household: ItemID
    /// Of the folder with its records; random, so that the disk does not show whose vault it is.
    var replica: ItemID
    var settings: HubSettings
    /// The member that invited.
    var inviter: ItemID
    var words: [String]
    var state: SharedVaultReport.State
    /// What the members called it when that was last seen.
    var name = ""
}

/// The list of shared vaults as it is stored: sealed under this computer's own vault, so that nobody learns their names or
/// keys while that is locked. docs/formats.md, "Shared vaults".
struct StoredSharedVaults: Codable {
    static let documentName = "shared-vaults"

    /// Of this computer's own vault.
    var vault: ItemID
    var epoch: UInt32
    /// A record envelope of `[StoredSharedVault]` as JSON.
    var list: Data
    /// A key ring with three keys for each.
    var keys: Data

    private static let boxKeyEpoch: UInt32 = 1
    private static let tokenEpoch: UInt32 = 2
    private static let signingKeyEpoch: UInt32 = 3

    /// - Throws: `ControlError` with `notReadable` where the own vault's key is missing; as `RecordEnvelope`.
    init(_ entries: [SharedVaultEntry], under own: VaultKeys) throws {
        guard let key = own.ring.current(.vault, vault: own.vault) else { throw Self.keyMissing }
        (vault, epoch) = (own.vault, key.epoch)
        let envelope = try RecordEnvelope(
            sealing: JSONEncoder().encode(entries.map(\.stored)), as: Self.name(own.vault), vaultKey: key.key,
            epoch: key.epoch)
        list = Data(envelope.bytes)
        let ring = KeyRing(
            entries.flatMap { entry in
                let secrets = entry.secrets
                return [
                    (Self.boxKeyEpoch, secrets.boxKey.privateKey), (Self.tokenEpoch, secrets.token),
                    (Self.signingKeyEpoch, secrets.signingKey.privateKey),
                ].map { KeyRing.Entry(kind: .device, vault: entry.household, epoch: $0.0, key: $0.1) }
            })
        keys = Data(ring.sealed(under: Self.storageKey(key.key)))
    }

    /// - Throws: as `init`, and `UnreadableState`.
    func entries(with own: VaultKeys) throws -> [SharedVaultEntry] {
        guard let key = own.ring.key(.vault, vault: vault, epoch: epoch) else { throw Self.keyMissing }
        let body = try own.open(RecordEnvelope(bytes: [UInt8](list)), as: Self.name(vault))
        let ring = try KeyRing(sealed: [UInt8](keys), rootKey: Self.storageKey(key))
        return try JSONDecoder().decode([StoredSharedVault].self, from: body).map { stored in
            func key(_ epoch: UInt32) throws -> SecretBytes {
                guard let key = ring.key(.device, vault: stored.household, epoch: epoch) else {
                    throw UnreadableState(document: Self.documentName, cause: "a key is missing")
                }
                return key
            }
            return SharedVaultEntry(
                stored: stored,
                secrets: HouseholdSecrets(
                    household: stored.household,
                    signingKey: try DeviceSigningKey(privateKey: try key(Self.signingKeyEpoch)),
                    boxKey: try BoxKeyPair(privateKey: try key(Self.boxKeyEpoch)), token: try key(Self.tokenEpoch),
                    ring: KeyRing([])))
        }
    }

    /// No record of "vaults" has the id of the own vault: those have the ids of households.
    private static func name(_ vault: ItemID) -> RecordName {
        RecordName(vault: vault, collection: .vaults, id: vault, revision: 1)
    }

    private static func storageKey(_ vaultKey: SecretBytes) -> SecretBytes {
        KeyDerivation.hkdf(vaultKey, salt: nil, info: "applocker/1/shared-vaults")
    }

    private static var keyMissing: ControlError {
        ControlError(.notReadable, "The vault's key is missing; import the backup it belongs to.")
    }
}
