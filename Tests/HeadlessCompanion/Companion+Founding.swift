public import Foundation
public import Household
public import HubAPI
public import SealedFormats

// A phone that founds a household, or administers one that a phone founded.
extension Companion {
    /// Founds a household, makes the keys of its first epoch, and sends its own name.
    /// - Parameters:
    ///   - start: of a start link, if the hub needs one.
    ///   - role: a computer's founds a shared vault, in which every member has it.
    /// - Throws: as `join`.
    public static func found(
        at settings: HubSettings, start: String? = nil, role: DeviceRole = .administrator, name: String,
        directory: String, clock: @escaping @Sendable () -> UInt64 = systemClock, connect: Connect
    ) async throws -> Companion {
        let files = CompanionFiles(directory: directory)
        guard !files.exists else { throw CompanionError("There is a companion in \(directory) already.") }
        try files.prepare()
        let (key, boxKey) = (DeviceSigningKey(), BoxKeyPair())
        let roster = Roster(founder: key, boxKey: boxKey.publicKey, role: role, at: clock() / 1_000)
        let secrets = HouseholdSecrets(
            household: roster.household, signingKey: key, boxKey: boxKey,
            token: .random(count: HouseholdSecrets.tokenLength), ring: KeyRing([]))
        try await connect(settings, secrets.token).found(
            NewHouseholdRequest(
                household: HubID(roster.household), device: HubID(secrets.device), entry: Data(roster.entries[0]),
                tokenHash: secrets.tokenHash, role: HubDeviceRole(role), start: start))
        try files.save(secrets, deviceSecret: .random(count: 32))
        try files.save(
            CompanionState(
                hub: settings.url, certificates: settings.certificates, proxy: settings.proxy,
                isInsecure: settings.isInsecure, household: roster.household, computer: secrets.device,
                roster: roster.entries.map { Data($0) }, isSharedVault: role == .computer))
        let companion = try Companion(directory: directory, clock: clock, connect: connect)
        try await companion.settleKeys()
        try await companion.sendName(name)
        return companion
    }

    func epochKeysID(_ epoch: UInt32) -> ItemID { EpochKeys.recordID(household: roster.household, epoch: epoch) }

    private func sendName(_ name: String) async throws {
        try await write(DeviceName(name: name), of: secrets.device)
    }

    /// The next revision of a device's name.
    public func write(_ name: DeviceName, of device: ItemID) async throws {
        let known = state.records[Self.key("devices", HubID(device))]?.revision ?? 0
        try await send(try secrets.seal(name, .devices, device, revision: known + 1))
    }

    /// A moment without photos, in the vault of the household.
    public func writeMoment(title: String, words: String) async throws {
        let now = Double(clock()) / 1_000
        let moment = MomentBody(
            title: title, words: words, date: now, offset: 0,
            created: now, modified: now)
        try await write(try moment.bytes(), as: .moments)
    }

