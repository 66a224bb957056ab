import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport

/// Finds rows of a page of preferences by the words in their titles, their subtitles and the title of their group.
@MainActor
struct RowSearch {
    private struct Group {
        var widget: Widget
        var rows: [Widget]
    }

    private let groups: [Group]

    init(of page: Widget) {
        groups = page.descendants(of: adw_preferences_group_get_type()).map {
            Group(widget: $0, rows: $0.descendants(of: adw_preferences_row_get_type()))
        }
    }

    /// - Returns: whether there is such a row.
    func show(matching search: String) -> Bool {
        var isFound = false
        for group in groups {
            var isShown = false
            for row in group.rows {
                let matches = hasAllWords(search, in: Self.title(group.widget) + " " + Self.words(row))
                row.setVisible(matches)
                isShown = isShown || matches
            }
            group.widget.setVisible(isShown)
            isFound = isFound || isShown
        }
        return isFound
    }

    private static func title(_ group: Widget) -> String {
        adw_preferences_group_get_title(group.cast(to: AdwPreferencesGroup.self)).map(String.init(cString:)) ?? ""
    }

    private static func words(_ row: Widget) -> String {
        var words = [adw_preferences_row_get_title(row.cast(to: AdwPreferencesRow.self))]
        if row.isKind(of: adw_action_row_get_type()) {
            words.append(adw_action_row_get_subtitle(row.cast(to: AdwActionRow.self)))
        } else if row.isKind(of: adw_expander_row_get_type()) {
            words.append(adw_expander_row_get_subtitle(row.cast(to: AdwExpanderRow.self)))
        }
        return words.compactMap { $0.map(String.init(cString:)) }.joined(separator: " ")
    }
}
