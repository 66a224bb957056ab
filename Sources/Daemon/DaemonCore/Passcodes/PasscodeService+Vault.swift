import BlockingThread
import ControlAPI
import Foundation
import Policy
import SealedFormats
import Sync

// The root key of the vault, and the key slots that wrap it.
extension PasscodeService {
    /// Opens the key ring with the owner's passcode. The attempt counts like any other.
    ///
    /// - Parameter body: runs with the ring before another task can replace it.
    /// - Throws: as `verify` and `body`, or `ControlError` with `failed` where the vault can't be read.
    @discardableResult
    func openRing(
        _ passcode: SecretBytes, user: UInt32, _ body: @Sendable (KeyRing) async throws -> Void = { _ in }
    ) async throws -> (ring: KeyRing, rootKey: SecretBytes) {
        try await inTurn {
            let rootKey = try await verifiedRootKey(passcode, user: user).key
            let ring = try await currentRing(rootKey: rootKey)
            try await body(ring)
            return (ring, rootKey)
        }
    }

    /// Runs work while no passcode is being checked, so that the ring and the pending keys do not change.
    func whileRingIsStill<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        try await inTurn { try await work() }
    }

    /// The ring with the pending keys added, and the documents that must be unchanged when it is written.
    func storedRingWithPending(
        rootKey: SecretBytes
    ) async throws -> (ring: KeyRing, unchanged: [String: [UInt8]?]) {
        try await inTurn {
            _ = try await currentRing(rootKey: rootKey)
            let stored = try await storedRing(rootKey: rootKey)
            let pending = try await documents.document(PendingKeys.documentName)
            return (stored.ring, [VaultDocuments.ring: stored.bytes, PendingKeys.documentName: pending])
        }
    }

    /// The ring with the pending keys added. Call it only in `inTurn`.
    private func currentRing(rootKey: SecretBytes) async throws -> KeyRing {
        var ring = try await storedRing(rootKey: rootKey).ring
        guard var document = try await vaultDocument() else { return ring }
        var pending = try await pendingKeys()
        let waited = pending.boxes.count
        pending.open(into: &ring, vault: document.vault)
        guard pending.boxes.count < waited || document.epochs != ring.vaultEpochs else { return ring }
        document.epochs = ring.vaultEpochs
        // If the write fails, the next opening repeats it.
        try? await documents.write(
            StateChange(documents: [
                VaultDocuments.ring: ring.sealed(under: rootKey),
                VaultDocuments.vault: try [UInt8](JSONEncoder().encode(document)),
                PendingKeys.documentName: pending.boxes.isEmpty ? nil : try [UInt8](JSONEncoder().encode(pending)),
            ]))
        return ring
    }

    func pendingKeys() async throws -> PendingKeys {
        try await documents.decoded(PendingKeys.self, PendingKeys.documentName) ?? PendingKeys()
    }

    /// Compares the passcode and opens its slot. Call it only in `inTurn`.
    func verifiedRootKey(_ passcode: SecretBytes, user: UInt32) async throws -> (key: SecretBytes, slots: KeySlots) {
        try refuseDuringLockout(of: user)
        // Both take about a second and a core each. If the passcode is wrong, the result of this one is ignored.
        async let opened = try? rootKey(behind: passcode)
        try await compareCounted(passcode, app: nil, user: user)
        if let opened = await opened { return opened }
        // There was no vault yet; the comparison has just created it.
        return try await rootKey(behind: passcode)
    }

    /// The vault's document, which is readable while it is locked; nil before the first right passcode.
    func vaultDocument() async throws -> VaultDocument? {
        try await documents.decoded(VaultDocument.self, VaultDocuments.vault)
    }

    /// - Throws: `ControlError` with `notSetUp` where there is no vault.
    func requireVaultDocument() async throws -> VaultDocument {
        guard let document = try await vaultDocument() else { throw ControlError.noVault }
        return document
    }

    // MARK: Recovery

    /// Makes a recovery code that replaces the earlier one as soon as it is entered: until then both are valid, because
    /// the new one may never be seen.
    func makeRecoveryCode(_ passcode: SecretBytes, user: UInt32) async throws -> RecoveryCode {
        let code = RecoveryCode()
        try await inTurn {
            let (rootKey, oldSlots) = try await verifiedRootKey(passcode, user: user)
            var slots = oldSlots
            let stretched = try await stretch(code.passcode, for: slots)
            slots.set(VaultDocuments.newRecoverySlot, to: rootKey, behind: stretched)
            try await documents.write(StateChange(documents: [VaultDocuments.slots: slots.bytes]))
        }
        await log.append(
            .recoveryMade, user: user,
            "A recovery sheet was made; an earlier one stops working once the new code is entered.")
        return code
    }

    /// Whether the code opens the vault. A wrong one counts like a wrong passcode. A new code replaces the earlier one.
    func testRecoveryCode(_ code: RecoveryCode, user: UInt32) async throws {
        try await inTurn { _ = try await rootKey(behindRecovery: code, user: user) }
    }

    /// Sets a new passcode with the recovery code.
    func useRecoveryCode(_ code: RecoveryCode, newPasscode: SecretBytes, user: UInt32) async throws -> [String] {
        let notes = try Self.check(newPasscode)
        try await inTurn {
            let (rootKey, slots) = try await rootKey(behindRecovery: code, user: user)
            async let changedSlots = newSlots(rootKey: rootKey, passcode: newPasscode, keeping: slots)
            var changed = stored
            changed.owner = try await make(newPasscode)
            try await save(changed, with: [VaultDocuments.slots: try await changedSlots.bytes])
        }
        await log.append(.recoveryUsed, user: user, "The passcode was changed with the recovery sheet.")
        return notes
    }

    private func rootKey(
        behindRecovery code: RecoveryCode, user: UInt32
    ) async throws -> (key: SecretBytes, slots: KeySlots) {
        try refuseDuringLockout(of: user)
        // Without a vault nothing is compared, so no attempt is counted.
        guard let slots = try await slots() else {
            throw ControlError(
                .notSetUp,
                "There is no vault yet, so nothing to recover. Run `applocker setup`, or enter the passcode if one is set."
            )
        }
        var counted = stored
        counted.lockouts.recordFailure(by: user, at: time.now())
        try await save(counted)
        let stretched = try await stretch(code.passcode, for: slots)
        guard let opened = slots.open(stretched),
            [VaultDocuments.recoverySlot, VaultDocuments.newRecoverySlot].contains(opened.slot)
        else { throw await wrongPasscode(app: nil, user: user) }
        var (changed, current) = (stored, slots)
        changed.lockouts.recordSuccess(by: user)
        if opened.slot == VaultDocuments.newRecoverySlot {
            current.set(VaultDocuments.recoverySlot, to: opened.rootKey, behind: stretched)
            current.clear(VaultDocuments.newRecoverySlot)
        }
        try await save(changed, with: current == slots ? [:] : [VaultDocuments.slots: current.bytes])
        return (opened.rootKey, current)
    }

    // MARK: Pieces

    func newVault(_ passcode: SecretBytes) async throws -> NewVault {
        let (cost, secret) = (try await currentCost(), machineSecret)
        return try await runBlocking { try NewVault(passcode: passcode, cost: cost, machineSecret: secret) }
    }

    /// Creates the vault of a state that was set up with an earlier verifier. If that fails, the next right passcode
    /// tries again.
    func makeVaultIfMissing(_ passcode: SecretBytes) async {
        guard let absent = try? await documents.document(VaultDocuments.slots) == nil, absent,
            let vault = try? await newVault(passcode)
        else { return }
        try? await documents.write(StateChange(documents: vault.documents.mapValues { $0 }))
    }

    func rootKey(behind passcode: SecretBytes) async throws -> (key: SecretBytes, slots: KeySlots) {
        guard let slots = try await slots() else {
            throw ControlError(
                .failed, "The vault could not be created. Free some memory and disk space, and try again.")
        }
        guard let opened = slots.open(try await stretch(passcode, for: slots)),
            opened.slot == VaultDocuments.passcodeSlot
        else {
            throw ControlError(
                .failed, "The passcode is right, but the vault does not open with it. Restore the state from a backup.")
        }
        return (opened.rootKey, slots)
    }

    /// Wraps the root key with another passcode, in a block of the same salt and cost. The other slots stay.
    func newSlots(rootKey: SecretBytes, passcode: SecretBytes, keeping slots: KeySlots) async throws -> KeySlots {
        let stretched = try await stretch(passcode, for: slots)
        var slots = slots
        slots.set(VaultDocuments.passcodeSlot, to: rootKey, behind: stretched)
        return slots
    }

    /// The stored ring, opened and as sealed bytes.
    func storedRing(rootKey: SecretBytes) async throws -> (ring: KeyRing, bytes: [UInt8]) {
        guard let bytes = try await documents.document(VaultDocuments.ring) else {
            throw ControlError(.failed, "The vault's key ring is missing. Restore the state from a backup.")
        }
        return (try KeyRing(sealed: bytes, rootKey: rootKey), bytes)
    }

    private func slots() async throws -> KeySlots? {
        try await documents.document(VaultDocuments.slots).map { try KeySlots(bytes: $0) }
    }

    private func stretch(_ passcode: SecretBytes, for slots: KeySlots) async throws -> KeySlots.StretchedKey {
        let secret = machineSecret
        return try await runBlocking { try slots.stretch(passcode, mixedSecret: secret) }
    }
}
