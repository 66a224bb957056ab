import MessageBus

/// The desktop's notifications (Desktop Notifications Specification 1.2, `org.freedesktop.Notifications`). One thing at a
/// time, in the order in which it was asked for: a bubble is never withdrawn before it is there.
actor NotificationServer {
    static let name = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    /// For an answer, which takes a moment where the bus has to start the server first.
    private static let patience: Duration = .seconds(10)

    private let bus: MessageBus
    /// What this session can do when a button is pressed.
    private let offered: Set<Bubble.Action>
    /// The icon's name as this desktop can find it.
    private let icon: @Sendable (String) -> String
    /// What the server that owns the name now can do; nil until it was asked.
    private var abilities: BubbleAbilities?
    /// Bubbles that may still be on the screen: key → the server's number.
    private var numbers: [String: UInt32] = [:]
    private var last: Task<Void, Never>?

    init(
        _ bus: MessageBus, offered: Set<Bubble.Action>, icon: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.bus = bus
        self.offered = offered
        self.icon = icon
    }

    /// Shows it in place of the earlier one with its key. Where no server runs, the bus starts the desktop's; where there
    /// is none at all, nothing is shown. Returns at once: a server that hangs holds nobody up.
    func show(_ bubble: Bubble) { inOrder { await self.send(bubble) } }

    func withdraw(_ key: String) { inOrder { await self.close(key) } }

    /// Returns when everything that was asked for has been done.
    func settled() async { await last?.value }

    private func inOrder(_ work: @escaping @Sendable () async -> Void) {
        let before = last
        last = Task {
            await before?.value
            await work()
        }
    }

    private func send(_ bubble: Bubble) async {
        do {
            let abilities = try await currentAbilities()
            let (summary, body) = abilities.texts(of: bubble)
            let hints: [String: BusValue] = [
                "urgency": .byte(bubble.urgency.rawValue), "desktop-entry": .string("applocker"),
                "category": .string("device"),
            ]
            // -1 leaves the time to the server.
            let milliseconds = bubble.shown.map { Int32(clamping: Int64($0 / .milliseconds(1))) } ?? -1
            let answer = try await bus.call(
                Self.name, Self.path, Self.name, "Notify",
                [
                    .string("AppLocker"), .uint32(numbers[bubble.key] ?? 0), .string(icon(bubble.icon)),
                    .string(summary),
                    .string(body), .strings(abilities.actions(of: bubble, offered: offered)), .options(hints),
                    .int32(milliseconds),
                ], timeout: Self.patience)
            numbers[bubble.key] = answer.first?.integer.flatMap { UInt32(exactly: $0) }
        } catch {
            // Nobody shows anything here, or not now: what happened is in the log all the same.
            abilities = nil
            numbers[bubble.key] = nil
        }
    }

    private func close(_ key: String) async {
        guard let number = numbers.removeValue(forKey: key) else { return }
        // A server answers with an error where the bubble is gone already.
        _ = try? await bus.call(
            Self.name, Self.path, Self.name, "CloseNotification", [.uint32(number)], timeout: Self.patience)
    }

    private func currentAbilities() async throws -> BubbleAbilities {
        if let abilities { return abilities }
        let answer = try await bus.call(Self.name, Self.path, Self.name, "GetCapabilities", timeout: Self.patience)
        let names = answer.first?.elements?.compactMap(\.text) ?? []
        let abilities = BubbleAbilities(capabilities: names)
        self.abilities = abilities
        return abilities
    }

    /// Tells which buttons are pressed, until the connection ends.
    ///
    /// - Throws: `BusError` where the bus is gone.
    func serve(_ pressed: @escaping @Sendable (Bubble.Action) async -> Void) async throws {
        // From whichever server: one may replace another. Who sent it is compared with the name's owner.
        let signals = try await bus.signals(path: Self.path, interface: Self.name)
        let owners = try await bus.owners(of: Self.name)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in owners { await self.forgetServer() } }
            group.addTask {
                for await signal in signals {
                    if let action = try await self.take(signal) { await pressed(action) }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Another server knows nothing of the bubbles of the one before.
    private func forgetServer() {
        abilities = nil
        numbers = [:]
    }

    private func take(_ signal: BusSignal) async throws -> Bubble.Action? {
        guard let number = signal.arguments.first?.integer, let key = numbers.first(where: { $0.value == number })?.key,
            try await bus.owner(of: Self.name) == signal.sender
        else { return nil }
        switch signal.member {
        case "NotificationClosed":
            numbers[key] = nil
            return nil
        case "ActionInvoked" where signal.arguments.count == 2:
            return signal.arguments[1].text.flatMap(Bubble.Action.init(rawValue:))
        default: return nil
        }
    }
}
