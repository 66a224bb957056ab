import ControlAPI
import Foundation

extension IntruderReport {
    /// "2026-01-31 14:05:09: 3 wrong passcodes for firefox-esr, by alice".
    var caption: String {
        let target = app.map { " for \($0)" } ?? ""
        let person = user.map { ", by \(Self.userName($0))" } ?? ""
        return "\(TimeText.local(time)): \(counted(failures, "wrong passcode"))\(target)\(person)"
    }

    /// The account of the session, which does not identify the person.
    static func userName(_ user: UInt32) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "user \(user)"
    }

    var sizeText: String {
        size < 1024 ? "\(size) B" : size < 1 << 20 ? "\(size >> 10) KiB" : "\(size >> 20) MiB"
    }
}

/// The existing photos, and their names for users.
struct ListedIntruders {
    let reports: [IntruderReport]

    init(_ list: IntruderList) { reports = list.intruders }

    /// The photo of an id or of the beginning of one; the newest for nil.
    ///
    /// - Throws: `CommandLineError` if there is none, or more than one.
    func one(_ reference: String?) throws -> IntruderReport {
        guard let reference else {
            guard let newest = reports.max(by: { $0.time < $1.time }) else {
                throw CommandLineError(.noSuchApp, code: "no_such_item", "There are no intruder photos.")
            }
            return newest
        }
        let found = reports.filter { !reference.isEmpty && $0.id.hasPrefix(reference.lowercased()) }
        if found.count > 1 {
            throw CommandLineError(
                .noSuchApp, code: "ambiguous",
                "\(found.count) photos' ids begin with \(reference); use more digits (`applocker intruders list`).")
        }
        guard let one = found.first else {
            throw CommandLineError(
                .noSuchApp, code: "no_such_item",
                "There is no intruder photo \(reference); `applocker intruders list` lists them.")
        }
        return one
    }

    func lines(_ paint: Paint) -> [String] {
        guard !reports.isEmpty else { return ["There are no intruder photos."] }
        var table = Table(["ID", "TIME", "APP", "USER", "WRONG", "SIZE"])
        let length = shownIDLength(reports.map(\.id))
        for report in reports {
            table.add([
                String(report.id.prefix(length)), TimeText.local(report.time), report.app ?? "-",
                report.user.map { IntruderReport.userName($0) } ?? "-", String(report.failures), report.sizeText,
            ])
        }
        return table.lines(paint)
    }
}
