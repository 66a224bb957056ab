import ControlAPI
import Foundation
import SealedFormats

/// Documents of the vault besides its records.
enum VaultDocuments {
    /// A key-slot block.
    static let slots = "key-slots"
    /// A sealed key ring.
    static let ring = "key-ring"
    /// `VaultDocument`, in clear.
    static let vault = "vault"

    /// The slots in use. The others hold random bytes until they are used.
    static let passcodeSlot = 0
    /// Of the recovery code that was entered last.
    static let recoverySlot = 1
    /// Of a recovery code that was made after it and was not entered yet.
    static let newRecoverySlot = 2
}

/// What is readable of the vault while it is locked: its id, and the key to which intruder photos are sealed.
struct VaultDocument: Codable {
    var vault: ItemID
    /// 65 bytes.
    var inboxPublicKey: Data
    var inboxEpoch: UInt32
    /// The highest epoch of each vault that the ring has keys of; nil until a version that stores it opens the ring.
    var epochs: [String: UInt32]?

    /// Whether this computer has keys of a vault. It has none of another computer's vault, or of a phone's own.
    func isOwn(_ vault: ItemID) -> Bool {
        vault == self.vault || epochs.map { $0[vault.description] != nil } ?? true
    }
}

extension ControlError {
    static var noVault: ControlError {
        ControlError(
            .notSetUp, "There is no vault yet. Run `applocker setup`, or enter the passcode if one is set.")
    }
}

/// The documents of a new vault.
struct NewVault {
    let documents: [String: [UInt8]]

    /// Blocks for about a second.
    init(passcode: SecretBytes, cost: ScryptCost, machineSecret: SecretBytes) throws {
        let rootKey = SecretBytes.random(count: KeySlots.keyLength)
        var slots = KeySlots(derivation: .scrypt(cost), usesMixedSecret: true)
        slots.set(
            VaultDocuments.passcodeSlot, to: rootKey, behind: try slots.stretch(passcode, mixedSecret: machineSecret))
        let vault = ItemID.random()
        let inbox = BoxKeyPair()
        let ring = KeyRing([
            .init(kind: .vault, vault: vault, epoch: 1, key: .random(count: 32)),
            .init(kind: .inbox, vault: vault, epoch: 1, key: inbox.privateKey),
        ])
        documents = [
            VaultDocuments.slots: slots.bytes, VaultDocuments.ring: ring.sealed(under: rootKey),
            VaultDocuments.vault: try [UInt8](
                JSONEncoder().encode(
                    VaultDocument(
                        vault: vault, inboxPublicKey: Data(inbox.publicKey.bytes), inboxEpoch: 1,
                        epochs: ring.vaultEpochs))),
        ]
    }
}
