import DBus
import Synchronization
import SystemTestSupport

/// The calls of a mock, in order.
final class Calls: Sendable {
    private let list = Mutex<[(member: String, arguments: [BusValue])]>([])

    func add(_ member: String, _ arguments: [BusValue]) { list.withLock { $0.append((member, arguments)) } }

    subscript(_ member: String) -> [[BusValue]] {
        list.withLock { $0.filter { $0.member == member }.map(\.arguments) }
    }

    var members: [String] { list.withLock { $0.map(\.member) } }
}

/// A notification server that shows nothing and records its calls.
final class MockNotifications: Sendable {
    static let name = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    let bus: DBusConnection
    let calls = Calls()

    init(on session: PrivateSessionBus, capabilities: [String]) async throws {
        bus = try session.connect()
        let calls = calls
        let numbers = Atomic<UInt32>(100)
        try await bus.export(
            Self.path,
            [
                BusInterface(
                    Self.name,
                    methods: [
                        "GetCapabilities": .init(returns: "as") { arguments, _ in
                            calls.add("GetCapabilities", arguments)
                            return [.strings(capabilities)]
                        },
                        "Notify": .init(arguments: "susssasa{sv}i", returns: "u") { arguments, _ in
                            calls.add("Notify", arguments)
                            let replaced = UInt32(arguments[1].integer ?? 0)
                            let number =
                                replaced != 0
                                ? replaced : numbers.add(1, ordering: .relaxed).newValue
                            return [.uint32(number)]
                        },
                        "CloseNotification": .init(arguments: "u") { arguments, _ in
                            calls.add("CloseNotification", arguments)
                            return []
                        },
                    ])
            ])
        try await bus.own(Self.name)
    }

    func invoke(_ number: UInt32, _ action: String) async throws {
        try await bus.emit(Self.path, Self.name, "ActionInvoked", [.uint32(number), .string(action)])
    }

    var summaries: [String] { calls["Notify"].compactMap { $0[3].text } }
}
