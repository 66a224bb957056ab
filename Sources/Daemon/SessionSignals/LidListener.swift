import DBus
import DaemonCore

/// A laptop's lid, as UPower reports it. systemd-logind has the state of the lid too, but reports no change of it.
struct LidListener {
    private static let name = "org.freedesktop.UPower"
    private static let path = "/org/freedesktop/UPower"
    private static let lidIsClosed = "LidIsClosed"

    let bus: DBusConnection
    let signals: AsyncStream<SessionSignal>.Continuation

    /// Listens until the bus is gone. Where UPower is missing or does not answer, it waits until it starts again.
    func serve() async {
        guard let owners = try? await bus.owners(of: Self.name) else { return }
        // The bus starts what it can start.
        _ = try? await bus.call(Self.name, Self.path, "org.freedesktop.DBus.Peer", "Ping")
        try? await follow()
        for await owner in owners where owner != nil { try? await follow() }
    }

    /// Follows UPower until it leaves.
    ///
    /// - Throws: `BusError`.
    private func follow() async throws {
        let changes = try await bus.signals(
            from: Self.name, path: Self.path, interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged", firstArgument: Self.name)
        var wasClosed = try await bus.property(Self.name, Self.path, Self.name, Self.lidIsClosed).bool ?? false
        for await change in changes {
            guard let isClosed = change.arguments.dropFirst().first?.options?[Self.lidIsClosed]?.bool else { continue }
            if isClosed, !wasClosed { signals.yield(.lidClosed) }
            wasClosed = isClosed
        }
    }
}
