import DBus
import Foundation

/// Services of the desktop and of the system that AppLocker uses.
extension DoctorFinding {
    /// Whether the caller's desktop session has a notification server.
    /// - Parameter address: the session's bus.
    static func ofNotifications(_ address: DBusConnection.Address = .session) async -> DoctorFinding {
        let id = "notifications"
        switch await availability(of: "org.freedesktop.Notifications", on: address) {
        case .running: return DoctorFinding(id, .ok, "This desktop shows notifications.")
        case .startable:
            return DoctorFinding(
                id, .ok, "This desktop starts its notification server with the first notification.")
        case .missing:
            return DoctorFinding(
                id, .weak, "No program in this session shows notifications: blocked launches are not shown here.",
                advice: "Install and start a notification server, for example dunst.")
        case nil:
            return DoctorFinding(
                id, .unknown, "Notifications can be tested only inside a desktop session.",
                advice: "Run `applocker doctor` there, as its user.")
        }
    }

    /// Whether the daemon notices that the lid closes; nil for a computer without a lid.
    /// - Parameters:
    ///   - address: the system's bus.
    ///   - lids: the folder in which Linux has one entry for each lid.
    static func ofLid(
        _ address: DBusConnection.Address = .system, lids: String = "/proc/acpi/button/lid"
    ) async -> DoctorFinding? {
        guard let lid = try? FileManager.default.contentsOfDirectory(atPath: lids), !lid.isEmpty else { return nil }
        switch await availability(of: "org.freedesktop.UPower", on: address) {
        case .running, .startable: return DoctorFinding("lid", .ok, "UPower reports when the lid closes.")
        case .missing:
            return DoctorFinding(
                "lid", .weak,
                "UPower is missing: a lid that closes locks nothing, unless the computer is suspended as well.",
                advice: "Install upower, and restart AppLocker.")
        case nil: return DoctorFinding("lid", .unknown, "The system's message bus does not answer.")
        }
    }

    private enum Availability {
        case running
        /// The bus starts it when it is used.
        case startable
        case missing
    }

    /// Nil if the bus does not answer.
    private static func availability(of name: String, on address: DBusConnection.Address) async -> Availability? {
        guard let bus = try? DBusConnection(address) else { return nil }
        defer { bus.close() }
        do {
            if try await bus.owner(of: name) != nil { return .running }
            let startable = try await bus.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListActivatableNames",
                timeout: .seconds(5))
            return startable.first?.elements?.contains { $0.text == name } == true ? .startable : .missing
        } catch {
            return nil
        }
    }
}
