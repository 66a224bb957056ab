import DBus

extension DoctorFinding {
    /// Whether the caller's desktop session has a notification server.
    /// - Parameter address: the session's bus.
    static func ofNotifications(_ address: DBusConnection.Address = .session) async -> DoctorFinding {
        let (id, server) = ("notifications", "org.freedesktop.Notifications")
        guard let bus = try? DBusConnection(address) else { return notInASession }
        defer { bus.close() }
        do {
            if try await bus.owner(of: server) != nil {
                return DoctorFinding(id, .ok, "This desktop shows notifications.")
            }
            let startable = try await bus.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListActivatableNames",
                timeout: .seconds(5))
            if startable.first?.elements?.contains(where: { $0.text == server }) == true {
                return DoctorFinding(
                    id, .ok, "This desktop starts its notification server with the first notification.")
            }
            return DoctorFinding(
                id, .weak, "No program in this session shows notifications: blocked launches are not shown here.",
                advice: "Install and start a notification server, for example dunst.")
        } catch {
            return notInASession
        }
    }

    private static var notInASession: DoctorFinding {
        DoctorFinding(
            "notifications", .unknown, "Notifications can be tested only inside a desktop session.",
            advice: "Run `applocker doctor` there, as its user.")
    }
}
