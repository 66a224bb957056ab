import CGtk4
import DesktopModels
import GtkSupport

/// The events of the activity log, of which only those near the visible part have widgets.
@MainActor
final class EventList {
    private static let template = Template("event-row", of: gtk_box_get_type())

    private let head: Widget
    /// The numbers of the events, which GTK observes. The first entry is the head's.
    private let numbers = gtk_string_list_new(nil)!
    private var events: [ActivityItem] = []
    /// The row of each of GTK's list items, which shows one event after another.
    private var rows: [OpaquePointer: Screen] = [:]

    /// - Parameters:
    ///   - list: a GtkListView.
    ///   - head: scrolls with the events, above them.
    init(_ list: Widget, head: Widget) {
        self.head = head
        // It is in no window while it is scrolled away.
        g_object_ref_sink(head.raw)
        gtk_string_list_append(numbers, "")
        let factory = gtk_signal_list_item_factory_new()!
        // Weak: the list unbinds its items when it ends, which may be later.
        Signals.connectItem(factory, "bind") { [weak self] in self?.fill($0) }
        Signals.connectItem(factory, "unbind") {
            if gtk_list_item_get_child($0) == head { gtk_list_item_set_child($0, nil) }
        }
        Signals.connectItem(factory, "teardown") { [weak self] in self?.rows[$0] = nil }
        // An event has the focus, so that the keys scroll and a screen reader reads it; nothing is selected.
        g_object_ref(UnsafeMutableRawPointer(numbers))
        let model = gtk_no_selection_new(numbers)!
        gtk_list_view_set_model(list.opaque, model)
        gtk_list_view_set_factory(list.opaque, factory)
        for owned in [model, factory] { g_object_unref(UnsafeMutableRawPointer(owned)) }
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(numbers))
        g_object_unref(head.raw)
    }

    func update(_ new: [ActivityItem]) {
        guard new != events else { return }
        let first = zip(events, new).prefix { $0 == $1 }.count
        let last = zip(events.dropFirst(first).reversed(), new.dropFirst(first).reversed()).prefix { $0 == $1 }.count
        let removed = events.count - first - last
        let added = new[first..<(new.count - last)].map { strdup($0.id) }
        events = new
        var entries = added.map { UnsafePointer<CChar>($0) } + [nil]
        gtk_string_list_splice(numbers, guint(1 + first), guint(removed), &entries)
        for entry in added { free(entry) }
    }

    private func fill(_ item: OpaquePointer) {
        let position = Int(gtk_list_item_get_position(item))
        gtk_list_item_set_activatable(item, 0)
        gtk_list_item_set_selectable(item, position > 0 ? 1 : 0)
        guard position > 0 else { return gtk_list_item_set_child(item, head) }
        let row = rows[item] ?? Self.template.make()
        rows[item] = row
        let event = events[position - 1]
        let time = [event.dayHeading, event.time].compactMap { $0 }.joined(separator: " · ")
        row["sentence"].setText(event.sentence)
        row["time"].setText(time)
        gtk_image_set_from_icon_name(row["icon"].opaque, Self.symbol(event))
        if gtk_list_item_get_child(item) != row.widget { gtk_list_item_set_child(item, row.widget) }
        // GTK's own widget around it has the focus.
        gtk_widget_get_parent(row.widget)?.setAccessibleLabel("\(event.sentence) \(time)")
    }

    private static func symbol(_ event: ActivityItem) -> String {
        if event.isWarning { return "dialog-warning-symbolic" }
        return switch event.group {
        case .all, .protection: "security-high-symbolic"
        case .launches: "media-playback-start-symbolic"
        case .passcodes: "dialog-password-symbolic"
        case .locking: "changes-prevent-symbolic"
        case .changes: "document-edit-symbolic"
        case .photos: "camera-photo-symbolic"
        case .devices: "phone-symbolic"
        }
    }
}
