import Crypto
import Foundation
import HubAPI
import HubStore
import Logging
import Synchronization
import WebPush

/// The logic of every route, between HTTP and the store. Stateless except for limits and caches, so several hubs can
/// share one database.
final class HubService: Sendable {
    let configuration: HubConfiguration
    let store: any HubStore
    let blobs: any HubBlobStore
    let time: any HubTime
    let metrics: HubMetrics
    let streams: StreamHub
    let pushes: PushSender
    let reminders: ReminderSender
    let pushKey: ApplicationServerKey
    let limits: RequestLimits
    let budget: MemoryBudget
    let quotas: Quotas
    let authors: RecordAuthors
    let busyBlobs = BusyBlobs()
    let logger: Logger
    private let sightings = Sightings()
    private let isEnding = Atomic<Bool>(false)

    init(
        configuration: HubConfiguration, store: any HubStore, blobs: any HubBlobStore, time: any HubTime,
        metrics: HubMetrics, streams: StreamHub, pushes: PushSender, reminders: ReminderSender,
        pushKey: ApplicationServerKey, logger: Logger
    ) {
        self.configuration = configuration
        self.store = store
        self.blobs = blobs
        self.time = time
        self.metrics = metrics
        self.streams = streams
        self.pushes = pushes
        self.reminders = reminders
        self.pushKey = pushKey
        self.logger = logger
        limits = RequestLimits(configuration.limits, time: time, metrics: metrics)
        budget = MemoryBudget(bytes: configuration.limits.memoryBytes)
        authors = RecordAuthors(store: store)
        quotas = Quotas(store: store, limit: configuration.limits.quotaBytes, time: time)
    }

    /// From now on `/health` reports the shutdown, and streams are refused.
    func end() { isEnding.store(true, ordering: .relaxed) }

    var isAboutToEnd: Bool { isEnding.load(ordering: .relaxed) }

    // MARK: Authentication

    /// The device with this token. Counts every limit first.
    ///
    /// - Throws: `HubError`: `tooMany`, `unauthorized` for an unknown token, `forbidden` if its device may not use the
    ///   route.
    func admit(_ route: HubRoute, token: String?, from client: Client) async throws -> StoredDevice? {
        try limits.count(client)
        guard route.access != .anybody else { return nil }
        guard let token else {
            throw HubError(.unauthorized, "This needs a device's token: \"Authorization: Bearer …\".")
        }
        guard let device = try await lookUp(token: token, from: client) else {
            throw HubError.unknownToken
        }
        try limits.count(device)
        if route.access != .knownDevice, device.state != .active {
            throw HubError(.forbidden, "This device is pending; a device of the household has to confirm it.")
        }
        if route.access == .administrator, !device.role.administers {
            throw HubError(.forbidden, "Only a device that may admit others may do this.")
        }
        if route.access == .companion, !device.role.isCompanion {
            throw HubError(.forbidden, "Only a companion may do this.")
        }
        recordLastSeen(device)
        return device
    }

    /// A token is 32 bytes in base64url without padding; the hub stores SHA-256 of these bytes.
    static func hash(token: String) -> Data? {
        guard let bytes = Base64URL.decode(token), bytes.count == 32 else { return nil }
        return Data(SHA256.hash(data: bytes))
    }

    func lookUp(token: String, from client: Client) async throws -> StoredDevice? {
        guard let hash = Self.hash(token: token) else {
            try limits.countFailedToken(client)
            return nil
        }
        // After too many unknown tokens from an address, only recently valid tokens are looked up, so that other
        // clients at that address still work.
        if !limits.wasGood(hash) { try limits.checkFailedTokens(client) }
        guard let device = try await metrics.timing("device", { try await store.device(tokenHash: hash) }) else {
            limits.forget(hash)
            try limits.countFailedToken(client)
            return nil
        }
        limits.remember(hash)
        return device
    }

    /// Stores it at most once a minute for each device. Returns before it is written.
    func recordLastSeen(_ device: StoredDevice) {
        let now = time.seconds()
        guard sightings.isNewMinute(now / 60, of: device.id) else { return }
        Task { [store] in try? await store.updateLastSeen(device.id, of: device.household, at: now) }
    }

    // MARK: Routes

    func respond(to request: HubRequest) async throws -> HubReply {
        switch request.route {
        case .health: try await health()
        case .metrics: try metricsPage(request)
        case .hub: try report(request)
        case .foundHousehold: try await foundHousehold(request)
        case .household: try await household(request)
        case .changeHousehold: try await changeHousehold(request)
        case .removeHousehold: try await removeHousehold(request)
        case .ownDevice: try .json(Self.ownReport(try request.knownDevice()))
        case .leave: try await leave(request)
        case .devices: try await devices(request)
        case .roster: try await roster(request)
        case .appendToRoster: try await appendToRoster(request)
        case .invite: try await invite(request)
        case .invitation: try await invitation(request)
        case .withdrawInvitation: try await withdrawInvitation(request)
        case .invitationDetails: try await invitationDetails(request)
        case .join: try await join(request)
        case .records: try await records(request)
        case .record: try await record(request)
        case .writeRecord: try await writeRecord(request)
        case .writeRecords: try await writeRecords(request)
        case .beginBlob: try await beginBlob(request)
        case .writeBlob: try await writeBlob(request)
        case .blobState: try .json(try await storedBlob(request).state)
        case .readBlob: try await readBlob(request)
        case .setPINShare: try await setPINShare(request)
        case .pinShare: try await pinShare(request)
        case .attemptPIN: try await attemptPIN(request)
        case .replacePIN: try await replacePIN(request)
        case .setPush: try await setPush(request)
        case .removePush: try await removePush(request)
        case .push: try await push(request)
        case .setReminders: try await setReminders(request)
        case .stream: throw HubError(.failed, "A stream is not a single response.")
        }
    }
}
