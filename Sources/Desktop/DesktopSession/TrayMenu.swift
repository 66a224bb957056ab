import DBus

/// A menu of one level as `com.canonical.dbusmenu` (version 3) describes it. Entry 0 is the menu itself; the others are
/// numbered by their position.
struct TrayMenu: Equatable, Sendable {
    static let path = "/StatusNotifierItem/Menu"
    static let interface = "com.canonical.dbusmenu"

    var entries: [TrayState.Entry]
    var revision: UInt32

    /// - Parameter names: the requested properties; empty for all.
    func properties(of number: Int32, names: [String]) -> [String: BusValue]? {
        var all: [String: BusValue] = [:]
        if number == 0 {
            all["children-display"] = .string("submenu")
        } else {
            guard let entry = entry(number) else { return nil }
            if entry.kind == .separator { all["type"] = .string("separator") }
            // A single underscore would mark the entry's access key.
            if !entry.label.isEmpty {
                all["label"] = .string(
                    entry.label.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__"))
            }
            all["enabled"] = .bool(entry.isEnabled)
            all["visible"] = .bool(true)
        }
        return names.isEmpty ? all : all.filter { names.contains($0.key) }
    }

    func entry(_ number: Int32) -> TrayState.Entry? {
        entries.indices.contains(Int(number) - 1) ? entries[Int(number) - 1] : nil
    }

    /// `(ia{sv}av)`: the entry, its properties, its children.
    ///
    /// - Parameter depth: how many levels of children; -1 for all.
    func layout(of number: Int32, depth: Int32, names: [String]) -> BusValue? {
        guard let properties = properties(of: number, names: names) else { return nil }
        let children: [BusValue] =
            number == 0 && depth != 0
            ? entries.indices.compactMap { layout(of: Int32($0) + 1, depth: 0, names: names) }.map { .variant($0) } : []
        return .structure([.int32(number), .options(properties), .array(of: "v", children)])
    }

    /// The command of an event; nil if the entry can't be chosen now.
    func command(_ number: Int32, event: String) -> TrayState.Command? {
        guard event == "clicked", let entry = entry(number), entry.isEnabled, case .command(let command) = entry.kind
        else { return nil }
        return command
    }
}

extension TrayMenu {
    /// The object from which desktops read the menu.
    ///
    /// - Parameter menu: returns the current menu.
    static func interface(
        menu: @escaping @Sendable () -> TrayMenu, chosen: @escaping @Sendable (TrayState.Command) -> Void
    ) -> BusInterface {
        @Sendable func handle(_ arguments: [BusValue]) -> Bool {
            guard let number = number(arguments[0]), menu().entry(number) != nil || number == 0 else { return false }
            if let command = menu().command(number, event: arguments[1].text ?? "") { chosen(command) }
            return true
        }
        return BusInterface(
            interface,
            methods: [
                "GetLayout": .init(arguments: "iias", returns: "u(ia{sv}av)") { arguments, _ in
                    let menu = menu()
                    guard let parent = number(arguments[0]), let depth = number(arguments[1]),
                        let layout = menu.layout(of: parent, depth: depth, names: texts(arguments[2]))
                    else { throw unknown }
                    return [.uint32(menu.revision), layout]
                },
                "GetGroupProperties": .init(arguments: "aias", returns: "a(ia{sv})") { arguments, _ in
                    let menu = menu()
                    let asked = (arguments[0].elements ?? []).compactMap(number)
                    let numbers = asked.isEmpty ? (0...menu.entries.count).map(Int32.init) : asked
                    let found = numbers.compactMap { number in
                        menu.properties(of: number, names: texts(arguments[1])).map {
                            BusValue.structure([.int32(number), .options($0)])
                        }
                    }
                    return [.array(of: "(ia{sv})", found)]
                },
                "GetProperty": .init(arguments: "is", returns: "v") { arguments, _ in
                    guard let number = number(arguments[0]), let name = arguments[1].text,
                        let value = menu().properties(of: number, names: [name])?[name]
                    else { throw unknown }
                    return [.variant(value)]
                },
                "Event": .init(arguments: "isvu") { arguments, _ in
                    guard handle(arguments) else { throw unknown }
                    return []
                },
                "EventGroup": .init(arguments: "a(isvu)", returns: "ai") { arguments, _ in
                    let events = (arguments[0].elements ?? []).compactMap(\.elements)
                    return [.array(of: "i", events.filter { !handle($0) }.map { $0[0] })]
                },
                "AboutToShow": .init(arguments: "i", returns: "b") { _, _ in [.bool(false)] },
                "AboutToShowGroup": .init(arguments: "ai", returns: "aiai") { _, _ in
                    [.array(of: "i", []), .array(of: "i", [])]
                },
            ],
            properties: [
                "Version": .init("u") { .uint32(3) },
                "TextDirection": .init("s") { .string("ltr") },
                "Status": .init("s") { .string("normal") },
                "IconThemePath": .init("as") { .strings([]) },
            ],
            signals: ["LayoutUpdated": "ui", "ItemsPropertiesUpdated": "a(ia{sv})a(ias)"])
    }

    private static func number(_ value: BusValue) -> Int32? { value.integer.flatMap { Int32(exactly: $0) } }

    private static func texts(_ value: BusValue) -> [String] { value.elements?.compactMap(\.text) ?? [] }

    private static let unknown = BusError(
        .refused, name: "org.freedesktop.DBus.Error.InvalidArgs", "There is no such menu entry or property.")
}
