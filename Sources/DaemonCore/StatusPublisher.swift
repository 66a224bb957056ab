import Foundation
import Household
import SealedFormats
import WireProtocol

/// Keeps `status/<computer>` and `apps/<computer>` up to date: on every change, but not more often than every two seconds,
/// and every five minutes, so that a device knows how old its picture is and what time it is here.
actor StatusPublisher {
    static let shortest = Duration.seconds(2)
    static let longest = Duration.seconds(300)

    private let household: HouseholdService
    private let sync: SyncService
    private let events: EventPublisher
    private let apps: AppService
    private let documents: any DocumentStore
    private let time: any TimeSource
    private let changes: StateChanges
    private let deviceName: String
    private let statusReport: @Sendable () async -> StatusReport
    private var lastStatus: [UInt8]?
    private var lastApps: [RemoteApp]?
    /// Raised for a change, and for what has to go out although nothing changed.
    private let wake = Signal()
    private var isDue = true
    private var repetition: Task<Void, Never>?

    init(
        household: HouseholdService, sync: SyncService, events: EventPublisher, apps: AppService,
        documents: any DocumentStore, time: any TimeSource, changes: StateChanges, deviceName: String,
        statusReport: @escaping @Sendable () async -> StatusReport
    ) {
        self.household = household
        self.sync = sync
        self.events = events
        self.apps = apps
        self.documents = documents
        self.time = time
        self.changes = changes
        self.deviceName = deviceName
        self.statusReport = statusReport
    }

    /// Says it now, changed or not.
    func refresh() {
        isDue = true
        wake.raise()
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [changes, wake] in
                for await _ in changes.follow() { wake.raise() }
            }
            group.addTask { await self.publishOnWake() }
            await group.next()
            group.cancelAll()
        }
    }

    private func publishOnWake() async {
        for await _ in wake.raised {
            if Task.isCancelled { return }
            // While there is no connection nobody is told: at the next one it is due.
            guard await sync.isConnected else { continue }
            await publish()
            repeatLater()
            guard (try? await time.sleep(for: Self.shortest)) != nil else { return }
        }
    }

    /// Runs while there is a connection, and not on a computer that has none.
    private func repeatLater() {
        repetition?.cancel()
        repetition = Task { [time] in
            guard (try? await time.sleep(for: Self.longest)) != nil else { return }
            refresh()
        }
    }

    private func publish() async {
        guard let session = await household.session else { return }
        await sync.refreshCounts()
        let clock = await household.clock
        let hubProblems = await sync.misbehaviour
        var status = ComputerStatus(
            name: deviceName, clock: 0, status: await statusReport(), auditHead: nil, lastEvent: await events.head,
            rosterNumber: session.roster.head.number, hubProblems: hubProblems,
            vault: (try? await household.passcodes.vaultDocument()).flatMap { $0 }.map { HubID($0.vault) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let picture = try? [UInt8](encoder.encode(status))
        var records: [HubRecord] = []
        if isDue || picture != lastStatus {
            status.clock = clock
            status.auditHead = (try? await documents.document("audit-head")).flatMap { $0 }.map {
                String(decoding: $0, as: UTF8.self)
            }
            if let record = try? await household.sealNext(status, .status, session.secrets.device) {
                records.append(record)
                lastStatus = picture
            }
        }
        let list = await appList(at: clock)
        if isDue || list != lastApps {
            let body = ComputerApps(clock: clock, apps: list)
            if let record = try? await household.sealNext(body, .apps, session.secrets.device) {
                records.append(record)
                lastApps = list
            }
        }
        isDue = false
        if !records.isEmpty { await sync.submit(records) }
    }

    private func appList(at clock: UInt64) async -> [RemoteApp] {
        await apps.reports().map { report in
            // To the minute: a countdown alone is no change.
            let end = report.unlockedForSeconds.map { (clock + UInt64($0) * 1_000) / 60_000 * 60_000 }
            return RemoteApp(
                id: report.id, name: report.name, state: report.state, opensUntil: end, schedule: report.schedule,
                categories: report.categories)
        }
    }
}
