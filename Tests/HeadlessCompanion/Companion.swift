import Foundation
public import Household
public import HubAPI
public import SealedFormats

/// A companion without a screen, with all functions of a phone, for tests and benchmarks. Its keys are in a file
/// without a PIN.
public actor Companion {
    /// How to connect to a hub.
    public struct HubSettings: Sendable {
        public var url: String
        public var certificates: String?
        public var proxy: String?
        public var isInsecure: Bool
        public init(url: String, certificates: String? = nil, proxy: String? = nil, isInsecure: Bool = false) {
            self.url = url
            self.certificates = certificates
            self.proxy = proxy
            self.isInsecure = isInsecure
        }
    }

    public typealias Connect = @Sendable (HubSettings, SecretBytes?) throws -> any HubConnection

    let files: CompanionFiles
    public let hub: any HubConnection
    public private(set) var secrets: HouseholdSecrets
    let deviceSecret: SecretBytes
    public private(set) var roster: Roster
    var state: CompanionState
    /// Milliseconds since 1970.
    let clock: @Sendable () -> UInt64

    public static let systemClock: @Sendable () -> UInt64 = { UInt64(Date().timeIntervalSince1970 * 1_000) }

    /// Loads the state that an earlier run left in the directory.
    /// - Throws: `CompanionError`, `SealedFormatsError`.
    public init(
        directory: String, clock: @escaping @Sendable () -> UInt64 = systemClock, connect: Connect
    ) throws {
        files = CompanionFiles(directory: directory)
        state = try files.loadState()
        (secrets, deviceSecret) = try files.loadSecrets(household: state.household)
        roster = try Roster(entries: state.roster.map { [UInt8]($0) })
        hub = try connect(
            HubSettings(
                url: state.hub, certificates: state.certificates, proxy: state.proxy, isInsecure: state.isInsecure),
            secrets.token)
        self.clock = clock
    }

    public var device: HubID { HubID(secrets.device) }
    private var usesEpochKeys: Bool { roster.isPhoneFounded || state.isSharedVault }

    // MARK: Pairing

    /// Joins by a link, waits until the owner has agreed, and stores the household's keys.
    ///
    /// - Parameters:
    ///   - patience: how long to wait for the owner.
    ///   - pause: between two requests to the hub.
    /// - Throws: `CompanionError`, `HubError`, `HubUnreachable`, `SealedFormatsError`.
    public static func join(
        _ link: String, name: String, directory: String, certificates: String? = nil, proxy: String? = nil,
        isInsecure: Bool = false, patience: Duration = .seconds(600), pause: Duration = .milliseconds(300),
        clock: @escaping @Sendable () -> UInt64 = systemClock, connect: Connect
    ) async throws -> Companion {
        let (invitation, url) = try Invitation.reading(link: link)
        guard invitation.role.isCompanion else {
            throw CompanionError("This link is for a computer: run `applocker hub join` with it there.")
        }
        let files = CompanionFiles(directory: directory)
        guard !files.exists else { throw CompanionError("There is a companion in \(directory) already.") }
        try files.prepare()
        let secrets = HouseholdSecrets(
            household: invitation.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(),
            token: .random(count: HouseholdSecrets.tokenLength), ring: KeyRing([]))
        let hub = try connect(
            HubSettings(url: url, certificates: certificates, proxy: proxy, isInsecure: isInsecure), secrets.token)
        try await hub.join(
            HubID(invitation.id), secrets.joinRequest(to: invitation, as: HubDeviceRole(invitation.role), name: name))
        try await waitUntilAdmitted(hub, patience, pause)
        let roster = try await checkedRoster(hub, invitation, secrets)
        try files.save(secrets, deviceSecret: .random(count: 32))
        try files.save(
            CompanionState(
                hub: url, certificates: certificates, proxy: proxy, isInsecure: isInsecure,
                household: invitation.household, computer: invitation.computer,
                roster: roster.entries.map { Data($0) }))
        let companion = try Companion(directory: directory, clock: clock, connect: connect)
        try await companion.waitForKeys(patience, pause)
        return companion
    }

    private static func waitUntilAdmitted(
        _ hub: any HubConnection, _ patience: Duration, _ pause: Duration
    ) async throws {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            do {
                if try await hub.ownDevice().state == .active { return }
            } catch let error as HubError where error.code == .unauthorized {
                throw CompanionError("The owner did not confirm; pair again.")
            }
            try await Task.sleep(for: pause)
        }
        throw CompanionError("The owner did not confirm in time; pair again.")
    }

    /// The roster, if it is the one of the link and contains this device's own keys.
    private static func checkedRoster(
        _ hub: any HubConnection, _ invitation: Invitation, _ secrets: HouseholdSecrets
    ) async throws -> Roster {
        let roster = try Roster(entries: try await hub.roster(after: 0))
        guard roster.household == invitation.household else {
            throw CompanionError(
                "The hub returned another household's devices; it can't be trusted. Nothing was stored.")
        }
        guard roster.member(invitation.computer)?.role.administers == true else {
            throw CompanionError("The device that showed the link is not in the household; nothing was stored.")
        }
        let own = RosterMember(
            role: invitation.role, signingKey: secrets.signingKey.publicKey, boxKey: secrets.boxKey.publicKey)
        guard roster.member(secrets.device) == own else {
            throw CompanionError(
                "The hub returned wrong keys for this device; it can't be trusted. Nothing was stored.")
        }
        return roster
    }

    private func waitForKeys(_ patience: Duration, _ pause: Duration) async throws {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            try await sync()
            if secrets.epoch > 0 { return }
            try await Task.sleep(for: pause)
        }
        throw CompanionError("The computer did not send the household's keys; is it connected?")
    }

    // MARK: Synchronising

    /// Reads all records since the last call.
    public func sync() async throws {
        try await compareStores()
        try await followRoster()
        while true {
            let page = try await hub.records(after: state.cursor)
            for record in page.records { try await ingest(record) }
            guard page.next > state.cursor else {
                if page.next < state.cursor { reportProtocolViolation("fewer records than before") }
                break
            }
            state.cursor = page.next
            if !page.more { break }
        }
        try save()
    }

    /// Reads a store that was restored from a backup again, from the point where both were the same. Computers send
    /// what it lost again; this companion keeps its records, and sends nothing.
    private func compareStores() async throws {
        let report = try await hub.household()
        let newest = state.records.values.reduce(state.cursor) { max($0, $1.sequence ?? 0) }
        if let known = state.generations {
            let common = HubHistory.common(
                known: known, newest: newest, served: report.generations, sequence: report.sequence)
            if common < newest {
                state.cursor = common
                for (key, record) in state.records where record.sequence ?? 0 > common {
                    state.records[key]?.sequence = nil
                }
            }
        }
        state.generations = report.generations
    }

    /// Reads live until the body returns false.
    public func watch(_ body: @Sendable (HubStreamItem, Ingested?) async throws -> Bool) async throws {
        for try await item in try await hub.stream(after: state.cursor) {
            var ingested: Ingested?
            switch item {
            case .record(let record):
                ingested = try await ingest(record)
                state.cursor = max(state.cursor, record.sequence ?? 0)
            case .large(let sequence):
                if let record = try await hub.record(at: sequence) { ingested = try await ingest(record) }
                state.cursor = max(state.cursor, sequence)
            case .roster: try await followRoster()
            case .live(let sequence): state.cursor = max(state.cursor, sequence)
            case .open, .join: break
            }
            guard try await body(item, ingested) else { break }
        }
        try save()
    }

    func followRoster() async throws {
        var longer = roster
        do {
            guard try await longer.follow(hub) else { return }
        } catch let error as RosterViolation {
            reportProtocolViolation(error.description)
            try save()
            throw CompanionError("The hub can't be trusted: it returned \(error). Nothing was accepted.")
        }
        roster = longer
        state.roster = roster.entries.map { Data($0) }
        try save()
    }

    public func save() throws { try files.save(state) }

    // MARK: Records

    /// An accepted record, with its content if that is the household's.
    public enum Ingested: Sendable {
        case event(HubID, HouseholdEvent)
        case request(HubID, revision: UInt64, LaunchRequest)
        case status(HubID, ComputerStatus)
        case apps(HubID, ComputerApps)
        case icons(HubID, ComputerIcons)
        case device(HubID, DeviceName?)
        case reply(HubID, revision: UInt64, CommandReply)
        case keys
        /// Content of a vault.
        case content(RecordName)
    }

    static func key(_ collection: String, _ id: HubID) -> String { "\(collection)/\(id)" }

    /// Checks one record and stores it.
    /// - Returns: nil if it is refused, already stored, or not for this device.
    @discardableResult
    public func ingest(_ record: HubRecord) async throws -> Ingested? {
        let key = Self.key(record.collection, record.id)
        let known = state.records[key]
        if let known, record.revision <= known.revision {
            let isLater = record.sequence ?? 0 > known.sequence ?? 0
            if record.revision < known.revision, isLater { refuse(.notNewer) }
            return nil
        }
        do {
            guard let checked = try await check(record, known: known?.revision ?? 0) else { return nil }
            let ingested = try open(checked)
            state.records[key] = record
            if case .keys? = ingested { try await ingestDeferred() }
            return ingested
        } catch let error as RecordRefusal {
            refuse(error)
        } catch is StatusKeyMissing {
            // The keys of a new epoch are a record of their own, which may arrive later.
            state.deferred.append(record)
        }
        return nil
    }

    private func ingestDeferred() async throws {
        let deferred = state.deferred
        state.deferred = []
        for record in deferred { try await ingest(record) }
    }

    /// Nil if its device was revoked since.
    private func check(_ record: HubRecord, known: UInt64) async throws -> CheckedRecord? {
        let knownEpoch = state.records[Self.key(record.collection, record.id)]?.epoch ?? 0
        do {
            return try RecordCheck(roster).check(record, known: known, knownEpoch: knownEpoch)
        } catch RecordRefusal.unknownAuthor {
            try await followRoster()
            if roster.revoked.contains(record.author.item) { return nil }
            return try RecordCheck(roster).check(record, known: known, knownEpoch: knownEpoch)
        }
    }

    private func open(_ record: CheckedRecord) throws -> Ingested? {
        let id = HubID(record.name.id)
        switch record.name.collection {
        case .keys where usesEpochKeys && record.name.id == epochKeysID(record.epoch):
            guard record.epoch <= roster.keysEpoch, let sealed = record.sealed,
                let ring = try? EpochKeys.open(
                    sealed, as: record.name, epoch: record.epoch, for: secrets.device, with: secrets.boxKey)
            else { return nil }
            try secrets.add(ring)
            try files.save(secrets, deviceSecret: deviceSecret)
            return .keys
        case .keys:
            guard DeviceKeys.isFor(secrets.device, id: record.name.id, author: record.author.id),
                let sealed = record.sealed
            else { return nil }
            guard let ring = try? DeviceKeys.open(sealed, as: record.name, with: secrets.boxKey) else {
                throw RecordRefusal.unreadable
            }
            try secrets.add(
                state.owners.accept(
                    ring, from: record.author.id, known: secrets.ring, members: Set(roster.members.map(\.id))))
            try files.save(secrets, deviceSecret: deviceSecret)
            return .keys
        case .devices: return .device(id, record.sealed == nil ? nil : try secrets.open(record, as: DeviceName.self))
        case .status:
            let status = try secrets.open(record, as: ComputerStatus.self)
            state.clocks[id, default: ComputerClock()].received(status.clock, at: clock())
            if let newest = status.lastEvent { state.chains[id, default: EventChain()].note(newest) }
            if status.rosterNumber > roster.head.number {
                reportProtocolViolation("an older list of devices than the computer has")
            } else if let hash = status.rosterHead,
                !roster.contains(.init(number: status.rosterNumber, hash: [UInt8](hash)))
            {
                reportProtocolViolation("another list of devices than to the computer")
            }
            return .status(id, status)
        case .apps: return .apps(id, try secrets.open(record, as: ComputerApps.self))
        case .icons: return .icons(id, try secrets.open(record, as: ComputerIcons.self))
        case .events:
            let event = try secrets.open(record, as: HouseholdEvent.self)
            guard event.computer == HubID(record.author.id) else { throw RecordRefusal.wrongWriter }
            state.chains[event.computer, default: EventChain()].add(id, previous: event.previous)
            return .event(id, event)
        case .requests:
            let request = try secrets.open(record, as: LaunchRequest.self)
            return .request(id, revision: record.name.revision, request)
        case .commands:
            guard record.name.revision > 1 else { return nil }
            return .reply(id, revision: record.name.revision, try secrets.open(record, as: CommandReply.self))
        default: return .content(record.name)
        }
    }

    private func refuse(_ refusal: RecordRefusal) {
        state.refused += 1
        reportProtocolViolation(refusal.description)
    }

    func reportProtocolViolation(_ what: String) {
        let sentence = "The hub returned \(what); it was refused."
        if !state.misbehaviour.contains(sentence), state.misbehaviour.count < 20 { state.misbehaviour.append(sentence) }
    }
}
