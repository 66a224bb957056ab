import ControlAPI
import DBus
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

/// A StatusNotifierWatcher that records registrations.
final class MockWatcher: Sendable {
    let bus: DBusConnection
    let calls = Calls()

    init(on session: PrivateSessionBus) async throws {
        bus = try session.connect()
        let calls = calls
        try await bus.export(
            "/StatusNotifierWatcher",
            [
                BusInterface(
                    TrayItem.watcher,
                    methods: [
                        "RegisterStatusNotifierItem": .init(arguments: "s") { arguments, _ in
                            calls.add("Register", arguments)
                            return []
                        }
                    ])
            ])
        try await bus.own(TrayItem.watcher)
    }

    var registered: [String] { calls["Register"].compactMap { $0[0].text } }
}

@Suite(.requires(.program("dbus-daemon"))) struct TrayItemTests {
    private let means = TrayState.Means(canUnlock: true)

    private func tray(_ session: PrivateSessionBus) throws -> (TrayItem, Task<Void, any Error>) {
        let tray = TrayItem(try session.connect(), state: TrayState(nil, means: means), iconDirectory: "/icons")
        return (tray, Task { try await tray.serve() })
    }

    @Test func itRegistersAgainWithTheNextWatcher() async throws {
        let session = try await PrivateSessionBus()
        let (_, serving) = try tray(session)
        defer { serving.cancel() }
        var first: MockWatcher? = try await MockWatcher(on: session)
        await eventually("it registers") { first?.registered.isEmpty == false }
        first?.bus.close()
        first = nil
        // The bus releases the name once it has detected the end of the connection.
        var second: MockWatcher?
        await eventually("the name is free") {
            second = try await MockWatcher(on: session)
            return true
        }
        await eventually("it registers again") { second?.registered.isEmpty == false }
    }

    @Test func theHostReadsIconTooltipAndMenu() async throws {
        let session = try await PrivateSessionBus()
        let watcher = try await MockWatcher(on: session)
        let (tray, serving) = try tray(session)
        defer { serving.cancel() }
        await eventually("it registers") { !watcher.registered.isEmpty }
        let name = try #require(watcher.registered.first)
        let host = watcher.bus
        var item = try await host.properties(name, TrayItem.path, TrayItem.interface)
        #expect(item["IconName"]?.text == "applocker-degraded-symbolic" && item["Status"]?.text == "NeedsAttention")
        #expect(item["ItemIsMenu"]?.bool == true && item["IconThemePath"]?.text == "/icons")
        let menuPath = try #require(item["Menu"]?.text)
        let signals = try await host.signals(from: name)
        await tray.show(TrayState(.sample(.unlocked, unlockedApps: 2), means: means))
        var members: [String] = []
        for await signal in signals {
            members.append(signal.member)
            if signal.member == "LayoutUpdated" { break }
        }
        #expect(members == ["NewIcon", "NewTitle", "NewToolTip", "NewStatus", "LayoutUpdated"])
        item = try await host.properties(name, TrayItem.path, TrayItem.interface)
        #expect(item["IconName"]?.text == "applocker-unlocked-symbolic" && item["Status"]?.text == "Active")
        #expect(item["ToolTip"]?.elements?[2].text == "AppLocker: Apps are unlocked")
        #expect(item["ToolTip"]?.elements?[3].text == "2 apps are unlocked.")
        let layout = try await host.call(
            name, menuPath, TrayMenu.interface, "GetLayout", [.int32(0), .int32(-1), .strings([])])
        #expect(layout[0].integer == 2, "the revision")
        let labels = layout[1].elements?[2].elements?.map { $0.elements?[1].options?["label"]?.text ?? "" }
        #expect(
            labels == [
                "Apps are unlocked", "", "Lock all", "Unlock…", "",
                "Close this icon (protection continues)",
            ])
    }

    @Test func choosingAnEntryIsACommandAndClosingRemovesTheIcon() async throws {
        let session = try await PrivateSessionBus()
        let watcher = try await MockWatcher(on: session)
        let (tray, serving) = try tray(session)
        await tray.show(TrayState(.sample(.unlocked), means: .init(canOpen: true)))
        await eventually("it registers") { !watcher.registered.isEmpty }
        let name = try #require(watcher.registered.first)
        let chosen = Mutex<[TrayState.Command]>([])
        let reading = Task { for await command in tray.chosen { chosen.withLock { $0.append(command) } } }
        func click(_ entry: Int32) async throws {
            try await watcher.bus.call(
                name, TrayMenu.path, TrayMenu.interface, "Event",
                [.int32(entry), .string("clicked"), .variant(.int32(0)), .uint32(0)])
        }
        try await click(3)
        try await click(4)
        try await click(5)  // "Unlock…", which is disabled.
        try await click(7)
        await #expect(throws: BusError.self) { try await click(99) }
        // A tray that has no menus.
        try await watcher.bus.call(name, TrayItem.path, TrayItem.interface, "Activate", [.int32(0), .int32(0)])
        await eventually("four commands") { chosen.withLock { $0.count } == 4 }
        #expect(chosen.withLock { $0 } == [.open, .lockAll, .closeIcon, .open])
        tray.close()
        _ = try? await serving.value
        await reading.value
        await eventually("the icon is removed") { try await watcher.bus.owner(of: name) == nil }
    }
}
