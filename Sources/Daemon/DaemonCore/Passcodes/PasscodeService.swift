import BlockingThread
public import ControlAPI
import Foundation
public import Policy
public import SealedFormats
import Sync

/// The owner's passcode, the apps' own ones, and the counts of wrong ones.
///
/// An attempt is counted on disk before it is compared, so that cutting the power in between gains no attempt. Attempts
/// are compared one at a time; each costs 128 MiB and about a second.
public actor PasscodeService {
    /// Attempts that may wait for their turn; more are refused as `busy`.
    static let maximumQueued = 16
    static let documentName = "passcodes"

    struct Stored: Codable {
        /// Verifiers in the text form that `PasscodeVerifier` defines.
        var owner: String?
        var apps: [AppID: String] = [:]
        var lockouts = LockoutLadders()
    }

    /// Whose passcode was entered.
    public enum Holder: Sendable { case owner, app }

    let documents: any RecordStore
    let machineSecret: SecretBytes
    private let cost: @Sendable () throws -> ScryptCost
    /// The first result of `cost`, because measuring takes as long as a comparison.
    private var measuredCost: ScryptCost?
    let time: any TimeSource
    private let authorizer: LaunchAuthorizer
    let log: ActivityLog
    var stored = Stored()
    private let serialQueue = AsyncSerialQueue(maximumQueued: PasscodeService.maximumQueued)
    private let events: DaemonEvents

    /// - Parameter cost: the cost of new verifiers. It may measure the machine, so it runs on a thread of its own.
    init(
        documents: any RecordStore, machineSecret: SecretBytes, cost: @escaping @Sendable () throws -> ScryptCost,
        time: any TimeSource, authorizer: LaunchAuthorizer, events: DaemonEvents, log: ActivityLog
    ) {
        self.documents = documents
        self.machineSecret = machineSecret
        self.cost = cost
        self.time = time
        self.authorizer = authorizer
        self.events = events
        self.log = log
    }

    /// Reads the stored state. A lockout of an earlier boot starts again in full.
    ///
    /// - Throws: `UnreadableState`, or what the store throws.
    public func load() async throws {
        stored = try await documents.decoded(Stored.self, Self.documentName) ?? stored
        let read = stored.lockouts
        stored.lockouts = read.rebased(at: time.now())
        // If the write fails, the next start reads the older lockouts and starts them again in full.
        if stored.lockouts != read { try? await save(stored) }
        authorizer.update { [lockouts = stored.lockouts] in $0.lockouts = lockouts }
    }

    public var isSetUp: Bool { stored.owner != nil }

    public func lockoutState(of user: UInt32) -> LockoutState {
        LockoutState(stored.lockouts.ladder(of: user), at: time.now())
    }

    /// Whether the user has entered the owner's passcode on this computer, or is root.
    public func hasEnteredPasscode(_ user: UInt32) -> Bool { stored.lockouts.hasOwn(user) }

    /// - Parameter owners: users whose wrong passcodes are counted separately from the start.
    /// - Throws: `ControlError` with `alreadySetUp`, `passcodeTooShort` or `failed`.
    public func setUp(_ passcode: SecretBytes, owners: [UInt32] = []) async throws -> [String] {
        let notes = try Self.check(passcode)
        try await inTurn {
            try requireNoPasscode()
            async let vault = newVault(passcode)
            let owner = try await make(passcode)
            try await saveFirst(owner, owners: owners, with: try await vault.documents)
        }
        await log.append(.setUp, "AppLocker was set up with a passcode.")
        return notes
    }

    /// Sets up with what an earlier AppLocker stored of its passcode. There is no vault until that is entered: its keys
    /// are wrapped with a key that is derived from the passcode.
    ///
    /// - Parameter owners: as in the other one.
    /// - Throws: `ControlError` with `alreadySetUp` or `failed`.
    func setUp(_ verifier: PasscodeVerifier, owners: [UInt32]) async throws {
        try await inTurn {
            try requireNoPasscode()
            try await saveFirst(verifier.text, owners: owners)
        }
        await log.append(.setUp, "AppLocker was set up with the passcode of an earlier AppLocker.")
    }

    private func requireNoPasscode() throws {
        guard stored.owner == nil else {
            throw ControlError(
                .alreadySetUp, "A passcode is set already. Change it with `applocker passcode change`.")
        }
    }

    private func saveFirst(_ owner: String, owners: [UInt32], with others: [String: [UInt8]] = [:]) async throws {
        var changed = stored
        changed.owner = owner
        changed.lockouts = LockoutLadders()
        for user in owners { changed.lockouts.separate(user) }
        try await save(changed, with: others)
    }

    /// Compares a passcode with the owner's and, where an app is named that has one, with the app's own.
    ///
    /// - Throws: `ControlError` with `notSetUp`, `wrongPasscode`, `lockedOut`, `busy` or `failed`.
    @discardableResult
    public func verify(_ passcode: SecretBytes, app: AppID? = nil, user: UInt32) async throws -> Holder {
        try await inTurn { try await compareCounted(passcode, app: app, user: user) }
    }

    /// Counts an attempt, compares it, and withdraws the count if it was right.
    @discardableResult
    func compareCounted(_ passcode: SecretBytes, app: AppID?, user: UInt32) async throws -> Holder {
        guard let owner = stored.owner else {
            throw ControlError(.notSetUp, "No passcode is set yet. Set one with `applocker setup`.")
        }
        try refuseDuringLockout(of: user)

        var counted = stored
        counted.lockouts.recordFailure(by: user, at: time.now())
        try await save(counted)

        let verification = try await compare(passcode, with: owner)
        if verification.matches {
            var changed = stored
            changed.lockouts.recordSuccess(by: user)
            try await save(changed)
            if verification.needsUpgrade, let upgraded = try? await make(passcode) {
                // The passcode is accepted even if its verifier can't be upgraded now; the next time tries again.
                changed.owner = upgraded
                try? await save(changed)
            }
            await makeVaultIfMissing(passcode)
            return .owner
        }
        if let app, let own = stored.apps[app] {
            let verification = try await compare(passcode, with: own)
            if verification.matches {
                var changed = stored
                changed.lockouts.withdrawFailure(by: user)
                try await save(changed)
                if verification.needsUpgrade, let upgraded = try? await make(passcode) {
                    changed.apps[app] = upgraded
                    try? await save(changed)
                }
                return .app
            }
        }
        throw await wrongPasscode(app: app, user: user)
    }

    /// The attempt stays counted. It is recorded, and a photo may be taken.
    func wrongPasscode(app: AppID?, user: UInt32) async -> ControlError {
        let state = lockoutState(of: user)
        events.send(.wrongPasscode(failures: state.failures, app: app, user: user))
        await log.append(.passcodeWrong, app: app, user: user, Self.sentence(state))
        return Self.wrong(state, untilNext: stored.lockouts.ladder(of: user).failuresToNextLockout)
    }

    /// - Throws: as `verify`, or `ControlError` with `passcodeTooShort`.
    public func change(from old: SecretBytes, to new: SecretBytes, user: UInt32) async throws -> [String] {
        let notes = try Self.check(new)
        try await inTurn {
            let (rootKey, oldSlots) = try await verifiedRootKey(old, user: user)
            async let slots = newSlots(rootKey: rootKey, passcode: new, keeping: oldSlots)
            var changed = stored
            changed.owner = try await make(new)
            try await save(changed, with: [VaultDocuments.slots: try await slots.bytes])
        }
        await log.append(.passcodeChanged, user: user, "The passcode was changed.")
        return notes
    }

    /// Sets the app's own passcode; nil removes it.
    public func setPasscode(_ passcode: SecretBytes?, of app: AppID, user: UInt32) async throws -> [String] {
        let notes = try passcode.map(Self.check) ?? []
        try await inTurn {
            var changed = stored
            changed.apps[app] = if let passcode { try await make(passcode) } else { nil }
            try await save(changed)
        }
        await log.append(
            .passcodeChanged, app: app, user: user,
            passcode == nil ? "\(app) has no passcode of its own any more." : "\(app) has a passcode of its own.")
        return notes
    }

    /// Removes the passcode of an app that is being removed from the list.
    public func forget(_ app: AppID) async throws {
        try await inTurn {
            guard stored.apps[app] != nil else { return }
            var changed = stored
            changed.apps[app] = nil
            try await save(changed)
        }
    }

    /// Removes the passcodes of apps that a change removes from the list, in its transaction: both, or neither.
    ///
    /// - Parameter write: writes the change with what is added to it.
    /// - Throws: what `write` throws, or as `verify`.
    func forget<Value: Sendable>(
        _ apps: [AppID], with change: StateChange, write: @Sendable (StateChange) async throws -> Value
    ) async throws -> Value {
        guard apps.contains(where: { stored.apps[$0] != nil }) else { return try await write(change) }
        // The counts of attempts are in the same document, so no passcode is compared meanwhile.
        return try await inTurn {
            var (changed, change) = (stored, change)
            for app in apps { changed.apps[app] = nil }
            change.documents[Self.documentName] = try [UInt8](JSONEncoder().encode(changed))
            let value = try await write(change)
            stored = changed
            return value
        }
    }

    // MARK: Pieces

    func refuseDuringLockout(of user: UInt32) throws {
        let state = lockoutState(of: user)
        guard state.remainingSeconds > 0 else { return }
        throw Self.lockedOut(state)
    }

    /// - Parameter others: documents that are written together with it.
    func save(_ changed: Stored, with others: [String: [UInt8]] = [:]) async throws {
        do {
            var change = StateChange(documents: others)
            change.documents[Self.documentName] = try [UInt8](JSONEncoder().encode(changed))
            try await documents.write(change)
        } catch {
            throw ControlError(
                .failed, "AppLocker could not write its state (\(error)). Free some disk space and try again.")
        }
        stored = changed
        authorizer.update { [lockouts = changed.lockouts] in $0.lockouts = lockouts }
    }

    func make(_ passcode: SecretBytes) async throws -> String {
        let (cost, secret) = (try await currentCost(), machineSecret)
        return try await runBlocking {
            try PasscodeVerifier(passcode: passcode, cost: cost, machineSecret: secret).text
        }
    }

    func currentCost() async throws -> ScryptCost {
        if let measuredCost { return measuredCost }
        let cost = try await runBlocking(cost)
        measuredCost = cost
        return cost
    }

    private func compare(_ passcode: SecretBytes, with verifier: String) async throws
        -> PasscodeVerifier.Verification
    {
        let secret = machineSecret
        return try await runBlocking {
            try PasscodeVerifier(text: verifier).verify(passcode: passcode, machineSecret: secret)
        }
    }

    func inTurn<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await serialQueue.perform(work)
        } catch is AsyncSerialQueue.Full {
            throw ControlError(.busy, "Too many passcodes are being tried at once. Try again in a moment.")
        }
    }

    static func check(_ passcode: SecretBytes) throws -> [String] {
        switch passcode.withUnsafeBytes({ PasscodeRules.check(utf8: $0) }) {
        case .fine: return []
        case .weak(let why): return ["This passcode is weak. \(why)"]
        case .tooShort:
            throw ControlError(
                .passcodeTooShort,
                "The passcode is shorter than \(PasscodeRules.minimumLength) characters; choose a longer one.")
        case .notText:
            throw ControlError(.badRequest, "The passcode is not valid UTF-8 text; choose another.")
        }
    }

    private static func sentence(_ state: LockoutState) -> String {
        // A lockout starts at the fifth.
        switch (state.failures, state.remainingSeconds) {
        case (1, 0): "1 wrong passcode."
        case (let failures, 0): "\(failures) wrong passcodes in a row."
        case (let failures, 1): "\(failures) wrong passcodes in a row: this user is locked out for 1 second."
        case (let failures, let seconds):
            "\(failures) wrong passcodes in a row: this user is locked out for \(seconds) seconds."
        }
    }

    private static func lockedOut(_ state: LockoutState) -> ControlError {
        let seconds = state.remainingSeconds
        return ControlError(
            .lockedOut,
            seconds == 1
                ? "Too many wrong passcodes (\(state.failures)). Try again in 1 second."
                : "Too many wrong passcodes (\(state.failures)). Try again in \(seconds) seconds.",
            retryAfterSeconds: seconds)
    }

    private static func wrong(_ state: LockoutState, untilNext: Int) -> ControlError {
        let seconds = state.remainingSeconds
        if seconds > 0 {
            return ControlError(
                .lockedOut,
                seconds == 1
                    ? "Wrong passcode. You are locked out for 1 second."
                    : "Wrong passcode. You are locked out for \(seconds) seconds.",
                retryAfterSeconds: seconds)
        }
        return ControlError(
            .wrongPasscode,
            untilNext == 1
                ? "Wrong passcode. 1 attempt left before a lockout."
                : "Wrong passcode. \(untilNext) attempts left before a lockout.")
    }
}

extension LockoutState {
    init(_ ladder: LockoutLadder, at moment: Moment) {
        switch ladder.status(at: moment) {
        case .open(let failures): self.init(failures: failures, remainingSeconds: 0)
        case .lockedOut(let remaining, let failures):
            self.init(failures: failures, remainingSeconds: remaining.wholeSecondsRoundedUp)
        }
    }
}

extension Duration {
    /// A countdown must not show 0 while there is time left.
    var wholeSecondsRoundedUp: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) + (attoseconds > 0 ? 1 : 0)
    }
}
