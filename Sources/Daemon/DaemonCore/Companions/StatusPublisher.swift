import ControlAPI
import Foundation
import Household
import HubAPI
import Policy
import SealedFormats
import Sync

/// Keeps `status/<computer>`, `apps/<computer>` and `icons/<computer>` up to date: on every change, at most every two
/// seconds, and every five minutes, so that devices have the age of the status and the time of this computer.
actor StatusPublisher {
    static let shortest = Duration.seconds(2)
    static let longest = Duration.seconds(300)
    /// How long an inspection of the host and its apps is used, because it reads many files.
    static let lookLasts = Duration.seconds(600)

    /// The results of the last inspection.
    private struct Look {
        var integrity: [IntegrityFinding]
        var lockable: [OtherApp]
        /// Since boot.
        var time: Duration
    }

    /// The icons of the listed apps, and the list and the inspection for which their files were read.
    private struct Icons {
        /// As their desktop entries name them, by app.
        var names: [String: String]
        /// Since boot.
        var look: Duration
        var body: ComputerIcons
    }

    /// After a new status key they are sent again: a device that joins later has only that one.
    private struct PublishedIcons: Equatable {
        var household: ItemID
        var epoch: UInt32
        var body: ComputerIcons
    }

    private let household: HouseholdService
    private let sync: SyncEngine
    private let publisher: EventPublisher
    private let apps: AppService
    private let documents: any DocumentStore
    private let time: any TimeSource
    private let changes: StateChanges
    private let deviceName: String
    private let status: StatusReader
    private let resolver: any AppResolver
    private let inspectHost: @Sendable () async -> [IntegrityFinding]
    private let events: AsyncStream<DaemonEvent>
    private var look: Look?
    private var lastStatus: [UInt8]?
    /// The number of days that was last sent to the hub of this household.
    private var sentAlertDays: Int?
    /// The apps as last published, with a clock of 0.
    private var lastApps: ComputerApps?
    private var icons: Icons?
    private var lastIcons: PublishedIcons?
    /// Raised for a change, and for a status that has to be sent without one.
    private let wake = Signal()
    private var isDue = true
    private var repetition: Task<Void, Never>?

    init(
        household: HouseholdService, sync: SyncEngine, publisher: EventPublisher, apps: AppService,
        status: StatusReader, resolver: any AppResolver,
        inspectHost: @escaping @Sendable () async -> [IntegrityFinding], documents: any DocumentStore,
        time: any TimeSource, changes: StateChanges, events: DaemonEvents, deviceName: String
    ) {
        self.household = household
        self.sync = sync
        self.publisher = publisher
        self.apps = apps
        self.documents = documents
        self.time = time
        self.changes = changes
        self.deviceName = deviceName
        self.status = status
        self.resolver = resolver
        self.inspectHost = inspectHost
        self.events = events.subscribe()
    }

    /// Publishes now, even without a change.
    func refresh() {
        isDue = true
        wake.raise()
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [changes, wake] in
                for await _ in changes.follow() { wake.raise() }
            }
            group.addTask { await self.followEvents() }
            group.addTask { await self.publishOnWake() }
            await group.next()
            group.cancelAll()
        }
    }

    private func followEvents() async {
        for await event in events {
            switch event {
            // The devices, their keys or the connection have changed: the status is sent again.
            case .householdChanged:
                sentAlertDays = nil
                refresh()
            case .recordsQueued, .hubConnected: refresh()
            default: break
            }
        }
    }

    private func publishOnWake() async {
        for await _ in wake.raised {
            if Task.isCancelled { return }
            // Without a connection nothing is published; it is due at the next one.
            guard await sync.isConnected else { continue }
            await publish()
            repeatLater()
            guard (try? await time.sleep(until: time.elapsed() + Self.shortest)) != nil else { return }
        }
    }

    /// Publishes again after five minutes. It is started only while there is a connection.
    private func repeatLater() {
        repetition?.cancel()
        repetition = Task { [time, end = time.elapsed() + Self.longest] in
            guard (try? await time.sleep(until: end)) != nil else { return }
            refresh()
        }
    }

    private func publish() async {
        guard let session = await household.session else { return }
        await sync.refreshCounts()
        let clock = await household.clock
        let hubProblems = await sync.protocolViolations
        let look = await currentLook()
        var status = ComputerStatus(
            name: deviceName, clock: 0, status: await self.status.statusForOtherDevices(), auditHead: nil,
            lastEvent: await publisher.head,
            rosterNumber: session.roster.head.number,
            rosterHead: Data(session.roster.head.hash), hubProblems: hubProblems,
            vault: (try? await household.passcodes.vaultDocument()).flatMap { $0 }.map { HubID($0.vault) },
            integrity: look.integrity, alertDays: await household.vault.settings.alertDays)
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
        let reports = await apps.reports()
        let list = await appList(reports, at: clock, look.lockable)
        if isDue || list != lastApps {
            var body = list
            body.clock = clock
            if let record = try? await household.sealNext(body, .apps, session.secrets.device) {
                records.append(record)
                lastApps = list
            }
        }
        let icons = PublishedIcons(
            household: session.roster.household, epoch: session.secrets.epoch, body: await currentIcons(reports, look))
        if icons != lastIcons,
            let record = try? await household.sealNext(icons.body, .icons, session.secrets.device)
        {
            records.append(record)
            lastIcons = icons
        }
        if let days = status.alertDays, days != sentAlertDays, (try? await household.keepAlerts(days: days)) != nil {
            sentAlertDays = days
        }
        isDue = false
        if !records.isEmpty { await sync.submit(records) }
    }

    private func currentLook() async -> Look {
        let now = time.elapsed()
        if let look, now - look.time < Self.lookLasts { return look }
        let fresh = Look(
            integrity: await inspectHost(),
            lockable: await resolver.lockable(user: await status.viewer()).sorted { $0.isBefore($1) }, time: now)
        look = fresh
        return fresh
    }

    /// Files are read for another list, and after each inspection.
    private func currentIcons(_ reports: [AppReport], _ look: Look) async -> ComputerIcons {
        let names = Dictionary(uniqueKeysWithValues: reports.compactMap { app in app.icon.map { (app.id, $0) } })
        if let icons, icons.names == names, icons.look == look.time { return icons.body }
        var left = ComputerIcons.maximumBytes
        let found = await resolver.icons(named: names, user: await status.viewer())
            .sorted { $0.app < $1.app }
            .filter { icon in
                guard icon.data.count <= left else { return false }
                left -= icon.data.count
                return true
            }
        let body = ComputerIcons(icons: found)
        icons = Icons(names: names, look: look.time, body: body)
        return body
    }

    private func appList(
        _ reports: [AppReport], at clock: UInt64, _ lockable: [OtherApp]
    ) async -> ComputerApps {
        let listed = reports.map { report in
            // Rounded to the minute, because a countdown alone is no change.
            let end = report.unlockedForSeconds.map { (clock + UInt64($0) * 1_000) / 60_000 * 60_000 }
            return RemoteApp(
                id: report.id, name: report.name, state: report.state, opensUntil: end, schedule: report.schedule,
                categories: report.categories)
        }
        let ids = Set(listed.map(\.id))
        let others = lockable.filter { !ids.contains($0.id) }.prefix(ComputerApps.maximumOthers).map {
            OtherApp(id: $0.id, name: String($0.name.prefix(80)))
        }
        let categories = await apps.categories().map { RemoteCategory(name: $0.name, schedule: $0.schedule) }
        return ComputerApps(clock: 0, apps: listed, others: others, categories: categories)
    }
}

extension OtherApp {
    /// Orders apps by name, ignoring case.
    fileprivate func isBefore(_ other: OtherApp) -> Bool {
        (name.lowercased(), id) < (other.name.lowercased(), other.id)
    }
}
