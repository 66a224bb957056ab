import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

// The devices of the household and their names.
extension HouseholdService {
    func devices() async throws -> DeviceList {
        let session = try requireSession()
        // The hub's data about devices is only shown; no decision uses it.
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
        return DeviceList(devices: reports, unconfirmedAlert: seen.isEmpty ? nil : unconfirmedAlert(reports))
    }

    /// - Parameter time: seconds since 1970, taken before it was sent.
    func alertSent(at time: Double) async {
        guard time > lastAlert ?? 0 else { return }
        lastAlert = time
        // Only a report depends on it.
        try? await store.save(Array(String(time).utf8), as: HouseholdDocuments.alertSent)
    }

    /// A phone's service worker makes a request after it has shown a notification. The hub records minutes.
    private func unconfirmedAlert(_ devices: [DeviceReport]) -> Double? {
        guard let lastAlert, time.wallClock() - lastAlert >= 60 else { return nil }
        let minute = (lastAlert / 60).rounded(.down) * 60
        let isConfirmed = devices.contains {
            $0.role.isCompanion && ($0.isConnected == true || ($0.lastSeen ?? 0) >= minute)
        }
        return isConfirmed ? nil : lastAlert
    }

    /// Makes the hub keep events for at least so many days, where its operator's number is not enough. It never lowers
    /// the number: another computer may need more, and the hub keeps removed content as long, for `household restore`.
    func keepAlerts(days: Int) async throws {
        let session = try requireSession()
        guard days > PrivacySettings().alertDays, try await session.hub.household().eventDays < days else { return }
        try await session.hub.changeHousehold(ChangeHouseholdRequest(eventDays: days))
    }

    func name(of device: ItemID) async -> String {
        guard let session, let member = session.roster.member(device) else { return "a device" }
        return await name(of: member, session)
    }

    func name(of member: RosterMember, _ session: Session) async -> String {
        await storedName(of: member.id, session)?.name ?? Self.unnamed
    }

    static let unnamed = "unnamed"

    /// The whole body of its record; nil without one that a member signed and that opens.
    func storedName(of device: ItemID, _ session: Session) async -> DeviceName? {
        guard let record = try? await store.householdRecord(.devices, device),
            let checked = try? RecordCheck(session.roster).check(record, known: 0)
        else { return nil }
        return try? session.secrets.open(checked, as: DeviceName.self)
    }

    /// Finds a device by id, by the first digits of it (at least 4), or by its name.
    func member(_ reference: String) async throws -> (RosterMember, name: String) {
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
                .ambiguousItem, "This matches \(named.count) devices; use an id of `applocker devices`."
            )
        }
    }

    func rename(_ reference: String, to name: String, user: UInt32) async throws -> DeviceReport {
        guard Invitation.nameLength ~= name.utf8.count else {
            throw ControlError(.badRequest, "A device's name has 1 to 64 bytes; choose a shorter one.")
        }
        let (member, old) = try await member(reference)
        let session = try requireSession()
        // A recovery sheet stays one.
        var body = await storedName(of: member.id, session) ?? DeviceName(name: name)
        body.name = name
        let record = try session.secrets.seal(
            body, .devices, member.id, revision: try await nextRevision(.devices, member.id))
        try await store.write(StateChange(household: [record]))
        events.send(.recordsQueued)
        await log.append(.deviceRenamed, user: user, "\(old) was renamed to \(name).")
        return DeviceReport(
            id: member.id.description, name: name, role: HubDeviceRole(member.role),
            isThisComputer: member.id == signingKey.publicKey.id)
    }
}
