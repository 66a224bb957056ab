public import ControlAPI
import Localization

/// Events of one sort, as the filter offers them.
public enum EventGroup: Int, CaseIterable, Sendable {
    case all, launches, passcodes, locking, changes, photos, devices, protection

    public var title: String {
        switch self {
        case .all: localized("All events")
        case .launches: localized("Launches")
        case .passcodes: localized("Passcodes")
        case .locking: localized("Locking and unlocking")
        case .changes: localized("Changes")
        case .photos: localized("Intruder photos")
        case .devices: localized("Devices and hub")
        case .protection: localized("Protection")
        }
    }

    /// Of an event's `kind`; `protection` for one that a later version adds.
    init(kind: String) {
        switch kind {
        case "launch_asked", "launch_allowed", "launch_denied", "read_denied": self = .launches
        case "passcode_wrong", "passcode_changed", "set_up", "recovery_made", "recovery_used": self = .passcodes
        case "unlocked", "locked", "grant_ended", "relocked", "vault_opened", "vault_locked": self = .locking
        case "app_added", "app_removed", "app_changed", "category_changed", "settings_changed", "backup_exported",
            "backup_imported", "changes_restored":
            self = .changes
        case "intruder_photographed", "intruder_missed": self = .photos
        case "hub_connected", "hub_disconnected", "hub_misbehaved", "device_paired", "device_renamed",
            "device_revoked", "remote_command":
            self = .devices
        default: self = .protection
        }
    }
}

/// Which events are shown.
public struct ActivityFilter: Equatable, Sendable {
    public var group: EventGroup = .all
    /// An app's id; nil: of all apps, and events without one.
    public var app: String?
    /// A user's id; nil: of all users, and events without one.
    public var user: UInt32?
    public var day: LocalDay?
    /// Words that the sentence or the app contains, all of them.
    public var search = ""

    public init() {}

    public var isActive: Bool { self != ActivityFilter() }

    func matches(_ event: EventReport, day eventDay: LocalDay?) -> Bool {
        guard group == .all || EventGroup(kind: event.kind) == group, app == nil || event.app == app,
            user == nil || event.user == user, day == nil || eventDay == day
        else { return false }
        // Translating the whole log takes longer than a key may.
        guard !search.isEmpty else { return true }
        return hasAllWords(
            search, in: "\(event.sentence) \(localized(written: event.sentence)) \(event.app ?? "")")
    }
}

/// The activity as comma-separated values (RFC 4180), with a header line.
enum ActivityTable {
    static func text(_ events: [EventReport], _ time: DesktopTime) -> String {
        let header = ["number", "time", "kind", "app", "user", "sentence"]
        let rows = events.map { event in
            [
                "\(event.number)", fullTime(event.time, time), event.kind, event.app ?? "",
                event.user.map { "\($0)" } ?? "", event.sentence,
            ]
        }
        return ([header] + rows).map { $0.map(field).joined(separator: ",") + "\r\n" }.joined()
    }

    /// ISO 8601 in UTC.
    private static func fullTime(_ seconds: Double, _ time: DesktopTime) -> String {
        guard seconds.isFinite, abs(seconds) < 1e11 else { return "" }
        let day = LocalDay(date: seconds, offset: 0)
        let second = Int(seconds.rounded(.down)) - day.daysSince1970 * 86_400
        let parts = [second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(day.text)T\(parts.joined(separator: ":"))Z"
    }

    /// A spreadsheet would run a text that begins like a formula.
    private static func field(_ text: String) -> String {
        let isFormula = text.first.map { "=+-@\t\r".contains($0) } ?? false
        let safe = isFormula ? "'" + text : text
        guard safe.contains(where: { "\",\r\n".contains($0) || $0 == "\r\n" }) else { return safe }
        return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