    /// A record in the vault of the household, a new one if no id is given.
    @discardableResult
    public func write(
        _ body: Data, as collection: RecordCollection, id: ItemID = .random(), revision: UInt64 = 1
    ) async throws -> ItemID {
        let vault = EpochKeys.vault(of: roster.household)
        guard let entry = secrets.ring.current(.vault, vault: vault) else {
            throw CompanionError("This device has no key of the vault.")
        }
        let name = RecordName(vault: vault, collection: collection, id: id, revision: revision)
        let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: entry.key, epoch: entry.epoch)
        try await send(secrets.sign(name, epoch: entry.epoch, sealed: envelope.bytes))
        return id
    }

    // MARK: Devices

    /// - Returns: the invitation and its link.
    public func invite(_ role: DeviceRole) async throws -> (invitation: Invitation, link: String) {
        let invitation = Invitation(household: roster.household, computer: secrets.device, role: role)
        try await hub.invite(NewInvitationRequest(id: HubID(invitation.id), proofHash: Data(invitation.proofHash)))
        return (invitation, invitation.link(hub: state.hub))
    }

    /// The same to the shared vault that this device founded.
    public func inviteToVault() async throws -> (invitation: Invitation, link: String) {
        let (invitation, link) = try await invite(.computer)
        let parts = link.components(separatedBy: "/#pair=")
        let padded = parts[1] + String(repeating: "=", count: (4 - parts[1].count % 4) % 4)
        let base64 = padded.replacing("-", with: "+").replacing("_", with: "/")
        guard var bytes = Data(base64Encoded: base64) else { throw CompanionError("The link is no pairing's.") }
        // The version of a vault's.
        bytes[0] = 1
        let text = bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
        return (invitation, "\(parts[0])/#vault=\(text)")
    }

    /// Waits for a device to join, and admits it.
    /// - Parameter settles: whether it gets the keys.
    /// - Returns: its name.
    public func admit(
        by invitation: Invitation, settles: Bool = true, patience: Duration = .seconds(120),
        pause: Duration = .milliseconds(20)
    ) async throws -> String {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            guard let join = try await hub.invitation(HubID(invitation.id)).join else {
                try await Task.sleep(for: pause)
                continue
            }
            let joining = try invitation.open([UInt8](join.sealed))
            let member = RosterMember(
                role: invitation.role, signingKey: joining.signingKey, boxKey: joining.boxKey)
            try await append(
                roster.admitting(member, by: secrets.signingKey, at: clock() / 1_000),
                .admit(device: join.device, role: HubDeviceRole(member.role), invitation: HubID(invitation.id)))
            if settles { try await settleKeys() }
            return joining.name
        }
        throw CompanionError("No device joined in time.")
    }

    /// - Parameter settles: whether new keys are made at once; otherwise another member has to.
    public func revoke(_ device: HubID, settles: Bool = true) async throws {
        try await followRoster()
        try await append(
            roster.revoking(device.item, by: secrets.signingKey, at: clock() / 1_000), .revoke(device: device))
        if settles { try await settleKeys() }
    }

    private func append(_ entry: [UInt8], _ change: HubAPI.RosterChange) async throws {
        try await hub.append(
            RosterAppendRequest(number: roster.head.number + 1, entry: Data(entry), change: change))
        try await followRoster()
    }

    // MARK: Keys

    /// Ensures that every member has a box in the record of the current epoch's keys.
    public func settleKeys() async throws {
        for _ in 0..<8 {
            try await sync()
            let (household, epoch) = (roster.household, roster.keysEpoch)
            let (id, vault) = (epochKeysID(epoch), EpochKeys.vault(of: household))
            let known = state.records[Self.key("keys", HubID(id))]
            let boxes = try known?.sealed.map { try EpochKeys.boxes([UInt8]($0)) } ?? [:]
            if roster.members.allSatisfy({ boxes[$0.id] != nil }) { return }
            var entries = secrets.ring.entries.filter { $0.kind == .status || $0.kind == .vault && $0.vault == vault }
            for (kind, vault) in [(KeyRing.Kind.vault, vault), (.status, household)]
            where secrets.ring.key(kind, vault: vault, epoch: epoch) == nil {
                guard known == nil else { throw CompanionError("This device has no key of the newest epoch.") }
                entries.append(.init(kind: kind, vault: vault, epoch: epoch, key: .random(count: 32)))
            }
            let name = RecordName(
                vault: household, collection: .keys, id: id, revision: (known?.revision ?? 0) + 1)
            var record = secrets.sign(
                name, epoch: epoch, sealed: try EpochKeys.seal(KeyRing(entries), as: name, to: roster.members),
                replaces: known?.revision ?? 0)
            // Of two members who make them at once, the hub accepts one.
            guard let sequence = try await hub.write([record])[0].sequence else { continue }
            (record.sequence, record.replaces) = (sequence, nil)
            try await ingest(record)
        }
        throw CompanionError("The keys could not be settled.")
    }
}
