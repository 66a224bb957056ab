import ControlAPI
import Foundation
import Household
import HubAPI
import Policy
import SealedFormats
import Sync

// Pairing: an invitation, a device that joins by it, and the owner who confirms.
extension HouseholdService {
    struct Pairing {
        let invitation: Invitation
        /// Since boot.
        let expires: Duration
        var joining: (member: RosterMember, name: String, words: [String])?
    }

    private static let lifetime = Duration.seconds(300)
    /// The owner's time to confirm, once a device has joined.
    private static let patience = Duration.seconds(600)

    /// - Parameters:
    ///   - address: the hub's address as the other device reaches it; by default the one in the settings.
    ///   - role: the role of the device to admit. A phone of a household that a phone founded becomes an administrator.
    func makePairing(address: String?, role: DeviceRole = .companion) async throws -> PairingReport {
        let session = try requireSession()
        let isPhoneFounded = session.roster.isPhoneFounded
        guard role != .administrator || isPhoneFounded else {
            throw ControlError(.badRequest, "Only a household that a phone founded has phones that admit devices.")
        }
        let code = PairingCode()
        let invitation = Invitation(
            household: session.roster.household, computer: session.secrets.device,
            role: role.isCompanion && isPhoneFounded ? .administrator : role, code: code)
        do {
            try await session.hub.invite(
                NewInvitationRequest(
                    id: HubID(invitation.id), proofHash: Data(invitation.proofHash),
                    expiresInSeconds: Int(Self.lifetime.components.seconds),
                    details: role.isCompanion ? Data(invitation.sealedDetails) : nil))
        } catch {
            throw ControlError(hub: error)
        }
        let now = time.elapsed()
        pairings = pairings.filter { $0.value.expires + Self.patience > now }
        pairings[invitation.id] = Pairing(invitation: invitation, expires: now + Self.lifetime)
        return PairingReport(
            id: invitation.id.description, state: .waiting, link: invitation.link(hub: address ?? session.settings.url),
            code: role.isCompanion ? code.text : nil,
            expiresInSeconds: Int(Self.lifetime.components.seconds))
    }

    /// Returns once a device has joined, or after this many seconds.
    func pairing(_ text: String, waitingUpTo seconds: Int) async throws -> PairingReport {
        let deadline = time.elapsed() + .seconds(seconds)
        while true {
            let pairing = try await lookedUp(text)
            let now = time.elapsed()
            if pairing.joining != nil || now >= deadline { return report(pairing) }
            // The hub reports it on the stream; without a stream it is asked every two seconds.
            await waitForJoin(until: min(deadline, now + .seconds(2)))
        }
    }

    private func waitForJoin(until end: Duration) async {
        let nap = Task { [time] in
            try? await time.sleep(until: end)
            deviceJoined()
        }
        await withCheckedContinuation { joinWaiters.append($0) }
        nap.cancel()
    }

    /// Wakes the requests that wait for a device: one has joined, or may have.
    func deviceJoined() {
        let waiters = joinWaiters
        joinWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    private func lookedUp(_ text: String) async throws -> Pairing {
        let session = try requireSession()
        guard let id = ItemID(text), var pairing = pairings[id] else {
            throw ControlError(.noSuchItem, "There is no such pairing. Start one with `applocker pair`.")
        }
        guard pairing.joining == nil else { return pairing }
        guard time.elapsed() < pairing.expires else {
            pairings[id] = nil
            throw ControlError(.noSuchItem, "No device joined within five minutes. Run `applocker pair` again.")
        }
        do {
            guard let join = try await session.hub.invitation(HubID(id)).join else { return pairing }
            let joining = try pairing.invitation.open([UInt8](join.sealed))
            guard joining.signingKey.id == join.device.item else {
                throw ControlError(.hub, "The hub reported another device than the one that joined. Pair again.")
            }
            pairing.joining = (
                RosterMember(
                    role: pairing.invitation.role, signingKey: joining.signingKey, boxKey: joining.boxKey),
                joining.name, pairing.invitation.words(signingKey: joining.signingKey, boxKey: joining.boxKey)
            )
        } catch {
            // The device that joined did not have the link, or the invitation is used up: it is no longer valid.
            if error is SealedFormatsError || (error as? HubError)?.code == .gone || error is ControlError {
                pairings[id] = nil
                try? await session.hub.withdrawInvitation(HubID(id))
                if error is SealedFormatsError || error is ControlError {
                    await log.enqueue(
                        .hubMisbehaved, "A device without the pairing link tried to join and was not admitted.")
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
            expiresInSeconds: max(0, (pairing.expires - time.elapsed()).wholeSecondsRoundedUp),
            name: pairing.joining?.name, device: pairing.joining?.member.id.description,
            role: pairing.joining.map { HubDeviceRole($0.member.role) }, words: pairing.joining?.words)
    }

    func endPairing(_ text: String) async throws {
        guard let id = ItemID(text), pairings.removeValue(forKey: id) != nil else { return }
        try? await requireSession().hub.withdrawInvitation(HubID(id))
    }

    /// Admits the device after the owner's confirmation, and sends its keys.
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
                try await sendKeys(to: joining.member, named: joining.name, vaultRing: ring)
                try await settleEpochKeys(ring)
            } catch {
                throw ControlError(hub: error)
            }
        }
        await log.append(.devicePaired, user: user, "\(joining.name) was paired.")
        return DeviceReport(
            id: joining.member.id.description, name: joining.name, role: HubDeviceRole(joining.member.role),
            isThisComputer: false)
    }

