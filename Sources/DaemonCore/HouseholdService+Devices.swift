import Foundation
import Household
import SealedFormats
import WireProtocol

// Who belongs, what they are called, and putting one out.
extension HouseholdService {
    func devices() async throws -> DeviceList {
        let session = try requireSession()
        // What the hub says of them is shown and decides nothing.
        let seen = (try? await session.hub.devices()) ?? []
        var reports: [DeviceReport] = []
        for member in session.roster.members {
            let atHub = seen.first { $0.id == HubID(member.id) }
            reports.append(
                DeviceReport(
                    id: member.id.description, name: await name(of: member, session), role: HubDeviceRole(member.role),
                    isThisComputer: member.id == session.secrets.device, lastSeen: atHub?.lastSeen.map { Double($0) },
                    isConnected: atHub?.isConnected, hasPush: atHub?.hasPush))
        }
        return DeviceList(devices: reports)
    }

    func name(of device: ItemID) async -> String {
        guard let session, let member = session.roster.member(device) else { return "a device" }
        return await name(of: member, session)
    }

    private func name(of member: RosterMember, _ session: Session) async -> String {
        guard let record = try? await store.householdRecord(.devices, member.id),
            let checked = try? RecordCheck(session.roster).check(record, known: 0),
            let name: DeviceName = try? session.secrets.open(checked)
        else { return "unnamed" }
        return name.name
    }

    /// The device that is meant: by id, by the first digits of it (at least 4), or by its name.
    private func member(_ reference: String) async throws -> (RosterMember, name: String) {
        let session = try requireSession()
        var named: [(RosterMember, name: String)] = []
        for member in session.roster.members {
            let name = await name(of: member, session)
            let id = member.id.description
            if id == reference { return (member, name) }
            if (reference.count >= 4 && id.hasPrefix(reference)) || name.lowercased() == reference.lowercased() {
                named.append((member, name))
            }
        }
        switch named.count {
        case 1: return named[0]
        case 0: throw ControlError(.noSuchItem, "There is no such device. `applocker devices` shows all.")
        default:
            throw ControlError(
                .ambiguousItem, "This fits \(named.count) devices; name one by its id, as `applocker devices` shows it."
            )
        }
    }

    func rename(_ reference: String, to name: String, user: UInt32) async throws -> DeviceReport {
        guard Invitation.nameLength ~= name.utf8.count else {
            throw ControlError(.badRequest, "A device's name has 1 to 64 bytes; choose a shorter one.")
        }
        let (member, old) = try await member(reference)
        let record = try requireSession().secrets.seal(
            DeviceName(name: name), .devices, member.id, revision: try await nextRevision(.devices, member.id))
        var change = StateChange()
        change.household = [record]
        try await store.write(change)
        await queued()
        await log.record(.deviceRenamed, user: user, "\(old) is called \(name) now.")
        return DeviceReport(
            id: member.id.description, name: name, role: HubDeviceRole(member.role),
            isThisComputer: member.id == signingKey.publicKey.id)
    }

    // MARK: Revocation

    /// Puts a device out: the hub ends its token, push subscription and PIN share, and every key that it knew is replaced.
    ///
    /// Everything that does not need the hub is one transaction: new keys, every record sealed anew under them, and the keys
    /// boxed to the devices that stay. What the hub is to be told follows, now or when it can be reached.
    ///
    /// - Returns: sentences worth knowing.
    /// - Throws: as `PasscodeService.verify`, or `ControlError` with `noSuchItem`, `badRequest` or `hub`.
    func revoke(_ reference: String, passcode: SecretBytes, user: UInt32) async throws -> [String] {
        let (member, name) = try await member(reference)
        guard member.id != signingKey.publicKey.id else {
            throw ControlError(.badRequest, "This computer can't revoke itself. Leave with `applocker hub disconnect`.")
        }
        if revocation != nil { try? await finishRevocation() }
        guard revocation == nil else {
            throw ControlError(.busy, "The hub has not been told of the revocation before this one yet. Try again.")
        }
        let opened = try await passcodes.openRing(passcode, user: user)
        for attempt in 1...5 {
            do {
                try await replaceKeys(without: member, name: name, ring: opened.ring, rootKey: opened.rootKey)
                break
            } catch is RevisionConflict where attempt < 5 {
                // Somebody wrote a record meanwhile: look at all of them again.
            }
        }
        await log.record(.deviceRevoked, user: user, "\(name) was revoked: every key that it knew is replaced.")
        do {
            try await finishRevocation()
            return ["\(name) is revoked: it reads nothing that is written from now on."]
        } catch {
            return [
                "\(name) opens nothing that is written from now on. The hub could not be told yet "
                    + "(\(ControlError(hub: error).message)); AppLocker goes on trying."
            ]
        }
    }

