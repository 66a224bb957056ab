import Foundation
import Household
import Policy
import SealedFormats
import WireProtocol

/// Carries out what companions command: once, within a minute, and as far as the owner at the computer could.
actor RemoteService {
    private let household: HouseholdService
    private let sync: SyncService
    private let store: any SyncStore
    private let actions: RemoteActions
    private let log: ActivityLog

    init(
        household: HouseholdService, sync: SyncService, store: any SyncStore, actions: RemoteActions, log: ActivityLog
    ) {
        self.household = household
        self.sync = sync
        self.store = store
        self.actions = actions
        self.log = log
    }

    /// Reads commands for as long as the daemon runs.
    func followCommands() async {
        for await record in sync.commands { await receive(record) }
    }

    private func receive(_ record: CheckedRecord) async {
        guard let session = await household.session, session.roster.member(record.author.id) != nil else { return }
        let command: RemoteCommand
        do {
            command = try session.secrets.open(record)
        } catch is RecordRefusal {
            // Sealed right and not understood: a newer companion asks for what this version does not know. For whom it is
            // can't be read either.
            return await sync.misbehaved(RecordRefusal.unreadable.description)
        } catch {
            return
        }
        guard command.computer == session.device else { return }
        do {
            // Before anything is done: killed in between it is never done, rather than twice.
            guard try await store.handle(command: record.name.id) else { return }
        } catch {
            return await reply(
                record, refused(ControlError(.failed, "The computer could not write it down (\(error)).")), revision: 2)
        }
        let name = await household.name(of: record.author.id)
        let clock = await household.clock
        if let reason = Self.lateness(command, at: clock) {
            await log.note(.remoteCommand, "\(name) sent a command that was refused: \(reason.sentence)")
            return await reply(record, reason, revision: 2)
        }
        await reply(
            record,
            CommandReply(
                computer: session.device, clock: clock, state: .received, sentence: "The computer has it."), revision: 2
        )
        var answer: CommandReply
        do {
            let outcome = try await actions.perform(command.action, by: name, record.author.id)
            answer = CommandReply(
                computer: session.device, clock: clock, state: .done, sentence: outcome.sentence,
                record: outcome.record.map { HubID($0) })
        } catch {
            answer = refused(
                ControlError(lower: error) ?? (error as? ControlError)
                    ?? ControlError(.failed, "The computer could not do it (\(error))."))
        }
        answer.clock = await household.clock
        let sentence = "\(name) asked: \(answer.sentence)"
        if answer.state == .done, command.action.opensOrChanges {
            // Never counted away: many commands before it must not hide this one.
            await log.record(.remoteCommand, sentence)
        } else {
            await log.note(.remoteCommand, sentence)
        }
        await reply(record, answer, revision: 3)
    }

    /// Nil where the command may be acted on now.
    static func lateness(_ command: RemoteCommand, at clock: UInt64) -> CommandReply? {
        func refused(_ reason: String, _ sentence: String) -> CommandReply {
            CommandReply(computer: command.computer, clock: clock, state: .refused, reason: reason, sentence: sentence)
        }
        if clock > command.issued, clock - command.issued > RemoteCommand.lifetime {
            return refused("too_old", "It came \((clock - command.issued) / 1_000) seconds late; nothing was done.")
        }
        if command.issued > clock, command.issued - clock > RemoteCommand.lead {
            return refused(
                "too_early", "It is stamped \((command.issued - clock) / 1_000) seconds ahead; nothing was done.")
        }
        return nil
    }

    private func refused(_ error: ControlError) -> CommandReply {
        CommandReply(
            computer: HubID(household.signingKey.publicKey.id), clock: 0, state: .refused, reason: error.code.rawValue,
            sentence: error.message)
    }

    private func reply(_ record: CheckedRecord, _ reply: CommandReply, revision: UInt64) async {
        var reply = reply
        if reply.clock == 0 { reply.clock = await household.clock }
        guard
            let sealed = try? await household.seal(
                reply, .commands, record.name.id, revision: revision, replaces: revision - 1)
        else { return }
        await sync.submit([sealed])
    }
}

/// The services that a command reaches.
struct RemoteActions: Sendable {
    struct Outcome {
        var sentence: String
        var record: ItemID?
    }

    let apps: AppService
    let launches: LaunchService
    let passcodes: PasscodeService
    let vault: VaultService
    let sessions: SessionService
    let intruders: IntruderService
    let household: HouseholdService
    let relocks: Relocks
    let judge: LaunchJudge
    /// In whose catalog apps are looked up.
    let viewer: @Sendable () async -> UInt32
    let refreshStatus: @Sendable () async -> Void