    static let neverComesBack = ControlError(
        .hub,
        "This computer was removed from this household, or left it, and can't rejoin. Make a backup, erase "
            + "the computer with `applocker reset`, and join as a new one.")

    private func admit(_ member: RosterMember, invitation: ItemID) async throws {
        // Another computer may append at the same moment.
        for attempt in 1...3 {
            var roster = try await followRoster()
            if roster.member(member.id) != nil { return }
            // Appending the entry anyway would make the list invalid for every device.
            guard !roster.revoked.contains(member.id) else {
                throw ControlError(
                    .hub,
                    "This device was removed from the household and can't rejoin under its key. Erase AppLocker on it, and pair "
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

    /// Boxes the household's keys to a device, and sends its name to the others.
    func sendKeys(to member: RosterMember, named name: String, vaultRing: KeyRing) async throws {
        let secrets = try requireSession().secrets
        var change = StateChange(household: [
            try secrets.seal(
                DeviceName(name: name), .devices, member.id, revision: try await nextRevision(.devices, member.id))
        ])
        if getsKeys(member) {
            change.household.insert(try await keysRecord(for: member, of: secrets, vaultRing: vaultRing), at: 0)
        }
        try await store.write(change)
        events.send(.recordsQueued)
    }

    func keysRecord(
        for member: RosterMember, of secrets: HouseholdSecrets, vaultRing: KeyRing
    ) async throws -> HubRecord {
        let id = try requireSession().roster.keysRecord(from: secrets.device, to: member.id)
        let name = RecordName(
            vault: secrets.household, collection: .keys, id: id, revision: try await nextRevision(.keys, id))
        // A computer stores only what it may have while it is locked. A companion has everything behind its own lock.
        let shared = EpochKeys.vault(of: secrets.household)
        let vaultKeys = vaultRing.entries.filter { ($0.kind == .vault || $0.kind == .inbox) && $0.vault != shared }
        let statusKeys = try requireSession().roster.isPhoneFounded ? KeyRing([]) : secrets.ring
        let ring = try statusKeys.adding(member.role.isCompanion ? vaultKeys : [])
        let box = try DeviceKeys.seal(ring, as: name, to: member.boxKey)
        return secrets.sign(name, epoch: secrets.epoch, sealed: box)
    }

    func nextRevision(_ collection: RecordCollection, _ id: ItemID) async throws -> UInt64 {
        try await (store.known(collection, id)?.revision ?? 0) + 1
    }

    /// The devices that get this computer's keys. A revoked one stays in the roster until the hub has the revocation.
    var keyHolders: [RosterMember] {
        session?.roster.members.filter { getsKeys($0) && $0.id != revocation?.device } ?? []
    }

    /// Whether this computer has keys of its own for a device: of its vault for phones, and of the status for all, unless a
    /// phone founded the household.
    func getsKeys(_ member: RosterMember) -> Bool {
        guard let session, member.id != session.secrets.device else { return false }
        return member.role.isCompanion || !session.roster.isPhoneFounded
    }

    /// Boxes the keys of the vaults to every companion again.
    func sendKeysToAll(_ vaultRing: KeyRing) async throws {
        guard let session else { return }
        var change = StateChange(documents: [HouseholdDocuments.keysOwed: nil])
        for member in keyHolders where member.role.isCompanion {
            change.household.append(try await keysRecord(for: member, of: session.secrets, vaultRing: vaultRing))
        }
        try await store.write(change)
        events.send(.recordsQueued)
    }

    /// Sends keys to devices that lack them, now that the vault is open: the daemon ended in between, or another
    /// computer admitted them while this one was locked.
    func sendMissingKeys(_ vaultRing: KeyRing) async throws {
        guard let session else { return }
        let (own, roster) = (session.secrets.device, session.roster)
        if try await store.document(HouseholdDocuments.keysOwed) != nil { try await sendKeysToAll(vaultRing) }
        for member in keyHolders {
            guard try await store.known(.keys, roster.keysRecord(from: own, to: member.id)) == nil else { continue }
            if roster.admitter(of: member.id) == own {
                try await sendKeys(to: member, named: "New device", vaultRing: vaultRing)
            } else {
                let record = try await keysRecord(for: member, of: session.secrets, vaultRing: vaultRing)
                try await store.write(StateChange(household: [record]))
                events.send(.recordsQueued)
            }
        }
    }
}
