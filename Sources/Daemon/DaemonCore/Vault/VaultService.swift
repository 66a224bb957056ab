public import ControlAPI
import Foundation
import Policy
public import SealedFormats
import Sync

/// Whether the vault is open, and for whom.
///
/// Its keys are in memory from the owner's passcode until it is locked, the computer sleeps, or nobody used it for a
/// while; then their pages are overwritten.
public actor VaultService: Relockable {
    private struct Opened {
        let keys: VaultKeys
        let user: UInt32
        var lastUsed: Duration
    }

    private let passcodes: PasscodeService
    private let documents: any DocumentStore
    private let device: ItemID
    private let time: any TimeSource
    private let log: ActivityLog
    private let lockGenerations: LockGenerations
    private let changes: StateChanges
    private var opened: Opened?
    private(set) var settings = PrivacySettings()
    /// Otherwise two changes at once would both begin with the same settings.
    private let settingsChanges = AsyncSerialQueue()
    /// Locks the vault when it is idle; exists while the vault is open.
    private var idleWatch: Task<Void, Never>?

    init(
        passcodes: PasscodeService, documents: any DocumentStore, device: ItemID, time: any TimeSource,
        log: ActivityLog,
        lockGenerations: LockGenerations, changes: StateChanges
    ) {
        self.lockGenerations = lockGenerations
        self.changes = changes
        self.passcodes = passcodes
        self.documents = documents
        self.device = device
        self.time = time
        self.log = log
    }

    func load() async throws {
        settings = try await documents.decoded(PrivacySettings.self, PrivacySettings.documentName) ?? settings
        if opened != nil { watch() }
    }

    public func status() async throws -> VaultStatus {
        let vault = try await passcodes.vaultDocument()?.vault.description
        guard let opened else { return VaultStatus(vault: vault, isOpen: false) }
        let left = opened.lastUsed + .seconds(settings.vaultIdleSeconds) - time.elapsed()
        return VaultStatus(
            vault: vault, isOpen: true, user: opened.user, locksInSeconds: max(0, left.wholeSecondsRoundedUp))
    }

    /// Opens the vault for one user. If it was open for another user, it no longer is.
    ///
    /// - Throws: as `PasscodeService.verify`.
    public func open(_ passcode: SecretBytes, for peer: ControlPeer) async throws -> VaultStatus {
        let generation = lockGenerations.generation(for: peer.user)
        let wasOpen = opened?.user == peer.user
        // Keys can't be replaced in this closure; otherwise the vault would stay open without the new ones.
        try await passcodes.openRing(passcode, user: peer.user) { ring in
            try await self.use(ring, user: peer.user, since: generation)
        }
        if !wasOpen { await log.append(.vaultOpened, user: peer.user, "The vault was opened.") }
        return try await status()
    }

    func generation(for user: UInt32) -> LockGeneration { lockGenerations.generation(for: user) }

    /// Uses a ring, after opening or after an import has added keys to it.
    ///
    /// - Parameter generation: from before the passcode was checked.
    /// - Throws: `ControlError` with `busy` where everything was locked since.
    func use(_ ring: KeyRing, user: UInt32, since generation: LockGeneration) async throws {
        let document = try await passcodes.requireVaultDocument()
        try lockGenerations.check(generation)
        // Keys may have been replaced since the ring was read.
        let ring = try opened.map { try ring.adding($0.keys.ring.entries) } ?? ring
        opened = Opened(
            keys: VaultKeys(vault: document.vault, ring: ring, device: device), user: user, lastUsed: time.elapsed()
        )
        watch()
        changes.mark()
    }

    /// The keys for AppLocker's own work while the vault is open. This does not count as a use.
    func openKeys() -> VaultKeys? { opened?.keys }

    /// Uses replaced keys from now on, if the vault is open.
    func replaceRing(_ ring: KeyRing) {
        guard let opened else { return }
        let keys = VaultKeys(vault: opened.keys.vault, ring: ring, device: device)
        self.opened = Opened(keys: keys, user: opened.user, lastUsed: opened.lastUsed)
    }

    /// Forgets the keys. Work that has begun with them may finish, but opening every note ahead of a list stops.
    ///
    /// - Parameter sentence: for the log.
    public func lock(user: UInt32?, _ sentence: String) async {
        guard forget() else { return }
        await log.append(.vaultLocked, user: user, sentence)
    }

    /// Locks the vault if it is open for this user; as root or with the owner's session, for any user.
    /// - Returns: false if it stays open for another user.
    @discardableResult
    func lock(by user: UInt32, mayReachOthers: Bool, _ sentence: String) async -> Bool {
        guard let opened else { return true }
        guard mayReachOthers || user == 0 || opened.user == user else { return false }
        await lock(user: user, sentence)
        return true
    }

    /// As `lock`, if the vault is open for this user, without waiting for the disk.
    func relock(_ absence: Absence) async {
        guard let owner = opened?.user, absence.user == nil || isOpen(for: absence.user), forget() else { return }
        await log.enqueue(.vaultLocked, user: owner, absence.vaultSentence)
    }

    private func forget() -> Bool {
        guard let ended = opened else { return false }
        ended.keys.notes.end()
        opened = nil
        idleWatch?.cancel()
        idleWatch = nil
        changes.mark()
        return true
    }

    /// The superuser has no session, so a vault that is open for the superuser counts as open for every user.
    private func isOpen(for user: UInt32?) -> Bool { opened.map { $0.user == user || $0.user == 0 } ?? false }

    /// When it was last used, since boot, where it is open for this user.
    func lastUse(by user: UInt32) -> Duration? { isOpen(for: user) ? opened?.lastUsed : nil }

    /// The keys, for one piece of work of the user it is open for.
    ///
    /// - Throws: `ControlError` with `vaultLocked`.
    func keys(for peer: ControlPeer) throws -> VaultKeys {
        let now = time.elapsed()
        guard var opened, opened.user == peer.user,
            now - opened.lastUsed < .seconds(settings.vaultIdleSeconds)
        else {
            throw ControlError.vaultIsLocked
        }
        opened.lastUsed = now
        self.opened = opened
        return opened.keys
    }

    // MARK: Settings

    /// - Throws: `ControlError` with `badRequest` or `failed`.
    func changeSettings(_ body: (inout PrivacySettings) -> Void) async throws {
        try await settingsChanges.perform {
            var changed = settings
            body(&changed)
            guard PrivacySettings.allowedIdleSeconds.contains(changed.vaultIdleSeconds) else {
                throw ControlError(
                    .badRequest, "The vault can lock itself after 60 to 3600 seconds, not \(changed.vaultIdleSeconds).")
            }
            guard PrivacySettings.allowedFailures.contains(changed.photographsFromFailure) else {
                throw ControlError(
                    .badRequest,
                    "Photos can start with the 1st to the 10th wrong passcode, or 0 for never, not "
                        + "\(changed.photographsFromFailure).")
            }
            guard PrivacySettings.allowedAlertDays.contains(changed.alertDays) else {
                throw ControlError(.badRequest, "Alerts can be kept for 7 to 365 days, not \(changed.alertDays).")
            }
            do {
                try await documents.save([UInt8](JSONEncoder().encode(changed)), as: PrivacySettings.documentName)
            } catch {
                throw ControlError(
                    .failed, "AppLocker could not write its state (\(error)). Free some disk space and try again.")
            }
            settings = changed
            if opened != nil { watch() }
            changes.mark()
        }
    }

    // MARK: Idleness

    /// Sleeps exactly until the vault is due to lock, and again if it was used meanwhile.
    private func watch() {
        idleWatch?.cancel()
        idleWatch = Task { [time] in
            while !Task.isCancelled, let end = idleEnd {
                if end <= time.elapsed() { return await lock(user: nil, "The vault was locked: it was not used.") }
                do { try await time.sleep(until: end) } catch { return }
            }
        }
    }

    private var idleEnd: Duration? { opened.map { $0.lastUsed + .seconds(settings.vaultIdleSeconds) } }
}

extension ControlError {
    static var vaultIsLocked: ControlError {
        ControlError(.vaultLocked, "The vault is locked. Open it with `applocker vault unlock`.")
    }
}
