import ControlAPI
import Foundation
import Household
import HubAPI
import Policy
import SealedFormats
import Sync

/// Performs commands of companions: once, within a minute, and with the rights of the owner at the computer.
actor RemoteService {
    private let household: HouseholdService
    private let sync: SyncService
    private let store: any HouseholdStore
    private let actions: RemoteActions
    private let log: ActivityLog

    init(
        household: HouseholdService, sync: SyncService, store: any HouseholdStore, actions: RemoteActions,
        log: ActivityLog
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
            // Sealed correctly, but the content is unknown: the companion is newer than this version. Which computer it
            // is for can't be read either.
            return await sync.engine.reportProtocolViolation(RecordRefusal.unreadable.description)
        } catch {
            return
        }
        guard command.computer == session.device else { return }
        do {
            // Stored before anything is done: after a crash it is never performed, rather than twice.
            guard try await store.handle(command: record.name.id) else { return }
        } catch {
            return await reply(
                record, refused(ControlError(.failed, "The computer could not store the command (\(error)).")),
                revision: 2)
        }
        let name = await household.name(of: record.author.id)
        let clock = await household.clock
        if let reason = Self.lateness(command, at: clock) {
            await log.enqueue(.remoteCommand, "\(name) sent a command that was refused: \(reason.sentence)")
            return await reply(record, reason, revision: 2)
        }
        await reply(
            record,
            CommandReply(
                computer: session.device, clock: clock, state: .received, sentence: "The computer received it."),
            revision: 2
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
                    ?? ControlError(.failed, "The computer could not perform the command (\(error))."))
        }
        answer.clock = await household.clock
        let sentence = "By a command of \(name): \(answer.sentence)"
        if answer.state == .done, command.action.opensOrChanges {
            // Appended, never only counted: many earlier commands must not hide this one.
            await log.append(.remoteCommand, sentence)
        } else {
            await log.enqueue(.remoteCommand, sentence)
        }
        await reply(record, answer, revision: 3)
    }

    /// Nil if the command may be performed now.
    static func lateness(_ command: RemoteCommand, at clock: UInt64) -> CommandReply? {
        func refused(_ reason: String, _ sentence: String) -> CommandReply {
            CommandReply(computer: command.computer, clock: clock, state: .refused, reason: reason, sentence: sentence)
        }
        if clock > command.issued, clock - command.issued > RemoteCommand.lifetime {
            return refused(
                "too_old", "The command arrived \((clock - command.issued) / 1_000) seconds late; nothing was changed.")
        }
        if command.issued > clock, command.issued - clock > RemoteCommand.lead {
            return refused(
                "too_early",
                "The command's time is \((command.issued - clock) / 1_000) seconds ahead of this computer's clock; "
                    + "nothing was changed.")
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
        await sync.engine.submit([sealed])
    }
}

/// The services that commands use.
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
    let sync: SyncEngine
    let lockGenerations: LockGenerations
    let authorizer: LaunchAuthorizer
    let status: StatusReader

    /// The holder of a paired phone is no user of this computer: what a phone opens ends with any user's absence.
    static let user: UInt32 = 0

    /// - Parameters:
    ///   - name: the companion's name.
    ///   - device: the companion's id.
    /// - Throws: `ControlError`.
    func perform(_ action: RemoteAction, by name: String, _ device: ItemID) async throws -> Outcome {
        switch action {
        case .lockAll:
            lockGenerations.advance(nil)
            await endSessions("The vault was locked: a phone locked everything.")
            _ = try await apps.lock(LockRequest(all: true), user: Self.user, mayAdd: false)
            return Outcome(sentence: "Everything is locked.")
        case .lockApp(let app):
            let changed = try await apps.lock(LockRequest(apps: [app]), user: Self.user, mayAdd: false)
            return Outcome(sentence: "\(changed.apps.first?.name ?? app) is locked.")
        case .unlockAll(let grant):
            return try await unlock(Set(apps.policy.apps.keys), grant, "Everything is unlocked.")
        case .unlockApp(let app, let grant):
            let id = try await apps.listed(app)
            return try await unlock([id], grant, "\(await apps.name(of: id)) is unlocked.")
        case .approve(let prompt, let grant):
            return Outcome(sentence: try await launches.approve(prompt, scope: try await apps.scope(grant)))
        case .deny(let prompt):
            return Outcome(sentence: "\(try await launches.refuse(prompt)) was denied.")
        case .lockVault:
            lockGenerations.advance(nil)
            await endSessions("The vault was locked: a phone locked it.")
            return Outcome(sentence: "The vault is locked.")
        case .takePhoto:
            return Outcome(sentence: "A photo was taken.", record: try await intruders.takePhoto())
        case .removePhoto(let photo):
            try await intruders.remove(photo.item, requestedBy: device)
            return Outcome(sentence: "The photo is removed.")
        case .addApp(let app):
            let changed = try await apps.add(app, user: Self.user, asSeenBy: await status.viewer())
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
            return Outcome(sentence: "It was renamed to \(report.name).")
        case .revokeDevice(let device):
            return Outcome(sentence: try await household.revoke(device.item, requestedBy: name, reader: sync))
        case .unsupported:
            throw ControlError(
                .badRequest, "This computer's AppLocker has no such command. Update AppLocker on the computer.")
        }
    }

    /// Locks the vault and ends the owner's management sessions.
    private func endSessions(_ sentence: String) async {
        await sessions.endAll()
        await vault.lock(user: nil, sentence)
    }

    private func unlock(_ ids: Set<AppID>, _ grant: GrantRequest, _ sentence: String) async throws -> Outcome {
        guard !ids.isEmpty else {
            throw ControlError(.noSuchApp, "The list of locked apps is empty; nothing was unlocked.")
        }
        guard !authorizer.isAsleep else {
            throw ControlError(.busy, "The computer is going to sleep; nothing was unlocked.")
        }
        let generation = lockGenerations.generation(for: Self.user)
        let scope = try await apps.scope(grant)
        _ = try await apps.unlock(ids, scope: scope, user: Self.user, since: generation)
        if scope != .thisLaunch { await launches.approveWaiting(of: ids) }
        return Outcome(sentence: sentence)
    }
}

extension RemoteAction {
    /// Whether the action unlocks or changes something. An action that only locks or reports can be repeated without
    /// limit.
    fileprivate var opensOrChanges: Bool {
        switch self {
        case .lockAll, .lockApp, .lockVault, .deny, .unsupported: false
        case .unlockAll, .unlockApp, .approve, .takePhoto, .removePhoto, .addApp, .removeApp, .setSchedule,
            .setCategories, .renameDevice, .revokeDevice:
            true
        }
    }
}
