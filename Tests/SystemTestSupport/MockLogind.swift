public import DBus
import Foundation
import TestSupport
import Testing

/// A private system bus with python-dbusmock's logind and UPower.
public final class MockLogind: Sendable {
    public let address: String
    public let daemon: ChildProcess
    private let bus: DBusConnection
    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let mock = "org.freedesktop.DBus.Mock"
    private static let manager = "org.freedesktop.login1.Manager"

    public init() async throws {
        (daemon, address) = try await Self.startBus(nil)
        bus = try DBusConnection(.address(address))
    }

    public init(daemon: ChildProcess, address: String) throws {
        (self.daemon, self.address) = (daemon, address)
        bus = try DBusConnection(.address(address))
    }

    /// - Parameter path: of its socket; nil: the bus chooses one.
    public static func startBus(_ path: String?) async throws -> (ChildProcess, String) {
        let daemon = try ChildProcess(
            "dbus-daemon",
            ["--session", "--print-address", "--nofork"] + (path.map { ["--address=unix:path=\($0)"] } ?? []))
        await eventually("dbus-daemon listens: \(daemon.stateDescription)") { daemon.output.contains("\n") }
        return (daemon, daemon.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Starts logind; it ends with the returned process.
    public func start() async throws -> ChildProcess { try await start("logind", Self.name) }

    /// Starts UPower; it ends with the returned process.
    public func startUPower(lidIsClosed: Bool = false) async throws -> ChildProcess {
        let parameters = #"{"LidIsClosed": \#(lidIsClosed)}"#
        return try await start("upower", "org.freedesktop.UPower", ["--parameters", parameters])
    }

    private func start(_ template: String, _ name: String, _ options: [String] = []) async throws -> ChildProcess {
        let service = try ChildProcess(
            "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", template] + options,
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": address, "PATH": "/usr/bin:/bin"])
        await eventually("\(name) is on the bus: \(service.stateDescription)") {
            try await self.bus.owner(of: name) != nil
        }
        return service
    }

    /// Closes or opens the lid, for UPower.
    public func setLid(isClosed: Bool) async throws {
        let (name, path) = ("org.freedesktop.UPower", "/org/freedesktop/UPower")
        try await bus.call(
            name, path, Self.mock, "UpdateProperties",
            [.string(name), .options(["LidIsClosed": .bool(isClosed)])])
    }

    public func emit(_ member: String, _ signature: String, _ arguments: [BusValue]) async throws {
        try await bus.call(
            Self.name, Self.path, Self.mock, "EmitSignal",
            [
                .string(Self.manager), .string(member), .string(signature),
                .array(of: "v", arguments.map { .variant($0) }),
            ])
    }

    public func prepareForSleep(_ begins: Bool) async throws { try await emit("PrepareForSleep", "b", [.bool(begins)]) }

    public func addSession(_ id: String, user: UInt32, seat: String = "seat0") async throws -> String {
        let answer = try await bus.call(
            Self.name, Self.path, Self.mock, "AddSession",
            [.string(id), .string(seat), .uint32(user), .string("user\(user)"), .bool(true)])
        let path = answer.first?.text ?? ""
        try await emit("SessionNew", "so", [.string(id), .objectPath(path)])
        return path
    }

    public func removeSession(_ id: String) async throws {
        try await emit(
            "SessionRemoved", "so", [.string(id), .objectPath("/org/freedesktop/login1/session/\(id)")])
    }

    public func update(_ path: String, _ interface: String, _ properties: [String: BusValue]) async throws {
        try await bus.call(
            Self.name, path, Self.mock, "UpdateProperties",
            [.string("org.freedesktop.login1.\(interface)"), .options(properties)])
    }

    /// For structures, which the mock's own `UpdateProperties` doesn't accept.
    public func set(_ path: String, _ interface: String, _ name: String, _ value: BusValue) async throws {
        try await bus.call(
            Self.name, path, "org.freedesktop.DBus.Properties", "Set",
            [.string("org.freedesktop.login1.\(interface)"), .string(name), .variant(value)])
    }

    public func call(_ path: String, _ interface: String, _ member: String) async throws {
        try await bus.call(Self.name, path, "org.freedesktop.login1.\(interface)", member)
    }

    /// What, who, why and mode of each inhibitor that is held.
    public func inhibitors() async throws -> [[String]] {
        try await bus.call(Self.name, Self.path, Self.manager, "ListInhibitors").first?.elements?
            .map { ($0.elements ?? []).prefix(4).map { $0.text ?? "" } } ?? []
    }
}
