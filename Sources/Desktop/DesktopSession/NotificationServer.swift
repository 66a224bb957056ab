import DBus

/// The desktop's notifications (Desktop Notifications Specification 1.2, `org.freedesktop.Notifications`). Requests are
/// sent one by one in their order, so a notification is never withdrawn before it is shown.
actor NotificationServer {
    static let name = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    /// The time limit of a reply, which takes longer if the bus has to start the server first.
    private static let patience: Duration = .seconds(10)

    private let bus: DBusConnection
    /// The actions that this session supports.
    private let offered: Set<DesktopNotification.Action>
    /// Returns the icon's name in the form that this desktop can find.
    private let icon: @Sendable (String) -> String
    /// The capabilities of the current server; nil until it was queried.
    private var abilities: DesktopNotificationAbilities?
    /// Notifications that may still be on the screen: key → the server's number.
    private var numbers: [String: UInt32] = [:]
    /// How many servers there were. A reply that arrives after a change is of a server that is gone, or may be.
    private var server = 0
    private var last: Task<Void, Never>?

    init(
        _ bus: DBusConnection, offered: Set<DesktopNotification.Action>,
        icon: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.bus = bus
        self.offered = offered
        self.icon = icon
    }

    /// Replaces the earlier notification with its key. The bus starts the desktop's server if necessary; without any,
    /// nothing is shown. Returns at once, so a server that hangs delays nothing.
    func show(_ notification: DesktopNotification) { inOrder { await self.send(notification) } }

    func withdraw(_ key: String) { inOrder { await self.close(key) } }

    /// Returns when all earlier requests are done.
    func settled() async { await last?.value }

    private func inOrder(_ work: @escaping @Sendable () async -> Void) {
        let before = last
        last = Task {
            await before?.value
            await work()
        }
    }

    private func send(_ notification: DesktopNotification) async {
        do {
            let abilities = try await currentAbilities()
            let server = server
            let (summary, body) = abilities.texts(of: notification)
            let hints: [String: BusValue] = [
                "urgency": .byte(notification.urgency.rawValue), "desktop-entry": .string("org.applocker.AppLocker"),
                "category": .string("device"),
            ]
            // -1: the server decides.
            let milliseconds = notification.shown.map { Int32(clamping: Int64($0 / .milliseconds(1))) } ?? -1
            let answer = try await bus.call(
                Self.name, Self.path, Self.name, "Notify",
                [
                    .string("AppLocker"), .uint32(numbers[notification.key] ?? 0), .string(icon(notification.icon)),
                    .string(summary),
                    .string(body), .strings(abilities.actions(of: notification, offered: offered)), .options(hints),
                    .int32(milliseconds),
                ], timeout: Self.patience)
            guard server == self.server else { return }
            numbers[notification.key] = answer.first?.integer.flatMap { UInt32(exactly: $0) }
        } catch {
            // No server is available; the activity log has the event in any case.
            abilities = nil
            numbers[notification.key] = nil
        }
    }

    private func close(_ key: String) async {
        guard let number = numbers.removeValue(forKey: key) else { return }
        // A server returns an error if the notification is already closed.
        _ = try? await bus.call(
            Self.name, Self.path, Self.name, "CloseNotification", [.uint32(number)], timeout: Self.patience)
    }

    private func currentAbilities() async throws -> DesktopNotificationAbilities {
        if let abilities { return abilities }
        let server = server
        let answer = try await bus.call(Self.name, Self.path, Self.name, "GetCapabilities", timeout: Self.patience)
        let names = answer.first?.elements?.compactMap(\.text) ?? []
        let abilities = DesktopNotificationAbilities(capabilities: names)
        if server == self.server { self.abilities = abilities }
        return abilities
    }

    /// What the servers send from now on; nothing of it is lost before `serve` reads it.
    struct Subscription: Sendable {
        fileprivate let signals: AsyncStream<BusSignal>
        fileprivate let owners: AsyncStream<String?>
    }

    /// Subscribes to the buttons. To be called before `show`: a button can be pressed as soon as it is shown.
    ///
    /// - Throws: `BusError` if the bus is gone.
    func subscribe() async throws -> Subscription {
        // Signals of any server, because one may replace another. The sender is compared with the name's owner.
        let signals = try await bus.signals(path: Self.path, interface: Self.name)
        return Subscription(signals: signals, owners: try await bus.owners(of: Self.name))
    }

    /// Reports which buttons are pressed, and of which notification, until the connection ends.
    ///
    /// - Throws: `BusError` if the bus is gone.
    func serve(
        _ subscription: Subscription,
        _ pressed: @escaping @Sendable (DesktopNotification.Action, _ key: String) async -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in subscription.owners { await self.forgetServer() } }
            group.addTask {
                for await signal in subscription.signals {
                    if let (action, key) = try await self.handle(signal) { await pressed(action, key) }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// A new server doesn't have the notifications of the previous one.
    private func forgetServer() {
        server += 1
        abilities = nil
        numbers = [:]
    }

    /// The notification with this number. One that was just shown has its number once the server's reply was processed.
    private func key(of number: Int64) async -> String? {
        func known() -> String? { numbers.first { $0.value == number }?.key }
        if let key = known() { return key }
        await settled()
        return known()
    }

    private func handle(_ signal: BusSignal) async throws -> (DesktopNotification.Action, key: String)? {
        guard let number = signal.arguments.first?.integer, let key = await key(of: number),
            try await bus.owner(of: Self.name) == signal.sender
        else { return nil }
        switch signal.member {
        case "NotificationClosed":
            numbers[key] = nil
            return nil
        case "ActionInvoked" where signal.arguments.count == 2:
            return signal.arguments[1].text.flatMap(DesktopNotification.Action.init(rawValue:)).map { ($0, key) }
        default: return nil
        }
    }
}
