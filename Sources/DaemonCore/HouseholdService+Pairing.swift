import Foundation
import Household
import Policy
import SealedFormats
import WireProtocol

// Pairing: an invitation, a device that joins by it, and the owner who agrees.
extension HouseholdService {
    struct Pairing {
        let invitation: Invitation
        /// Since boot.
        let expires: Duration
        var joining: (member: RosterMember, name: String)?
    }

    private static let lifetime = Duration.seconds(300)
    /// What the owner has for agreeing, once a device has joined.
    private static let patience = Duration.seconds(600)

    /// - Parameters:
    ///   - address: the hub's, as the other device reaches it; the hub's own by default.
    ///   - role: what is let in.
    func makePairing(address: String?, role: DeviceRole = .companion) async throws -> PairingReport {
        let session = try requireSession()
        let invitation = Invitation(
            household: session.roster.household, computer: session.secrets.device, role: role)
        do {
            try await session.hub.invite(
                NewInvitationRequest(
                    id: HubID(invitation.id), proofHash: Data(invitation.proofHash),
                    expiresInSeconds: Int(Self.lifetime.components.seconds)))
        } catch {
            throw ControlError(hub: error)
        }
        let now = time.now().elapsed
        pairings = pairings.filter { $0.value.expires + Self.patience > now }
        pairings[invitation.id] = Pairing(invitation: invitation, expires: now + Self.lifetime)
        return PairingReport(
            id: invitation.id.description, state: .waiting, link: invitation.link(hub: address ?? session.settings.url),
            expiresInSeconds: Int(Self.lifetime.components.seconds))
    }

    /// Answers once a device has joined, or after so many seconds.
    func pairing(_ text: String, waitingUpTo seconds: Int) async throws -> PairingReport {
        let deadline = time.now().elapsed + .seconds(seconds)
        while true {
            let pairing = try await lookedUp(text)
            let now = time.now().elapsed
            if pairing.joining != nil || now >= deadline { return report(pairing) }
            // The hub tells of it on the stream; where there is none just now, it is asked again.
            await waitForJoin(at: min(deadline - now, .seconds(2)))
        }
    }

    private func waitForJoin(at most: Duration) async {
        let nap = Task { [time] in
            try? await time.sleep(for: most)
            deviceJoined()
        }
        await withCheckedContinuation { joinWaiters.append($0) }
        nap.cancel()
    }

