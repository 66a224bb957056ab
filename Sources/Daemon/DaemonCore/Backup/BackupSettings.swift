import ControlAPI
import Foundation
import Policy

/// The part of a backup that any AppLocker can read: the list, its rules and the settings.
struct BackupSettings: Codable {
    struct App: Codable, Equatable {
        var id: String
        var name: String
        var executables: [String]
        /// As `ScheduleText` prints it.
        var schedule: String?
        var onGrantEnd: String
    }

    struct Group: Codable, Equatable {
        var name: String
        var apps: [String]
        var schedule: String?
    }

    var apps: [App]
    var categories: [Group]
    var promptTimeoutSeconds: Int?
    var phoneTimeoutSeconds: Int?
    var defaultGrantSeconds: Int?
    var holdsRoot: Bool?
    var asksPhoneAlone: Bool?
    var privacy: PrivacySettings?
}

/// The first entry of a backup.
struct BackupManifest: Codable {
    var version = 2
    /// ISO 8601.
    var created: String
    /// "everything" or "settings".
    var contents: String
    var records: Int
    var blobs: Int
}

/// A record as a backup holds it.
struct BackupRecord: Codable {
    var collection: String
    var id: String
    var vault: String
    var revision: UInt64
    var epoch: UInt32
    var author: String
    var deleted: Bool
    var sealed: Data?
    /// Absent in what earlier versions wrote: a file's and an intruder photo's content has the record's own id.
    var blobs: [String]?
    /// Who wrote this remark, if a companion says that it was another person. Computers import it as any remark.
    var by: String?
}

/// A backup of the earlier system, sealed as version 1 or in clear.
struct EarlierBackup: Decodable {
    struct App: Decodable {
        var bundleID: String
        var displayName: String
        var path: String?
        var category: String?
        var schedule: Plan?
    }

    /// One window a day: locked inside it.
    struct Plan: Decodable {
        var enabled: Bool
        var startHour: Int
        var startMinute: Int
        var endHour: Int
        var endMinute: Int
        /// 1 is Sunday, 7 is Saturday.
        var activeDays: [Int]
    }

    struct Group: Decodable {
        var name: String
        var appBundleIDs: [String]
    }

    struct Settings: Decodable {
        /// In seconds.
        var unlockDuration: Double?
    }

    var exportDate: ExportDate?
    var lockedApps: [App]
    var categories: [Group]?
    var settings: Settings?

    /// A date as text, or seconds since 2001 as its encoder wrote by default.
    enum ExportDate: Decodable {
        case text(String)
        case seconds(Double)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let seconds = try? container.decode(Double.self) {
                self = .seconds(seconds)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        var text: String {
            switch self {
            case .text(let text): text
            // Limited to a few thousand years: other times are not valid dates.
            case .seconds(let seconds) where abs(seconds) < 1e11:
                Date(timeIntervalSinceReferenceDate: seconds).ISO8601Format()
            case .seconds: "unknown"
            }
        }
    }

    /// The backup in the current format. An app keeps its bundle id as its id until it is looked up on this computer.
    func converted() throws -> BackupSettings {
        var groups = (categories ?? []).map { BackupSettings.Group(name: $0.name, apps: $0.appBundleIDs) }
        for app in lockedApps {
            guard let category = app.category, !category.isEmpty else { continue }
            if let index = groups.firstIndex(where: { $0.name == category }) {
                if !groups[index].apps.contains(app.bundleID) { groups[index].apps.append(app.bundleID) }
            } else {
                groups.append(BackupSettings.Group(name: category, apps: [app.bundleID]))
            }
        }
        let apps = try lockedApps.map { app in
            BackupSettings.App(
                id: app.bundleID, name: app.displayName, executables: app.path.map { [$0] } ?? [],
                schedule: try app.schedule.flatMap { try $0.converted() }.map(ScheduleText.print), onGrantEnd: "keep")
        }
        return BackupSettings(
            apps: apps, categories: groups,
            // Limited to its range first, because a number of JSON may not fit into an Int.
            defaultGrantSeconds: settings?.unlockDuration.map { Int(min(3_600, max(30, $0))) })
    }
}

extension EarlierBackup.Plan {
    fileprivate func converted() throws -> Schedule? {
        guard enabled else { return nil }
        let days = activeDays.filter((1...7).contains).compactMap { Weekday(rawValue: $0 == 1 ? 7 : $0 - 1) }
        guard days.count == activeDays.count, 0..<24 ~= startHour, 0..<60 ~= startMinute, 0...24 ~= endHour,
            0..<60 ~= endMinute
        else {
            throw ControlError(.notReadable, "The backup contains a schedule with an invalid day or time.")
        }
        return Schedule(
            mode: .blockInside,
            windows: [
                try Schedule.Window(
                    weekdays: Set(days), start: startHour * 60 + startMinute, end: endHour * 60 + endMinute)
            ])
    }
}
