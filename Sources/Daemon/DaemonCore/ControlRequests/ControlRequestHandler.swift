public import ControlAPI
import Foundation
import Policy
import SealedFormats

/// The control socket's requests, mapped to the services, and who may make them.
///
/// Anyone who is logged in may look at what concerns everybody or themselves, lock what was unlocked for them, and
/// answer for their own launches with a passcode. What changes the protection, or concerns other users, needs a
/// management session.
public struct ControlRequestHandler: ControlService {
    let apps: AppService
    let passcodes: PasscodeService
    let launches: LaunchService
    let sessions: SessionService
    let presence: PresenceService
    let agents: AgentService
    let statusReader: StatusReader
    let lockGenerations: LockGenerations
    let sealed: SealedServices
    let devices: HouseholdServices
    let activity: any ActivityStore
    let time: any TimeSource
    /// The user the daemon runs as; that user and root may set AppLocker up.
    let ownUser: UInt32

    public func prompterJoined(_ peer: ControlPeer, connection: UInt64) async throws -> AsyncStream<PromptEvent> {
        await launches.join(peer, connection: connection)
    }

    public func prompterLeft(connection: UInt64) async { await launches.leave(connection: connection) }

    public func agentJoined(_ peer: ControlPeer, connection: UInt64) async throws -> AsyncStream<SessionEvent> {
        await agents.join(peer, connection: connection)
    }

    public func agentLeft(connection: UInt64) async { await agents.leave(connection: connection) }

    public func respond(to request: ControlRequest) async throws -> [UInt8] {
        do {
            try await requireAuthority(of: request)
            if request.route.answersBytes { return try await blobReply(to: request) }
            let reply = try await reply(to: request)
            return try [UInt8](Self.encoder.encode(reply))
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError(lower: error)
                ?? ControlError(
                    .failed, "AppLocker could not complete the request (\(error)). See its log on standard error.")
        }
    }

