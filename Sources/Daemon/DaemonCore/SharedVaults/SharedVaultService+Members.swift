import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

// Joining a shared vault by the invitation of a member, and leaving it.
extension SharedVaultService {
    /// An invitation's five minutes, the member's time to confirm, and a margin.
    private static let joiningTime = Duration.seconds(960)

    /// How far a request to join has come.
    private enum Progress {
        /// With a sentence, unless a member has to confirm.
        case waiting(String?)
        case entered(Roster, Admission.Keys)
        case refused(JoiningRefusal)
    }

    /// Each vault; one that is waiting is looked after first.
    /// - Throws: as `entries`.
    func list(peer: ControlPeer) async throws -> SharedVaultList {
        let own = try await vault.keys(for: peer)
        var reports: [SharedVaultReport] = []
        for entry in try await entries(with: own) {
            do {
                let (now, problem) = try await progressed(entry, with: own)
                reports.append(await report(now, orProblem: problem, with: own))
            } catch {
                // A refusal is shown once.
                reports.append(briefReport(entry, problem: ControlError(hub: error).message))
            }
        }
        return SharedVaultList(vaults: reports)
    }

    /// A vault that can't be opened hides no other one, and can be left.
    private func report(
        _ entry: SharedVaultEntry, orProblem problem: String?, with own: VaultKeys
    ) async -> SharedVaultReport {
        do {
            return try await report(entry, problem: problem, with: own)
        } catch {
            return briefReport(entry, problem: ControlError(hub: error).message)
        }
    }

    /// What the list says, without the vault.
    func briefReport(_ entry: SharedVaultEntry, problem: String?) -> SharedVaultReport {
        SharedVaultReport(
            id: entry.household.description, name: entry.stored.name,
            hub: household.ports.withTodaysAddress(entry.stored.settings).url, state: entry.stored.state,
            vault: entry.vault.description, problem: problem)
    }

    /// - Throws: as `entry`; `ControlError` with `hub` where this computer was refused, which ends its request to join.
    func read(_ reference: String, peer: ControlPeer) async throws -> SharedVaultReport {
        let own = try await vault.keys(for: peer)
        let (entry, problem) = try await progressed(try await entry(reference, for: peer), with: own)
        return await report(entry, orProblem: problem, with: own)
    }

    // MARK: Joining

    /// Asks to join by a member's link or code. Returns as soon as the hub has the request.
    ///
    /// - Throws: `ControlError` with `vaultLocked`, `badRequest` (the link or code) or `hub`.
    func join(_ request: JoinHubRequest, peer: ControlPeer) async throws -> SharedVaultReport {
        let own = try await vault.keys(for: peer)
        let (invitation, settings) = try await invitation(of: request)
        for earlier in try await entries(with: own) where earlier.household == invitation.household {
            // A member may have confirmed an earlier request.
            _ = try? await progressed(earlier, with: own)
        }
        try Self.requireRoom(for: invitation, among: try await entries(with: own))
        let secrets = HouseholdSecrets(
            household: invitation.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(),
            token: .random(count: HouseholdSecrets.tokenLength), ring: KeyRing([]))
        let entry = SharedVaultEntry(
            stored: StoredSharedVault(
                household: invitation.household, replica: .random(), settings: settings,
                inviter: invitation.computer,
                words: invitation.words(signingKey: secrets.signingKey.publicKey, boxKey: secrets.boxKey.publicKey),
                state: .waiting),
            secrets: secrets)
        do {
            try await connection(entry).join(
                HubID(invitation.id),
                secrets.joinRequest(to: invitation, as: .computer, name: HouseholdService.shortened(deviceName)))
        } catch {
            throw Self.refusal(of: error)
        }
        try await steps.perform {
            let entries = try await entries(with: own)
            try Self.requireRoom(for: invitation, among: entries)
            try await change(with: own) { entries in
                // An earlier request.
                entries.removeAll { $0.household == invitation.household }
                entries.append(entry)
            }
            for earlier in entries where earlier.household == invitation.household { try await discard(earlier) }
        }
        return try await report(entry, with: own)
    }

    /// Reads the link, or asks the hub for what a typed code stands for.
    private func invitation(of request: JoinHubRequest) async throws -> (Invitation, HubSettings) {
        let text = request.link.trimmingCharacters(in: .whitespacesAndNewlines)
        do {
            if text.contains("/") {
                let (invitation, url) = try Invitation.reading(vaultLink: text)
                return (invitation, await settings(for: url, request))
            }
            let code = try PairingCode(text: text)
            let own = await household.session?.settings.url
            guard let url = request.hub ?? own else {
                throw ControlError(
                    .badRequest, "The code needs the address of the vault's hub; name it with --hub.")
            }
            let settings = await settings(for: url, request)
            let hub = household.ports.connection(household.ports.withTodaysAddress(settings), nil)
            let details = try await hub.details(ofInvitation: HubID(code.id), proof: Data(code.proof))
            let (invitation, isOfVault) = try Invitation.opening(details: [UInt8](details), with: code)
            guard isOfVault else {
                throw ControlError(.badRequest, "This code pairs a device; ask for an invitation to the vault.")
            }
            return (invitation, settings)
        } catch let error as SealedFormatsError {
            throw ControlError(.badRequest, error.sentence)
        } catch {
            throw Self.refusal(of: error)
        }
    }