    /// Whoever holds a paired phone is no user of this computer: what it opens ends with anybody's absence.
    static let user: UInt32 = 0
    private static let peer = ControlPeer(user: user, process: 0)

    /// - Parameters:
    ///   - name: of the companion that asks.
    ///   - device: its id.
    /// - Throws: `ControlError`.
    func perform(_ action: RemoteAction, by name: String, _ device: ItemID) async throws -> Outcome {
        switch action {
        case .lockAll:
            await vault.lock(user: nil, "a phone locked everything")
            _ = try await apps.lock(LockRequest(all: true), user: Self.user, mayAdd: false)
            return Outcome(sentence: "Everything is locked.")
        case .lockApp(let app):
            let changed = try await apps.lock(LockRequest(apps: [app]), user: Self.user, mayAdd: false)
            return Outcome(sentence: "\(changed.apps.first?.name ?? app) is locked.")
        case .unlockAll(let grant):
            return try await unlock(Set(apps.policy.apps.keys), grant, "Everything is open.")
        case .unlockApp(let app, let grant):
            let id = try await apps.listed(app)
            return try await unlock([id], grant, "\(await apps.name(of: id)) is open.")
        case .approve(let prompt, let grant):
            return Outcome(sentence: try await launches.approve(prompt, scope: try await apps.scope(grant)))
        case .deny(let prompt):
            return Outcome(sentence: "\(try await launches.refuse(prompt)) was not let in.")
        case .lockVault:
            await vault.lock(user: nil, "a phone locked it")
            return Outcome(sentence: "The vault is locked.")
        case .signOut:
            await sessions.endAll()
            await vault.lock(user: nil, "a phone signed out")
            return Outcome(sentence: "Every session of the owner on this computer has ended.")
        case .takePhoto:
            return Outcome(sentence: "A photo was taken.", record: try await intruders.takePhoto())
        case .removePhoto(let photo):
            try await intruders.remove(photo.item, onWordOf: device)
            return Outcome(sentence: "The photo is removed.")
        case .report:
            await refreshStatus()
            return Outcome(sentence: "The computer's status is on its way.")
        case .addApp(let app):
            let changed = try await apps.add(app, user: Self.user, asSeenBy: await viewer())
            return Outcome(sentence: "\(changed.apps.first?.name ?? app) is on the list.")
        case .removeApp(let app):
            let id = try await apps.listed(app)
            try await passcodes.forget(id)
            _ = try await apps.remove(id.rawValue, user: Self.user)
            return Outcome(sentence: "\(id) is no longer locked.")
        case .setSchedule(let app, let schedule):
            let changed = try await apps.changeApp(app, ChangeAppRequest(schedule: schedule), user: Self.user)
            return Outcome(sentence: "The schedule of \(changed.apps.first?.name ?? app) is set.")
        case .setCategories(let app, let categories):
            let report = try await apps.setCategories(categories, of: app, user: Self.user)
            let names = report.categories.joined(separator: ", ")
            return Outcome(
                sentence: names.isEmpty ? "\(report.name) is in no category." : "\(report.name) is in \(names).")
        case .renameDevice(let device, let name):
            let report = try await household.rename(device.description, to: name, user: Self.user)
            return Outcome(sentence: "It is called \(report.name) now.")
        case .revokeDevice(let device):
            return Outcome(sentence: try await household.revoke(device.item, onWordOf: name))
        }
    }

    private func unlock(_ ids: Set<AppID>, _ grant: GrantRequest, _ sentence: String) async throws -> Outcome {
        guard !ids.isEmpty else {
            throw ControlError(.noSuchApp, "Nothing is on the list, so nothing can be unlocked.")
        }
        guard !judge.isAsleep else { throw ControlError(.busy, "The computer goes to sleep; nothing was opened.") }
        let ticket = relocks.ticket(for: Self.user)
        let scope = try await apps.scope(grant)
        _ = try await apps.unlock(ids, scope: scope, user: Self.user, since: ticket)
        if scope != .thisLaunch { await launches.letIn(ids) }
        return Outcome(sentence: sentence)
    }
}

extension RemoteAction {
    /// Whether more is open afterwards, or something is other than before. What only locks or reports can be repeated
    /// without end.
    fileprivate var opensOrChanges: Bool {
        switch self {
        case .lockAll, .lockApp, .lockVault, .signOut, .deny, .report: false
        case .unlockAll, .unlockApp, .approve, .takePhoto, .removePhoto, .addApp, .removeApp, .setSchedule,
            .setCategories, .renameDevice, .revokeDevice:
            true
        }
    }
}