    /// Somebody has joined, or may have.
    func deviceJoined() {
        let waiters = joinWaiters
        joinWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    private func lookedUp(_ text: String) async throws -> Pairing {
        let session = try requireSession()
        guard let id = ItemID(text), var pairing = pairings[id] else {
            throw ControlError(.noSuchItem, "There is no such pairing. Begin one with `applocker pair`.")
        }
        guard pairing.joining == nil else { return pairing }
        guard time.now().elapsed < pairing.expires else {
            pairings[id] = nil
            throw ControlError(.noSuchItem, "Nobody joined within five minutes. Begin again with `applocker pair`.")
        }
        do {
            guard let join = try await session.hub.invitation(HubID(id)).join else { return pairing }
            let joining = try pairing.invitation.open([UInt8](join.sealed))
            guard joining.signingKey.id == join.device.item else {
                throw ControlError(.hub, "The hub named another device than the one that joined. Pair again.")
            }
            pairing.joining = (
                RosterMember(
                    role: pairing.invitation.role, signingKey: joining.signingKey, boxKey: joining.boxKey), joining.name
            )
        } catch {
            // Whoever joined did not see the link, or the invitation is used up: it is worth nothing any more.
            if error is SealedFormatsError || (error as? HubError)?.code == .gone || error is ControlError {
                pairings[id] = nil
                try? await session.hub.withdrawInvitation(HubID(id))
                if error is SealedFormatsError || error is ControlError {
                    await log.note(
                        .hubMisbehaved, "Somebody without the pairing link tried to join; nobody was admitted.")
                }
            }
            throw ControlError(hub: error)
        }
        if pairings[id] != nil { pairings[id] = pairing }
        return pairing
    }

    private func report(_ pairing: Pairing) -> PairingReport {
        PairingReport(
            id: pairing.invitation.id.description, state: pairing.joining == nil ? .waiting : .joined,
            expiresInSeconds: max(0, (pairing.expires - time.now().elapsed).wholeSecondsRoundedUp),
            name: pairing.joining?.name, device: pairing.joining?.member.id.description,
            role: pairing.joining.map { HubDeviceRole($0.member.role) })
    }

    func endPairing(_ text: String) async throws {
        guard let id = ItemID(text), pairings.removeValue(forKey: id) != nil else { return }
        try? await requireSession().hub.withdrawInvitation(HubID(id))
    }

    /// The owner agrees: the device belongs from now on and gets its keys.
    ///
    /// - Throws: as `PasscodeService.verify`, or `ControlError` with `noSuchItem` or `hub`.
    func confirmPairing(_ text: String, passcode: SecretBytes, user: UInt32) async throws -> DeviceReport {
        guard let id = ItemID(text), let joining = pairings[id]?.joining else {
            throw ControlError(.noSuchItem, "No device has joined by this pairing. Begin one with `applocker pair`.")
        }
        try await memberships.perform {
            let ring = try await passcodes.openRing(passcode, user: user).ring
            do {
                try await admit(joining.member, invitation: id)
                pairings[id] = nil
                try await giveKeys(to: joining.member, named: joining.name, vaultRing: ring)
            } catch {
                throw ControlError(hub: error)
            }
        }
        await log.record(.devicePaired, user: user, "\(joining.name) was paired.")
        return DeviceReport(
            id: joining.member.id.description, name: joining.name, role: HubDeviceRole(joining.member.role),
            isThisComputer: false)
    }

    static let neverComesBack = ControlError(
        .hub,
        "This computer was removed from this household, or left it, and can't come back. Make a backup, erase "
            + "the computer with `applocker reset`, and join as a new one.")

    private func admit(_ member: RosterMember, invitation: ItemID) async throws {
        // Another computer may append at the same moment.
        for attempt in 1...3 {
            var roster = try await followRoster()
            if roster.member(member.id) != nil { return }
            // Appended all the same, the list would be believed by nobody any more.
            guard !roster.revoked.contains(member.id) else {
                throw ControlError(
                    .hub,
                    "This device was removed from the household, and never comes back under its key. Erase AppLocker on it, and pair "
                        + "it again.")
            }
            let entry = roster.admitting(member, by: signingKey, at: clock / 1_000)
            do {
                try await requireSession().hub.append(
                    RosterAppendRequest(
                        number: roster.head.number + 1, entry: Data(entry),
                        change: .admit(
                            device: HubID(member.id), role: HubDeviceRole(member.role), invitation: HubID(invitation))))
            } catch let error as HubError where error.code == .conflict && attempt < 3 {
                continue
            }
            try roster.append(entry)
            try await store.save(Self.stored(roster), as: HouseholdDocuments.roster)
            return takeOver(roster)
        }
    }

    /// Boxes the household's keys to a device, and says its name to the others.
    func giveKeys(to member: RosterMember, named name: String, vaultRing: KeyRing) async throws {
        let secrets = try requireSession().secrets
        var change = StateChange()
        change.household = [
            try await keysRecord(for: member, of: secrets, vaultRing: vaultRing),
            try secrets.seal(
                DeviceName(name: name), .devices, member.id, revision: try await nextRevision(.devices, member.id)),
        ]
        try await store.write(change)
        await queued()
    }

    func keysRecord(
        for member: RosterMember, of secrets: HouseholdSecrets, vaultRing: KeyRing
    ) async throws -> HubRecord {
        let id = try requireSession().roster.keysRecord(from: secrets.device, to: member.id)
        let name = RecordName(
            vault: secrets.household, collection: .keys, id: id, revision: try await nextRevision(.keys, id))
        // A computer keeps only what it may have while it is locked; a companion unwraps everything by its own lock.
        let vaultKeys = vaultRing.entries.filter { $0.kind == .vault || $0.kind == .inbox }
        let ring = try secrets.ring.adding(member.role == .companion ? vaultKeys : [])
        let box = try DeviceKeys.seal(ring, as: name, to: member.boxKey)
        return secrets.sign(name, epoch: secrets.epoch, sealed: box)
    }

    func nextRevision(_ collection: RecordCollection, _ id: ItemID) async throws -> UInt64 {
        try await (store.known(collection, id)?.revision ?? 0) + 1
    }

    /// Those who get this computer's keys: a device that goes belongs to the roster until the hub can be told of it.
    var keyHolders: [RosterMember] {
        guard let session else { return [] }
        return session.roster.members.filter { $0.id != session.secrets.device && $0.id != revocation?.device }
    }

    /// Boxes the keys of the vaults to every companion once more.
    func giveKeysToAll(_ vaultRing: KeyRing) async throws {
        guard let session else { return }
        var change = StateChange(documents: [HouseholdDocuments.keysOwed: nil])
        for member in keyHolders where member.role == .companion {
            change.household.append(try await keysRecord(for: member, of: session.secrets, vaultRing: vaultRing))
        }
        try await store.write(change)
        await queued()
    }

    /// The vault is open: devices that did not get their keys get them now, because the daemon ended in between, or because
    /// another computer let them in while this one was locked.
    func giveMissingKeys(_ vaultRing: KeyRing) async throws {
        guard let session else { return }
        let (own, roster) = (session.secrets.device, session.roster)
        if try await store.document(HouseholdDocuments.keysOwed) != nil { try await giveKeysToAll(vaultRing) }
        for member in keyHolders {
            guard try await store.known(.keys, roster.keysRecord(from: own, to: member.id)) == nil else { continue }
            if roster.admitter(of: member.id) == own {
                try await giveKeys(to: member, named: "New device", vaultRing: vaultRing)
            } else {
                var change = StateChange()
                change.household = [try await keysRecord(for: member, of: session.secrets, vaultRing: vaultRing)]
                try await store.write(change)
                await queued()
            }
        }
    }
}