    private func reply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        switch request.route {
        case .status: return await statusReader.status(of: request.peer)
        case .listApps: return AppList(apps: await apps.reports())
        case .listInstalled: return await apps.installed(user: request.peer.user)
        case .listCategories: return CategoryList(categories: await apps.categories())
        case .settings: return await settings()
        case .reportIdle:
            try await presence.report(try decode(request), by: request.peer)
            return DoneReport()
        case .lock: return try await lock(request)
        case .unlock: return try await unlock(request)
        case .answerPrompt, .cancelPrompt, .registerDesktop: return try await promptReply(to: request)
        case .setUp: return try await setUp(request)
        case .openSession:
            let body: PasscodeRequest = try decode(request)
            let generation = lockGenerations.generation(for: request.peer.user)
            try await passcodes.verify(SecretBytes(utf8: body.passcode), user: request.peer.user)
            return try await sessions.open(for: request.peer, since: generation)
        case .endSession:
            await sessions.end(request.token)
            return DoneReport()
        case .changePasscode:
            let body: ChangePasscodeRequest = try decode(request)
            let notes = try await passcodes.change(
                from: SecretBytes(utf8: body.old), to: SecretBytes(utf8: body.new), user: request.peer.user)
            await sessions.endAll()
            await sealed.vault.lock(user: request.peer.user, "the passcode was changed")
            return DoneReport(notes: notes)
        case .log, .statistics:
            return try await history(request)
        case .addApp, .removeApp, .changeApp, .setCategory, .removeCategory, .setMonitoring, .changeSettings:
            return try await managed(request)
        case .hubStatus, .connectHub, .disconnectHub, .joinHub, .joining, .endJoining, .sendVaultKeys, .makePairing,
            .pairing, .confirmPairing, .endPairing,
            .listDevices, .renameDevice, .revokeDevice, .restoreChanges:
            return try await householdReply(to: request)
        case .reset: return try await reset(request)
        case .stop: return try await stop(request)
        case .vault, .openVault, .closeVault, .seal, .open, .listNotes, .addNote, .readNote, .changeNote, .removeNote,
            .listFiles, .addFile, .readFile, .removeFile, .putBlob, .removeBlob, .listMoments, .addMoment, .readMoment,
            .changeMoment, .removeMoment, .knownPhotos, .readPhoto, .listIntruders, .readIntruder, .removeIntruder,
            .exportBackup, .importBackup, .makeRecovery, .testRecovery, .useRecovery, .verifyLog:
            return try await sealedReply(to: request)
        case .prompts, .session, .readBlob: throw ControlError(.badRequest, "This route does not return JSON.")
        }
    }

    // MARK: Anyone

    private func setUp(_ request: ControlRequest) async throws -> DoneReport {
        let body: PasscodeRequest = try decode(request)
        guard request.peer.user == 0 || request.peer.user == ownUser else {
            throw ControlError(
                .notYours, "Only the computer's owner can set AppLocker up. Run `sudo applocker setup`.")
        }
        // The user who runs `sudo applocker setup` is the owner: another user's wrong passcodes must not lock them out.
        let owners = [request.peer.user, launches.directory.loginUser(of: request.peer.process)].compactMap { $0 }
        return DoneReport(notes: try await passcodes.setUp(SecretBytes(utf8: body.passcode), owners: owners))
    }

    private func lock(_ request: ControlRequest) async throws -> AppsChanged {
        let body: LockRequest = try decode(request)
        guard body.all || !body.apps.isEmpty else {
            throw ControlError(.badRequest, "Name the apps to lock, or set `all`.")
        }
        let mayAdd = request.token != nil
        if mayAdd { try await sessions.require(request.token, of: request.peer) }
        if body.all { await sealed.vault.lock(by: request.peer.user, mayReachOthers: mayAdd, "everything was locked") }
        return try await apps.lock(body, user: request.peer.user, mayAdd: mayAdd)
    }

    private func unlock(_ request: ControlRequest) async throws -> AppsChanged {
        let body: UnlockRequest = try decode(request)
        let scope = try await apps.scope(body.grant)
        let all = body.all ? await apps.policy.apps.keys.sorted() : []
        var ids = Set(all)
        for reference in body.apps { ids.insert(try await apps.listed(reference)) }
        guard !ids.isEmpty else {
            throw ControlError(
                body.all ? .noSuchApp : .badRequest,
                body.all
                    ? "The list of locked apps is empty; nothing was unlocked."
                    : "Name the apps to unlock, or set `all`.")
        }
        let generation = lockGenerations.generation(for: request.peer.user)
        // An app's own passcode opens that app and nothing else.
        let only = ids.count == 1 ? ids.first : nil
        try await passcodes.verify(SecretBytes(utf8: body.passcode), app: only, user: request.peer.user)
        let changed = try await apps.unlock(ids, scope: scope, user: request.peer.user, since: generation)
        if scope != .thisLaunch { await launches.approveWaiting(of: ids) }
        return changed
    }

    private func promptReply(to request: ControlRequest) async throws -> any Encodable & Sendable {
        switch request.route {
        case .answerPrompt:
            let body: PromptAnswerRequest = try decode(request)
            return try await launches.answer(
                request.parameter ?? "", with: SecretBytes(utf8: body.passcode),
                scope: try await apps.scope(body.grant),
                by: request.peer)
        case .cancelPrompt:
            try await launches.cancel(request.parameter ?? "", by: request.peer)
        default:
            let body: RegisterDesktopRequest = try decode(request)
            await launches.registerDesktop(body.processes, of: request.peer)
        }
        return DoneReport()
    }

    private func history(_ request: ControlRequest) async throws -> any Encodable & Sendable {
        let reachesEverybody = try await reachesEverybody(request)
        if request.query["all"] == "true", !reachesEverybody {
            throw ControlError(
                .sessionNeeded, "Events of other users are shown with the owner's passcode. Open a session first.")
        }
        let user = reachesEverybody ? nil : request.peer.user
        if request.route == .statistics {
            let days = try number("days", in: request, default: 30, range: 1...3_650)
            var statistics = try await activity.statistics(
                since: time.wallClock() - Double(days) * 86_400, user: user)
            for index in statistics.indices {
                guard let id = AppID(rawValue: statistics[index].app) else { continue }
                statistics[index].name = await apps.name(of: id)
            }
            return StatisticsReport(days: days, apps: statistics)
        }
        return EventList(
            events: try await activity.events(
                after: Int64(try number("after", in: request, default: 0, range: 0...Int.max)),
                limit: try number("limit", in: request, default: 50, range: 1...1_000), app: request.query["app"],
                user: user))
    }

    // MARK: The owner

    private func managed(_ request: ControlRequest) async throws -> any Encodable & Sendable {
        let user = request.peer.user
        let name = request.parameter ?? ""
        switch request.route {
        case .addApp:
            let body: AddAppRequest = try decode(request)
            return try await apps.add(body.app, user: user)
        case .removeApp:
            // The passcode is removed first: otherwise it would open the app if it is added again.
            let id = try await apps.listed(name)
            try await passcodes.forget(id)
            return try await apps.remove(id.rawValue, user: user)
        case .changeApp: return try await changeApp(name, request)
        case .setCategory:
            return try await apps.setCategory(name, try decode(request), user: user)
        case .removeCategory:
            try await apps.removeCategory(name, user: user)
        case .setMonitoring:
            try await apps.setMonitoring(try decode(request), user: user)
            return await apps.monitoring()
        default: return try await changeSettings(try decode(request), user: user)
        }
        return DoneReport()
    }

    private func changeSettings(_ request: ChangeSettingsRequest, user: UInt32) async throws -> SettingsReport {
        if request.vaultIdleSeconds != nil || request.photographsFromFailure != nil || request.camera != nil {
            try await sealed.vault.changeSettings { settings in
                if let seconds = request.vaultIdleSeconds { settings.vaultIdleSeconds = seconds }
                if let failures = request.photographsFromFailure { settings.photographsFromFailure = failures }
                if let camera = request.camera { settings.camera = camera }
            }
        }
        if request.inactivitySeconds != nil || request.clipboardSeconds != nil || request.locksOnCapture != nil {
            try await presence.changeSettings { settings in
                if let seconds = request.inactivitySeconds { settings.inactivitySeconds = seconds }
                if let seconds = request.clipboardSeconds { settings.clipboardSeconds = seconds }
                if let locks = request.locksOnCapture { settings.locksOnCapture = locks }
            }
        }
        _ = try await apps.changeSettings(request, user: user)
        return await settings()
    }

    private func settings() async -> SettingsReport {
        var report = await apps.settings()
        let privacy = await sealed.vault.settings
        report.vaultIdleSeconds = privacy.vaultIdleSeconds
        report.photographsFromFailure = privacy.photographsFromFailure
        report.camera = privacy.camera
        let presence = await presence.settings
        report.inactivitySeconds = presence.inactivitySeconds
        report.clipboardSeconds = presence.clipboardSeconds
        report.locksOnCapture = presence.locksOnCapture
        return report
    }

    private func changeApp(_ name: String, _ request: ControlRequest) async throws -> AppsChanged {
        let body: ChangeAppRequest = try decode(request)
        let id = try await apps.listed(name)
        // Checked before the passcode is set: nothing is changed if any part is refused.
        _ = try AppService.rules(body)
        var notes: [String] = []
        if let passcode = body.passcode {
            notes = try await passcodes.setPasscode(
                passcode.isEmpty ? nil : SecretBytes(utf8: passcode), of: id, user: request.peer.user)
        }
        var changed = try await apps.changeApp(name, body, user: request.peer.user)
        changed.notes += notes
        return changed
    }

    // MARK: Pieces

    /// Equal answers have equal bytes, and slashes in paths are not escaped.
    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    func number(
        _ name: String, in request: ControlRequest, default absent: Int, range: ClosedRange<Int>
    ) throws -> Int {
        guard let text = request.query[name] else { return absent }
        guard let number = Int(text), range.contains(number) else {
            throw ControlError(
                .badRequest, "\(name) has to be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    func decode<Body: Decodable>(_ request: ControlRequest) throws -> Body {
        do {
            return try JSONDecoder().decode(Body.self, from: Data(request.body))
        } catch DecodingError.keyNotFound(let key, _) {
            throw ControlError(.badRequest, "The field \"\(key.stringValue)\" is missing.")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw ControlError(.badRequest, "The field \"\(path)\" has a value of the wrong kind.")
        } catch {
            throw ControlError(
                .badRequest, "The request's body is not the JSON that \(request.route.template) requires.")
        }
    }
}
