import ControlAPI
import Foundation
import Household
import HubAPI
import Policy
import SealedFormats
import Sync

/// Informs the other devices of events and of waiting launches, in sealed records, as they happen.
actor EventPublisher {
    private let household: HouseholdService
    private let sync: SyncEngine
    private let apps: AppService
    private let log: ActivityLog
    private let documents: any DocumentStore
    private let time: any TimeSource
    private let deviceName: String
    private let events: AsyncStream<DaemonEvent>
    /// The id of the newest event by this computer.
    private(set) var head: HubID?
    /// The record of each waiting launch, by its prompt.
    private var requests: [String: (id: ItemID, body: LaunchRequest)] = [:]

    init(
        household: HouseholdService, sync: SyncEngine, apps: AppService, log: ActivityLog,
        documents: any DocumentStore, time: any TimeSource, deviceName: String, events: DaemonEvents
    ) {
        self.household = household
        self.sync = sync
        self.apps = apps
        self.log = log
        self.documents = documents
        self.time = time
        self.deviceName = deviceName
        self.events = events.subscribe()
    }

    func load() async throws {
        head = try await documents.document(HouseholdDocuments.eventHead).flatMap {
            HubID(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Follows waiting launches and changes of the household, for as long as the daemon runs.
    func followEvents() async {
        for await event in events {
            switch event {
            case .promptOpened(let report): await waiting(report)
            case .promptSettled(let prompt, let outcome): await settled(prompt, outcome)
            case .householdChanged: await householdChanged()
            default: break
            }
        }
    }

    /// Another household, or none: the chain of events starts again.
    private func householdChanged() async {
        head = nil
        requests = [:]
        try? await load()
    }

    // MARK: Events

    /// Reads the activity log for as long as the daemon runs.
    func followLog() async {
        for await event in await log.observe() {
            guard let session = await household.session else { continue }
            await publish(event, session)
        }
    }

    /// Publishes an event that is not in the activity log.
    func announce(_ kind: ActivityEvent.Kind, _ sentence: String) async {
        guard let session = await household.session else { return }
        await publish(ActivityEvent(time: time.wallClock(), kind: kind, sentence: sentence), session)
    }

    private func publish(_ event: ActivityEvent, _ session: HouseholdService.Session) async {
        guard let kind = Self.kind(of: event) else { return }
        var name: String?
        if let app = event.app { name = await apps.name(of: app) }
        let id = ItemID.random()
        let body = HouseholdEvent(
            kind: kind, computer: session.device, computerName: deviceName,
            time: UInt64(max(0, event.time) * 1_000), app: event.app?.rawValue, appName: name, reason: event.reason,
            sentence: event.sentence, photo: event.photo.map { HubID($0) }, previous: head)
        // The author of the sentence ensures that it fits into a record.
        guard let record = try? session.secrets.seal(body, .events, id, revision: 1) else { return }
        head = HubID(id)
        await sync.submit([record], documents: [HouseholdDocuments.eventHead: Array(id.description.utf8)])
        switch kind {
        case .failed, .photographed: push(record, urgency: .high, ttl: 86_400, session)
        case .blocked, .apps, .rules, .backup, .recovery: push(record, urgency: .normal, ttl: 86_400, session)
        default: break
        }
    }

    /// Nil: the event does not concern other devices.
    private static func kind(of event: ActivityEvent) -> HouseholdEvent.Kind? {
        switch event.kind {
        case .launchAsked, .readDenied: .blocked
        // The device that denied it needs no report, and a launch with a prompt was reported then.
        case .launchDenied:
            [Reason.cancelled, .noAnswer, .prompterGone, .launcherGone].contains { $0.rawValue == event.reason }
                ? nil : .blocked
        case .passcodeWrong: .failed
        case .intruderPhotographed: .photographed
        case .unlocked, .vaultOpened: .unlocked
        case .locked, .grantEnded, .vaultLocked, .relocked: .relocked
        case .gateAway, .marksMissing, .eventsLost, .monitoringOff: .degraded
        case .started: .started
        case .stopped: .stopped
        case .hubMisbehaved: .hubMisbehaved
        case .appAdded, .appRemoved: .apps
        case .appChanged, .categoryChanged: .rules
        case .backupExported, .backupImported: .backup
        case .recoveryMade, .recoveryUsed: .recovery
        case .devicePaired, .deviceRevoked, .passcodeChanged, .monitoringOn, .settingsChanged, .changesRestored:
            .changed
        default: nil
        }
    }

    // MARK: Launches that wait

    private func waiting(_ report: PromptReport) async {
        guard let session = await household.session else { return }
        let clock = await household.clock
        let body = LaunchRequest(
            computer: session.device, computerName: deviceName, prompt: report.prompt, app: report.app,
            appName: report.name, path: report.path, parentName: report.parentName, userName: report.userName,
            clock: clock, expires: clock + UInt64(max(0, report.expiresInSeconds)) * 1_000,
            defaultGrantSeconds: report.defaultGrantSeconds)
        let id = ItemID.random()
        guard let record = try? session.secrets.seal(body, .requests, id, revision: 1) else { return }
        requests[report.prompt] = (id, body)
        await sync.submit([record])
        push(record, urgency: .high, ttl: max(1, report.expiresInSeconds), session)
    }

    private func settled(_ prompt: String, _ outcome: PromptOutcome) async {
        guard let (id, request) = requests.removeValue(forKey: prompt), let session = await household.session else {
            return
        }
        var body = request
        body.outcome = outcome
        body.clock = await household.clock
        guard let record = try? session.secrets.seal(body, .requests, id, revision: 2) else { return }
        await sync.submit([record])
    }

    // MARK: Push

    /// Sends the sealed record as a push message to devices that are not connected. Nothing waits for it, and after a
    /// lost message the record is still at the hub.
    private func push(
        _ record: HubRecord, urgency: PushMessageRequest.Urgency, ttl: Int, _ session: HouseholdService.Session
    ) {
        guard let payload = try? JSONEncoder().encode(record), payload.count <= PushMessageRequest.maximumPayloadBytes
        else { return }
        let sent = time.wallClock()
        Task { [sync, household] in
            guard await sync.isConnected else { return }
            let request = PushMessageRequest(
                payload: payload, urgency: urgency, ttl: ttl, topic: record.id.description)
            if let count = try? await session.hub.push(request), count > 0 { await household.alertSent(at: sent) }
        }
    }
}
