import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

/// This computer as a member of a household: its keys there, the other devices, and the connection to the hub.
public actor HouseholdService {
    /// A household that this computer is in.
    struct Session: Sendable {
        var settings: HubSettings
        var secrets: HouseholdSecrets
        var roster: Roster
        let hub: any HubConnection

        /// This computer's id at the hub.
        var device: HubID { HubID(secrets.device) }
        var sync: SyncSession { SyncSession(hub: hub, secrets: secrets, roster: roster) }
    }

    let store: any HouseholdStore
    let passcodes: PasscodeService
    let vault: VaultService
    let time: any TimeSource
    let log: ActivityLog
    let deviceName: String
    let ports: HouseholdPorts
    let machineSecret: SecretBytes
    var session: Session? {
        didSet {
            let companions = session?.roster.members.count { $0.role.isCompanion } ?? 0
            authorizer.update { $0.companions = companions }
        }
    }
    /// Receives the number of phones.
    private let authorizer: LaunchAuthorizer
    let events: DaemonEvents
    var revocation: StoredRevocation?
    /// The roster entry up to which every revocation is answered: the device's records are here and sealed again.
    var answered: UInt64 = 0
    /// Admits and revokes devices one after the other: each changes which devices get which keys.
    let memberships = AsyncSerialQueue()
    /// Changes the status keys one after the other: each stores all keys that it knows. Not `memberships`, in which a
    /// revocation waits for records of other devices.
    let keyChanges = AsyncSerialQueue()
    var pairings: [ItemID: Pairing] = [:]
    /// The household that this computer asks to join.
    var joining: Joining?
    /// The outcome of the last request to join.
    var joiningOutcome: JoiningReport?
    /// Requests that wait for the state of joining to change.
    var joiningWaiters: [CheckedContinuation<Void, Never>] = []
    let joiningSignal = Signal()
    /// When the newest alert was sent to phones, in seconds since 1970; nil if none was.
    var lastAlert: Double?
    /// Why there is no household any more, if another computer revoked this one.
    var revocationNotice: String?
    /// Requests that wait for a device to join.
    var joinWaiters: [CheckedContinuation<Void, Never>] = []

    init(
        ports: HouseholdPorts, passcodes: PasscodeService, vault: VaultService, machineSecret: SecretBytes,
        deviceName: String, time: any TimeSource, log: ActivityLog, authorizer: LaunchAuthorizer,
        events: DaemonEvents
    ) {
        self.authorizer = authorizer
        self.events = events
        self.ports = ports
        store = ports.store
        self.passcodes = passcodes
        self.vault = vault
        self.machineSecret = machineSecret
        self.deviceName = deviceName
        self.time = time
        self.log = log
    }

    nonisolated var signingKey: DeviceSigningKey { ports.signingKey }

    /// - Throws: `UnreadableState`, or what the store throws.
    func load() async throws {
        try await loadJoining()
        guard let known = try await store.decoded(HubSettings.self, HouseholdDocuments.settings) else { return }
        let settings = ports.withTodaysAddress(known)
        guard let stored = try await store.decoded(StoredRoster.self, HouseholdDocuments.roster),
            let keyBytes = try await store.document(HouseholdDocuments.keys)
        else { throw UnreadableState(document: HouseholdDocuments.settings, cause: "its keys are missing") }
        let roster: Roster
        let secrets: HouseholdSecrets
        do {
            roster = try Roster(entries: stored.entries.map { [UInt8]($0) })
            secrets = try HouseholdSecrets(
                sealed: keyBytes, household: stored.household, signingKey: signingKey, machineSecret: machineSecret)
        } catch {
            throw UnreadableState(document: HouseholdDocuments.keys, cause: "\(error)")
        }
        answered =
            try await store.document(HouseholdDocuments.answered)
            .flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
        lastAlert =
            try await store.document(HouseholdDocuments.alertSent)
            .flatMap { Double(String(decoding: $0, as: UTF8.self)) }
        revocation = try await store.decoded(StoredRevocation.self, HouseholdDocuments.revocation)
        // A missing certificate file must not prevent the daemon from locking apps.
        let hub = ports.connection(settings, secrets.token)
        session = Session(settings: settings, secrets: secrets, roster: roster, hub: hub)
    }

    /// Milliseconds since 1970.
    var clock: UInt64 { UInt64(max(0, time.wallClock()) * 1_000) }

    /// - Throws: `ControlError` with `hub`.
    func requireSession() throws(ControlError) -> Session {
        guard let session else {
            throw ControlError(
                .hub, revocationNotice ?? "There is no hub. Connect one with `applocker hub connect URL`.")
        }
        return session
    }

    // MARK: Connecting

    /// Founds a household at the hub of `applocker up`, unless the owner has chosen none.
    /// - Returns: whether to try again soon.
    func connectEmbedded() async -> Bool {
        guard await awaitsEmbedded(), let address = ports.embeddedHub else { return false }
        guard await passcodes.isSetUp else { return true }
        try? await connect(
            HubSettings(url: address, isInsecure: true, isEmbedded: true), registrationToken: nil, user: nil)
        return true
    }

    /// Whether the hub of `applocker up` is to be connected and was not yet.
    func awaitsEmbedded() async -> Bool {
        guard session == nil, joining == nil, ports.embeddedHub != nil else { return false }
        return (try? await store.document(HouseholdDocuments.declined)) == .some(nil)
    }

    /// Founds a household at a hub.
    ///
    /// - Parameter registrationToken: or a start link of the hub's operator.
    /// - Throws: `ControlError` with `hub` where there is one already or the hub can't be reached or refuses.
    func connect(_ settings: HubSettings, registrationToken: String?, user: UInt32?) async throws {
        if let session {
            throw ControlError(
                .hub, "There is a hub already (\(session.settings.url)). Leave it with `applocker hub disconnect`.")
        }
        guard await passcodes.isSetUp else {
            throw ControlError(.notSetUp, "No passcode is set yet. Set one with `applocker setup`.")
        }
        var settings = settings
        // The address of `applocker up`'s hub stands for that hub, whatever its port at the next start.
        settings.isEmbedded = settings.isEmbedded || settings.url == ports.embeddedHub
        settings.isInsecure = settings.isInsecure || settings.isEmbedded
        let (boxKey, token) = (BoxKeyPair(), SecretBytes.random(count: HouseholdSecrets.tokenLength))
        let roster = Roster(founder: signingKey, boxKey: boxKey.publicKey, at: clock / 1_000)
        let secrets = HouseholdSecrets(
            household: roster.household, signingKey: signingKey, boxKey: boxKey, token: token,
            ring: KeyRing([.init(kind: .status, vault: roster.household, epoch: 1, key: .random(count: 32))]))
        let start = registrationToken.flatMap { StartInvitation.text(ofLink: $0) }
        do {
            let hub = try ports.connect(settings, token)
            _ = try await hub.hub()
            try await hub.found(
                NewHouseholdRequest(
                    household: HubID(roster.household), device: HubID(secrets.device), entry: Data(roster.entries[0]),
                    tokenHash: secrets.tokenHash, registrationToken: start == nil ? registrationToken : nil,
                    start: start))
            guard session == nil else { throw ControlError(.busy, "Another hub was connected meanwhile.") }
            let name = try secrets.seal(DeviceName(name: shortName), .devices, secrets.device, revision: 1)
            try await store.write(
                StateChange(
                    documents: [
                        HouseholdDocuments.settings: try [UInt8](JSONEncoder().encode(settings)),
                        HouseholdDocuments.keys: sealedKeys(secrets),
                        HouseholdDocuments.roster: try Self.stored(roster),
                        HouseholdDocuments.declined: nil, HouseholdDocuments.revocationNotice: nil,
                    ], household: [name]))
            (revocationNotice, answered) = (nil, 0)
            session = Session(settings: settings, secrets: secrets, roster: roster, hub: hub)
        } catch {
            throw ControlError(hub: error)
        }
        await log.append(.hubConnected, user: user, "AppLocker is connected to the hub at \(settings.url).")
        events.send(.householdChanged)
    }

    /// The computer's name as other devices see it: at most 64 bytes.
    var shortName: String { Self.shortened(deviceName) }

    static func shortened(_ name: String) -> String {
        var name = name.isEmpty ? "computer" : name
        while name.utf8.count > Invitation.nameLength.upperBound { name.removeLast() }
        return name
    }

    // MARK: Keys and roster

    static func stored(_ roster: Roster) throws -> [UInt8] {
        try [UInt8](
            JSONEncoder().encode(StoredRoster(household: roster.household, entries: roster.entries.map { Data($0) })))
    }

    /// Reads new entries of the roster from the hub.
    /// - Throws: `RosterViolation`, or what the connection throws.
    @discardableResult
    func followRoster() async throws -> Roster {
        let session = try requireSession()
        var roster = session.roster
        let hasGrown = try await roster.followRestoring(session.hub) { count in
            await log.enqueue(
                .hubMisbehaved,
                count == 1
                    ? "The hub has an older list of devices than before, as after a restored backup. "
                        + "1 entry was sent again."
                    : "The hub has an older list of devices than before, as after a restored backup. "
                        + "\(count) entries were sent again.")
        }
        if hasGrown {
            try await store.save(Self.stored(roster), as: HouseholdDocuments.roster)
            takeOver(roster)
        }
        return self.session?.roster ?? roster
    }

    /// Ignores an older roster: another task may have read further.
    func takeOver(_ roster: Roster) {
        guard let session, roster.head.number > session.roster.head.number else { return }
        self.session?.roster = roster
    }

    private func isForThisComputer(_ record: CheckedRecord) -> Bool {
        guard let own = session?.secrets.device else { return false }
        return DeviceKeys.isFor(own, id: record.name.id, author: record.author.id)
    }

    /// Stores new status keys from another computer of the household.
    func ingestKeys(_ record: CheckedRecord) async throws {
        if session?.roster.isPhoneFounded == true { return try await ingestEpochKeys(record) }
        guard isForThisComputer(record), let secrets = session?.secrets, let sealed = record.sealed else { return }
        let ring = try DeviceKeys.open(sealed, as: record.name, with: secrets.boxKey)
        // Keys of vaults are dropped: this computer must not have them while it is locked.
        try await add(KeyRing(ring.entries.filter { $0.kind == .status && $0.vault == secrets.household }))
    }

    /// Adds status keys of another device.
    /// - Throws: as `HouseholdSecrets.add`.
    func add(_ statusKeys: KeyRing) async throws {
        try await keyChanges.perform {
            guard var secrets = session?.secrets else { return }
            try secrets.add(statusKeys)
            try await store.save(sealedKeys(secrets), as: HouseholdDocuments.keys)
            session?.secrets = secrets
        }
    }

    /// The stored form of changed keys; they are in force once `adopt` is called.
    func sealedKeys(_ secrets: HouseholdSecrets) -> [UInt8] { secrets.sealed(machineSecret: machineSecret) }

    func adopt(_ secrets: HouseholdSecrets, revocation: StoredRevocation?) {
        session?.secrets = secrets
        self.revocation = revocation
        events.send(.recordsQueued)
    }

    /// A record of the household, sealed and signed; nil where there is no household.
    func seal(
        _ body: some Encodable & Sendable, _ collection: RecordCollection, _ id: ItemID, revision: UInt64,
        replaces: UInt64? = nil
    ) throws -> HubRecord? {
        try session?.secrets.seal(body, collection, id, revision: revision, replaces: replaces)
    }

    /// The same, as the next revision of the known record with this name.
    func sealNext(
        _ body: some Encodable & Sendable, _ collection: RecordCollection, _ id: ItemID
    ) async throws -> HubRecord? {
        let known = try await store.known(collection, id)?.revision ?? 0
        return try seal(body, collection, id, revision: known + 1)
    }
}