    private func replaceKeys(
        without member: RosterMember, name: String, ring: KeyRing, rootKey: SecretBytes
    ) async throws {
        let session = try requireSession()
        let vaults = Set(ring.entries.map(\.vault))
        var newRing = ring
        for vault in vaults {
            for kind in [KeyRing.Kind.vault, .inbox] {
                guard let current = ring.current(kind, vault: vault) else { continue }
                let key = kind == .inbox ? BoxKeyPair().privateKey : SecretBytes.random(count: 32)
                newRing.add(.init(kind: kind, vault: vault, epoch: current.epoch + 1, key: key))
            }
        }
        var secrets = session.secrets
        try secrets.add(
            KeyRing([
                .init(kind: .status, vault: secrets.household, epoch: secrets.epoch + 1, key: .random(count: 32))
            ]))
        guard var document = try await passcodes.vaultDocument() else {
            throw ControlError(.notSetUp, "There is no vault yet. Run `applocker setup`.")
        }
        if let inbox = newRing.current(.inbox, vault: document.vault) {
            document.inboxPublicKey = Data(try BoxKeyPair(privateKey: inbox.key).publicKey.bytes)
            document.inboxEpoch = inbox.epoch
        }
        let revocation = StoredRevocation(device: member.id, name: name)
        var change = StateChange(documents: [
            VaultDocuments.ring: newRing.sealed(under: rootKey),
            VaultDocuments.vault: try [UInt8](JSONEncoder().encode(document)),
            HouseholdDocuments.keys: sealedKeys(secrets),
            HouseholdDocuments.revocation: try [UInt8](JSONEncoder().encode(revocation)),
        ])
        change.records = try await resealed(under: newRing, vault: document.vault)
        for other in session.roster.members where other.id != member.id {
            if other.id != secrets.device {
                change.household.append(try await keysRecord(for: other, of: secrets, vaultRing: newRing))
            }
            let name = DeviceName(name: await self.name(of: other, session))
            change.household.append(
                try secrets.seal(name, .devices, other.id, revision: try await nextRevision(.devices, other.id)))
        }
        // What was for the device itself is of no use any more.
        for collection in [RecordCollection.keys, .devices] {
            let name = RecordName(
                vault: secrets.household, collection: collection, id: member.id,
                revision: try await nextRevision(collection, member.id))
            change.household.append(secrets.sign(name, epoch: secrets.epoch, sealed: nil))
        }
        try await store.write(change)
        await adopt(secrets, revocation: revocation)
        await vault.replaceRing(newRing)
    }

    /// Every record of every vault as its next revision under the newest keys, by this computer.
    private func resealed(under ring: KeyRing, vault: ItemID) async throws -> [StoredRecord] {
        let keys = VaultKeys(vault: vault, ring: ring, device: signingKey.publicKey.id)
        return try await store.vaultRecords().map { record in
            var body = try keys.open(record)
            defer { body.withUnsafeMutableBytes { wipe($0) } }
            let revision = record.name.revision + 1
            guard record.name.collection == .intruders else {
                return try keys.seal(
                    body, record.name.collection, record.name.id, revision: revision, in: record.name.vault)
            }
            guard let inbox = ring.current(.inbox, vault: record.name.vault) else { return record }
            var name = record.name
            name.revision = revision
            let box = try PublicKeyBox.seal(body, as: name, to: BoxKeyPair(privateKey: inbox.key).publicKey)
            return StoredRecord(name: name, epoch: inbox.epoch, author: keys.device, sealed: box)
        }
    }

    /// Tells the hub of a revocation, where one waits for it.
    func finishRevocation() async throws {
        guard let revocation else { return }
        for attempt in 1...3 {
            var roster = try await followRoster()
            guard roster.member(revocation.device) != nil else { break }
            let entry = roster.revoking(revocation.device, by: signingKey, at: clock / 1_000)
            do {
                try await requireSession().hub.append(
                    RosterAppendRequest(
                        number: roster.head.number + 1, entry: Data(entry),
                        change: .revoke(device: HubID(revocation.device))))
            } catch let error as HubError where error.code == .conflict && attempt < 3 {
                continue
            }
            try roster.append(entry)
            try await store.save(Self.stored(roster), as: HouseholdDocuments.roster)
            takeOver(roster)
            break
        }
        try await store.write(StateChange(documents: [HouseholdDocuments.revocation: nil]))
        forgetRevocation()
        await queued()
    }
}