    private static func requireRoom(
        for invitation: Invitation, among entries: [SharedVaultEntry]
    ) throws(ControlError) {
        switch entries.first(where: { $0.household == invitation.household })?.stored.state {
        case .member:
            throw ControlError(.hub, "This computer is a member of this vault; see `applocker moments vaults`.")
        case .removed:
            throw ControlError(
                .hub,
                "This computer was a member of this vault, and has what it received then. Export what you want to keep, "
                    + "remove it with `applocker moments leave`, then join by another invitation.")
        case .waiting, nil: break
        }
        guard entries.count(where: { $0.household != invitation.household }) < maximumVaults else {
            throw ControlError(
                .hub,
                "This computer is in \(maximumVaults) vaults, which is the most; leave one with `applocker moments leave`."
            )
        }
    }

    /// At the hub of this computer's household its certificates and proxy are used.
    private func settings(for url: String, _ request: JoinHubRequest) async -> HubSettings {
        if let known = await household.session?.settings, known.url == url { return known }
        return HubSettings(
            url: url, certificates: request.certificates, proxy: request.proxy,
            isInsecure: request.isInsecure ?? false)
    }

    private static func refusal(of error: any Error) -> ControlError {
        switch (error as? HubError)?.code {
        case .notFound, .gone, .conflict:
            ControlError(.hub, "This invitation has expired, was used or was withdrawn; ask for another one.")
        default: ControlError(hub: error)
        }
    }

    /// Looks whether the member has confirmed, and enters the vault then.
    /// - Returns: the entry as it is now, and why it is still waiting.
    /// - Throws: `ControlError` with `hub` where this computer was refused: the request ends.
    private func progressed(
        _ entry: SharedVaultEntry, with own: VaultKeys
    ) async throws -> (SharedVaultEntry, problem: String?) {
        guard entry.stored.state == .waiting else { return (entry, nil) }
        let progress = await progress(of: entry)
        return try await steps.perform {
            // Another request may have been faster.
            guard let now = try await entries(with: own).first(where: { $0.device == entry.device }) else {
                throw ControlError.noSuchSharedVault
            }
            guard now.stored.state == .waiting else { return (now, nil) }
            switch progress {
            case .waiting(let problem): return (now, problem)
            case .refused(let refusal):
                if refusal.isHubsFault { await log.enqueue(.hubMisbehaved, refusal.sentence) }
                try await change(with: own) { $0.removeAll { $0.device == now.device } }
                try await discard(now)
                throw ControlError(.hub, refusal.sentence)
            case .entered(let roster, let keys):
                let replica = try replicas.open(now.stored.replica, signingKey: now.secrets.signingKey)
                try await replica.store.save(HouseholdService.stored(roster), as: HouseholdDocuments.roster)
                var received = IncomingChange()
                received.householdRecords = [keys.record]
                try await replica.store.ingest(received)
                try await change(now.device, with: own) { $0.state = .member }
                asked[now.device] = nil
                await log.append(.hubConnected, "This computer joined a shared vault at \(now.stored.settings.url).")
                var member = now
                member.stored.state = .member
                return (member, nil)
            }
        }
    }

    private func progress(of entry: SharedVaultEntry) async -> Progress {
        do {
            let hub = connection(entry)
            guard try await hub.ownDevice().state == .active else {
                let first = asked[entry.device] ?? time.elapsed()
                asked[entry.device] = first
                guard time.elapsed() - first < Self.joiningTime else {
                    return .refused(JoiningRefusal("The member did not confirm in time; ask for another invitation."))
                }
                return .waiting(nil)
            }
            let admission = Admission(
                hub: hub, secrets: entry.secrets, inviter: entry.stored.inviter, usesEpochKeys: true)
            let roster = try await admission.roster()
            guard let keys = try await admission.keys(roster) else {
                return .waiting("The member has confirmed. Waiting for the keys from its device.")
            }
            return .entered(roster, keys)
        } catch let refusal as JoiningRefusal {
            return .refused(refusal)
        } catch let error as HubError where error.code == .unauthorized {
            return .refused(JoiningRefusal("The member did not confirm; ask for another invitation."))
        } catch {
            return .waiting(ControlError(hub: error).message)
        }
    }

    // MARK: Leaving

    /// Leaves a vault, and removes what this computer has of it. After the last member the hub deletes it.
    ///
    /// - Parameter forgets: also if the hub can't be informed.
    /// - Throws: as `entry`; `ControlError` with `hub` where the hub can't be informed: nothing was changed.
    func leave(_ reference: String, forgets: Bool, peer: ControlPeer) async throws {
        let own = try await vault.keys(for: peer)
        var entry = try await entry(reference, for: peer)
        if entry.stored.state == .waiting {
            // The member may have confirmed, and would see a computer that nobody has.
            do {
                entry = try await progressed(entry, with: own).0
            } catch let error as ControlError where error.code == .hub {
                // The request has ended.
                return
            }
        }
        if entry.stored.state == .member {
            do {
                try await opened(entry).member.leave(at: UInt64(max(0, time.wallClock())))
            } catch let error as HubError where error.code == .unauthorized {
                // Another member removed this computer before.
            } catch  where !forgets {
                throw ControlError(hub: error)
            } catch {}
        }
        try await steps.perform {
            // The list first: a folder that nothing names is harmless, a vault without its folder is not.
            try await change(with: own) { [device = entry.device] in $0.removeAll { $0.device == device } }
            try await discard(entry)
        }
        await log.append(.hubDisconnected, user: peer.user, "This computer left a shared vault.")
    }

    /// What remains of this computer in shared vaults once everything here is erased; nil if it was in none.
    nonisolated var noteBeforeErasing: String? {
        replicas.isEmpty
            ? nil : "Members of shared vaults still see this computer among them; ask one to remove it."
    }
}
