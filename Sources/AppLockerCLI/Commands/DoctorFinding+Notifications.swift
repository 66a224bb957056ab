import MessageBus

extension DoctorFinding {
    /// Whether somebody shows notifications in the caller's desktop session.
    /// - Parameter address: the session's bus.
    static func ofNotifications(_ address: MessageBus.Address = .session) async -> DoctorFinding {
        let (id, server) = ("notifications", "org.freedesktop.Notifications")
        guard let bus = try? MessageBus(address) else { return notInASession }
        defer { bus.close() }
        do {
            if try await bus.owner(of: server) != nil {
                return DoctorFinding(id, .ok, "This desktop shows notifications.")
            }
            let startable = try await bus.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListActivatableNames",
                timeout: .seconds(5))
            if startable.first?.elements?.contains(where: { $0.text == server }) == true {
                return DoctorFinding(id, .ok, "This desktop starts its notifications when the first one comes.")
            }
            return DoctorFinding(
                id, .weak, "Nothing in this session shows notifications: blocked launches are not told here.",
                advice: "Install and start a notification server, for example dunst.")
        } catch {
            return notInASession
        }
    }

    private static var notInASession: DoctorFinding {
        DoctorFinding(
            "notifications", .unknown, "Notifications can be asked about only inside a desktop session.",
            advice: "Run `applocker doctor` there, as its user.")
    }
}
