import ControlAPI
import DBus
import Synchronization

/// The icon in the desktop's tray: `org.kde.StatusNotifierItem` with a `com.canonical.dbusmenu` menu, on a connection
/// of its own. Closing the connection removes the icon.
final class TrayItem: Sendable {
    static let path = "/StatusNotifierItem"
    static let interface = "org.kde.StatusNotifierItem"
    static let watcher = "org.kde.StatusNotifierWatcher"

    private let bus: DBusConnection
    private let iconDirectory: String
    /// Returns the icon's name in the form that this desktop can find.
    private let icon: @Sendable (String) -> String
    private let state: Mutex<(TrayState, revision: UInt32)>
    private let commands: AsyncStream<TrayState.Command>.Continuation

    let chosen: AsyncStream<TrayState.Command>

    /// - Parameters:
    ///   - bus: not used for anything else.
    ///   - iconDirectory: the directory of icons that the desktop's theme doesn't have; may be empty.
    init(
        _ bus: DBusConnection, state: TrayState, iconDirectory: String,
        icon: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.bus = bus
        self.icon = icon
        self.iconDirectory = iconDirectory
        self.state = Mutex((state, revision: 1))
        (chosen, commands) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4))
    }

    var menu: TrayMenu { state.withLock { TrayMenu(entries: $0.0.entries, revision: $0.revision) } }
    private var shown: TrayState { state.withLock { $0.0 } }

    /// Registers the icon with every tray that appears, until the connection ends or the task is cancelled.
    ///
    /// - Throws: `BusError`.
    func serve() async throws {
        try await bus.export(Self.path, [item()])
        try await bus.export(TrayMenu.path, [menuInterface()])
        let watchers = try await bus.owners(of: Self.watcher)
        if try await bus.owner(of: Self.watcher) != nil { await register() }
        for await owner in watchers where owner != nil { await register() }
    }

    /// Removes the icon.
    func close() {
        commands.finish()
        bus.close()
    }

    private func register() async {
        // If the watcher refuses now, the icon is registered again when the watcher is replaced.
        _ = try? await bus.call(
            Self.watcher, "/StatusNotifierWatcher", Self.watcher, "RegisterStatusNotifierItem",
            [.string((try? await bus.uniqueName()) ?? Self.path)])
    }

    func show(_ new: TrayState) async {
        let (changed, entriesChanged, revision) = state.withLock { held in
            let old = held.0
            guard old != new else { return (false, false, held.revision) }
            let entriesChanged = old.entries != new.entries
            held = (new, revision: held.revision &+ (entriesChanged ? 1 : 0))
            return (true, entriesChanged, held.revision)
        }
        guard changed else { return }
        for signal in ["NewIcon", "NewTitle", "NewToolTip"] { try? await bus.emit(Self.path, Self.interface, signal) }
        try? await bus.emit(Self.path, Self.interface, "NewStatus", [.string(Self.status(new))])
        if entriesChanged {
            try? await bus.emit(
                TrayMenu.path, TrayMenu.interface, "LayoutUpdated", [.uint32(revision), .int32(0)])
        }
    }

    /// Trays make an icon that needs attention visible.
    private static func status(_ state: TrayState) -> String {
        state.protection == .degraded ? "NeedsAttention" : "Active"
    }

    private func item() -> BusInterface {
        let noPicture = BusValue.array(of: "(iiay)", [])
        func property(_ type: String, _ value: @escaping @Sendable (TrayState) -> BusValue) -> BusInterface.Property {
            .init(type) { [weak self] in self.map { value($0.shown) } ?? .string("") }
        }
        let directory = iconDirectory
        let icon = icon
        let nothing = BusInterface.Method(arguments: "ii") { _, _ in [] }
        // Of trays that don't show the menu instead.
        let open = BusInterface.Method(arguments: "ii") { [weak self] _, _ in
            if let self, shown.entries.contains(where: { $0.kind == .command(.open) }) { commands.yield(.open) }
            return []
        }
        return BusInterface(
            Self.interface,
            methods: [
                "Activate": open, "SecondaryActivate": open, "ContextMenu": nothing,
                "Scroll": .init(arguments: "is") { _, _ in [] },
            ],
            properties: [
                "Category": property("s") { _ in .string("SystemServices") },
                "Id": property("s") { _ in .string("applocker") },
                "Title": property("s") { _ in .string("AppLocker") },
                "Status": property("s") { .string(Self.status($0)) },
                "WindowId": property("i") { _ in .int32(0) },
                "IconThemePath": property("s") { _ in .string(directory) },
                "IconName": property("s") { .string(icon($0.protection.icon)) },
                "IconPixmap": property("a(iiay)") { _ in noPicture },
                "AttentionIconName": property("s") { .string(icon($0.protection.icon)) },
                "AttentionIconPixmap": property("a(iiay)") { _ in noPicture },
                "AttentionMovieName": property("s") { _ in .string("") },
                "OverlayIconName": property("s") { _ in .string("") },
                "OverlayIconPixmap": property("a(iiay)") { _ in noPicture },
                "ToolTip": property("(sa(iiay)ss)") { state in
                    .structure([
                        .string(state.protection.icon), noPicture, .string("AppLocker: \(state.title)"),
                        // Trays may interpret markup here.
                        .string(ShownLine.escaped(state.detail)),
                    ])
                },
                "ItemIsMenu": property("b") { _ in .bool(true) },
                "Menu": property("o") { _ in .objectPath(TrayMenu.path) },
            ],
            signals: [
                "NewIcon": "", "NewTitle": "", "NewToolTip": "", "NewAttentionIcon": "", "NewOverlayIcon": "",
                "NewStatus": "s",
            ])
    }

    private func menuInterface() -> BusInterface {
        TrayMenu.interface(
            menu: { [weak self] in self?.menu ?? TrayMenu(entries: [], revision: 0) },
            chosen: { [commands] in commands.yield($0) })
    }
}
