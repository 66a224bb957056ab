import Foundation
public import Policy
public import SealedFormats
public import WireProtocol

/// The owner's passcode, the apps' own ones, and the counts of wrong ones.
///
/// An attempt is counted, and the count is on disk, before it is compared: pulling the plug in the middle wins
/// nothing. Attempts are compared one at a time, each costs 128 MiB and about a second.
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

    /// Whose passcode was given.
    public enum Holder: Sendable { case owner, app }

    let documents: any RecordStore
    let machineSecret: SecretBytes
    private let cost: @Sendable () throws -> ScryptCost
    /// What `cost` said the first time; measuring takes as long as a comparison.
    private var measuredCost: ScryptCost?
    let time: any TimeSource
    private let judge: LaunchJudge
    let log: ActivityLog
    var stored = Stored()
    private let turns = Turns(maximumQueued: PasscodeService.maximumQueued)
    /// Told of each wrong passcode, with the number in a row.
    private var onWrong: (@Sendable (_ failures: Int, _ app: AppID?, _ user: UInt32) async -> Void)?

    /// - Parameter cost: of new verifiers; called on a thread of its own, it may measure the machine.
    public init(
        documents: any RecordStore, machineSecret: SecretBytes, cost: @escaping @Sendable () throws -> ScryptCost,
        time: any TimeSource,
        judge: LaunchJudge, log: ActivityLog
    ) {
        self.documents = documents
        self.machineSecret = machineSecret
        self.cost = cost
        self.time = time
        self.judge = judge
        self.log = log
    }

    /// Reads what is stored; a lockout of an earlier boot starts again in full.
    ///
    /// - Throws: `UnreadableState`, or what the store throws.
    public func load() async throws {
        if let bytes = try await documents.document(Self.documentName) {
            stored = try UnreadableState.decode(Stored.self, from: bytes, named: Self.documentName)
        }
        let read = stored.lockouts
        stored.lockouts = read.rebased(at: time.now())
        // Where it can't be written, the next start finds the older lockouts and begins them in full once more.
        if stored.lockouts != read { try? await save(stored) }
        judge.update { [lockouts = stored.lockouts] in $0.lockouts = lockouts }
    }

    /// Has every wrong passcode told to `body`, which must return at once.
    func tellWrongPasscodes(to body: @escaping @Sendable (Int, AppID?, UInt32) async -> Void) { onWrong = body }

    public var isSetUp: Bool { stored.owner != nil }

    public func lockoutState(of user: UInt32) -> LockoutState {
        LockoutState(stored.lockouts.ladder(of: user), at: time.now())
    }

    /// Whether the user has given the owner's passcode on this computer, or is root.
    public func hasGivenPasscode(_ user: UInt32) -> Bool { stored.lockouts.hasOwn(user) }

    /// - Parameter owners: users who count alone from the start.
    /// - Throws: `ControlError` with `alreadySetUp`, `passcodeTooShort` or `failed`.
    public func setUp(_ passcode: SecretBytes, owners: [UInt32] = []) async throws -> [String] {
        let notes = try Self.check(passcode)
        try await inTurn {
            guard stored.owner == nil else {
                throw ControlError(
                    .alreadySetUp, "A passcode is set already. Change it with `applocker passcode change`.")
            }
            var changed = stored
            async let vault = newVault(passcode)
            changed.owner = try await make(passcode)
            changed.lockouts = LockoutLadders()
            for user in owners { changed.lockouts.separate(user) }
            try await save(changed, with: try await vault.documents)
        }
        await log.record(.setUp, "AppLocker was set up with a passcode.")
        return notes
    }

    /// Compares a passcode with the owner's and, where an app is named that has one, with the app's own.
    ///
    /// - Throws: `ControlError` with `notSetUp`, `wrongPasscode`, `lockedOut`, `busy` or `failed`.
    @discardableResult
    public func verify(_ passcode: SecretBytes, app: AppID? = nil, user: UInt32) async throws -> Holder {
        try await inTurn { try await compareCounted(passcode, app: app, user: user) }
    }

    /// Counts an attempt, compares, and forgives it where it was right.
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
                // The login counts whether or not the better form can be made now; the next one tries again.
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

    /// The attempt that was counted stays so: it is told and recorded.
    func wrongPasscode(app: AppID?, user: UInt32) async -> ControlError {
        let state = lockoutState(of: user)
        await onWrong?(state.failures, app, user)
        await log.record(.passcodeWrong, app: app, user: user, Self.sentence(state))
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
        await log.record(.passcodeChanged, user: user, "The passcode was changed.")
        return notes
    }

    /// Gives the app a passcode of its own, or takes it away.
    public func setPasscode(_ passcode: SecretBytes?, of app: AppID, user: UInt32) async throws -> [String] {
        let notes = try passcode.map(Self.check) ?? []
        try await inTurn {
            var changed = stored
            changed.apps[app] = if let passcode { try await make(passcode) } else { nil }
            try await save(changed)
        }
        await log.record(
            .passcodeChanged, app: app, user: user,
            passcode == nil ? "\(app) has no passcode of its own any more." : "\(app) has a passcode of its own.")
        return notes
    }

    /// The app is off the list: its passcode goes too.
    public func forget(_ app: AppID) async throws {
        try await inTurn {
            guard stored.apps[app] != nil else { return }
            var changed = stored
            changed.apps[app] = nil
            try await save(changed)
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
        judge.update { [lockouts = changed.lockouts] in $0.lockouts = lockouts }
    }

    func make(_ passcode: SecretBytes) async throws -> String {
        let (cost, secret) = (try await currentCost(), machineSecret)
        return try await Self.onOwnThread {
            try PasscodeVerifier(passcode: passcode, cost: cost, machineSecret: secret).text
        }
    }

    func currentCost() async throws -> ScryptCost {
        if let measuredCost { return measuredCost }
        let cost = try await Self.onOwnThread(cost)
        measuredCost = cost
        return cost
    }

    private func compare(_ passcode: SecretBytes, with verifier: String) async throws
        -> PasscodeVerifier.Verification
    {
        let secret = machineSecret
        return try await Self.onOwnThread {
            try PasscodeVerifier(text: verifier).verify(passcode: passcode, machineSecret: secret)
        }
    }

    /// A key derivation keeps a core busy for a second: not on the pool that answers everything else.
    static func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { continuation.resume(with: Result(catching: work)) }
        }
    }

    func inTurn<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await turns.perform(work)
        } catch is Turns.Full {
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
        let times = state.failures == 1 ? "1 wrong passcode" : "\(state.failures) wrong passcodes in a row"
        return state.remainingSeconds > 0
            ? "\(times): this user can unlock nothing for \(state.remainingSeconds) seconds." : "\(times)."
    }

    private static func lockedOut(_ state: LockoutState) -> ControlError {
        ControlError(
            .lockedOut,
            "Too many wrong passcodes (\(state.failures)). Try again in \(state.remainingSeconds) seconds.",
            retryAfterSeconds: state.remainingSeconds)
    }

    private static func wrong(_ state: LockoutState, untilNext: Int) -> ControlError {
        if state.remainingSeconds > 0 {
            return ControlError(
                .lockedOut, "Wrong passcode. You can unlock nothing for \(state.remainingSeconds) seconds.",
                retryAfterSeconds: state.remainingSeconds)
        }
        return ControlError(.wrongPasscode, "Wrong passcode. \(untilNext) more before a pause.")
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
