public import ControlAPI
import Foundation
import Policy
import SealedFormats
import Sync

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
    private(set) var table = RequestTable()

    init(
        apps: AppService, passcodes: PasscodeService, launches: LaunchService, sessions: SessionService,
        presence: PresenceService, agents: AgentService, statusReader: StatusReader, lockGenerations: LockGenerations,
        sealed: SealedServices, devices: HouseholdServices, activity: any ActivityStore, time: any TimeSource,
        ownUser: UInt32
    ) {
        (self.apps, self.passcodes, self.launches, self.sessions) = (apps, passcodes, launches, sessions)
        (self.presence, self.agents, self.statusReader) = (presence, agents, statusReader)
        (self.lockGenerations, self.sealed, self.devices) = (lockGenerations, sealed, devices)
        (self.activity, self.time, self.ownUser) = (activity, time, ownUser)
        var table = RequestTable()
        addAppRequests(to: &table)
        addLockRequests(to: &table)
        addOwnerRequests(to: &table)
        addActivityRequests(to: &table)
        addVaultRequests(to: &table)
        addMomentRequests(to: &table)
        addHouseholdRequests(to: &table)
        table.requireComplete()
        self.table = table
    }

    public func prompterJoined(_ peer: ControlPeer, connection: UInt64) async throws -> AsyncStream<PromptEvent> {
        await launches.join(peer, connection: connection)
    }

    public func prompterLeft(connection: UInt64) async { await launches.leave(connection: connection) }

    public func agentJoined(_ peer: ControlPeer, connection: UInt64) async throws -> AsyncStream<SessionEvent> {
        await agents.join(peer, connection: connection)
    }

    public func agentLeft(connection: UInt64) async { await agents.leave(connection: connection) }

    public func admit(_ route: ControlRoute, from peer: ControlPeer) async throws {
        _ = try await sealed.vault.keys(for: peer)
    }

    public func respond(to request: ControlRequest) async throws -> [UInt8] {
        do {
            try await requireAuthority(of: request)
            guard let answer = table.answers[request.route] else {
                throw ControlError(.badRequest, "This route does not return JSON.")
            }
            return try await answer(request)
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError(lower: error)
                ?? ControlError(
                    .failed, "AppLocker could not complete the request (\(error)). See its log on standard error.")
        }
    }
}
