import ControlAPI
import Foundation
import Household
import SealedFormats
import Sync

// Undoing what a device did before it was revoked.
extension HouseholdService {
    /// How many records are read and written at a time; each may have 16 MiB.
    private static let restoredTogether = 16

    /// Restores what devices that no longer belong to the household replaced or removed, as next revisions by this
    /// computer. Later changes by devices that belong stay.
    ///
    /// - Throws: as `PasscodeService.verify`, or `ControlError` with `badRequest`, `noSuchItem`, `ambiguousItem` or
    ///   `failed`.
    func restore(_ request: RestoreRequest, user: UInt32, reader: SyncEngine) async throws -> RestoreReport {
        guard request.before.isFinite else { throw ControlError(.badRequest, "`before` is not a time.") }
        return try await memberships.perform {
            // Opened inside `memberships`, where keys are replaced: nothing is sealed under keys of a revoked device.
            let ring = try await passcodes.openRing(SecretBytes(utf8: request.passcode), user: user).ring
            let vault = try await passcodes.requireVaultDocument().vault
            // Reads the latest changes of devices that belong, if the hub can be reached.
            try? await reader.readUpToDate()
            let since = max(request.before, time.wallClock() - EarlierVersion.retentionSeconds)
            let names = try await formerNames()
            let versions = try await store.earlierVersions(since: since)
            let devices = try await devices(request.device, of: versions, names)
            let plan = RestorePlan(
                store: store, keys: VaultKeys(vault: vault, ring: ring, device: signingKey.publicKey.id),
                devices: devices, names: names)
            let report = try await restore(
                Self.grouped(versions.filter { devices.contains($0.replacer) }), plan, isTrial: request.isTrial)
            let count = report.restored + report.copied
            if !request.isTrial, count > 0 {
                let who = request.device.map { _ in devices.compactMap { names[$0] } } ?? []
                await log.append(
                    .changesRestored, user: user,
                    Self.restored(count, by: who.first))
            }
            return report
        }
    }

    /// - Parameter name: of the device that had changed the items; nil: of several, or of one that left.
    private static func restored(_ count: Int, by name: String?) -> String {
        guard let name else {
            return count == 1
                ? "1 item that devices that are no longer in the household had changed or removed was restored."
                : "\(count) items that devices that are no longer in the household had changed or removed were restored."
        }
        return count == 1
            ? "1 item that \(name) had changed or removed was restored."
            : "\(count) items that \(name) had changed or removed were restored."
    }

    private func restore(
        _ groups: [[EarlierVersion]], _ plan: RestorePlan, isTrial: Bool
    ) async throws -> RestoreReport {
        var report = RestoreReport()
        for start in stride(from: 0, to: groups.count, by: Self.restoredTogether) {
            let some = groups[start..<min(start + Self.restoredTogether, groups.count)]
            let results = try await retryingOnConflict {
                var results: [RestorePlan.Result] = []
                for versions in some { results += try await plan.results(of: versions) }
                let records = results.flatMap(\.records)
                if !isTrial, !records.isEmpty { try await store.write(StateChange(records: records)) }
                return results
            }
            for result in results { report.add(result.item) }
        }
        return report
    }

    /// Groups versions by record, in the order of each record's first version.
    private static func grouped(_ versions: [EarlierVersion]) -> [[EarlierVersion]] {
        struct Key: Hashable {
            let collection: RecordCollection
            let id: ItemID
        }
        var places: [Key: Int] = [:]
        var groups: [[EarlierVersion]] = []
        for version in versions {
            let key = Key(collection: version.collection, id: version.id)
            if let place = places[key] {
                groups[place].append(version)
            } else {
                places[key] = groups.count
                groups.append([version])
            }
        }
        return groups
    }

    // MARK: Whose changes

    /// Devices that replaced something and do not belong to the household, or the one of them that `reference` names.
    private func devices(
        _ reference: String?, of versions: [EarlierVersion], _ names: [ItemID: String]
    ) async throws -> Set<ItemID> {
        let members = Set(session?.roster.members.map(\.id) ?? []).union([signingKey.publicKey.id])
        let former = Set(versions.map(\.replacer)).union(names.keys).subtracting(members)
        guard let reference else { return former }
        let meant = former.filter { device in
            let id = device.description
            return id == reference || (reference.count >= 4 && id.hasPrefix(reference))
                || names[device]?.lowercased() == reference.lowercased()
        }
        switch meant.count {
        case 1: return meant
        case 0:
            if let member = try? await member(reference) {
                throw ControlError(
                    .badRequest,
                    "\(member.name) is in the household. Revoke it first with `applocker devices revoke`.")
            }
            throw ControlError(.noSuchItem, "No revoked device has this name or id.")
        default:
            throw ControlError(
                .ambiguousItem,
                "This matches \(meant.count) revoked devices; use an id, as `--json` shows it.")
        }
    }

    /// The names of revoked devices. Their names at the hub are removed when they are revoked.
    func formerNames() async throws -> [ItemID: String] {
        let names = try await store.decoded([String: String].self, HouseholdDocuments.formerNames) ?? [:]
        return Dictionary(uniqueKeysWithValues: names.compactMap { id, name in ItemID(id).map { ($0, name) } })
    }

    /// The former names with one more, as stored bytes.
    func storedFormerNames(adding device: ItemID, _ name: String) async throws -> [UInt8] {
        var names = try await formerNames()
        names[device] = name
        return try [UInt8](
            JSONEncoder().encode(
                Dictionary(uniqueKeysWithValues: names.map { ($0.key.description, $0.value) })))
    }
}
