import CGtk4

/// The names of apps in the session's language, by their desktop entries.
@MainActor
final class AppEntryNames {
    private struct Key: Hashable {
        var id, name: String
    }

    /// An entry is read once.
    private var names: [Key: String] = [:]

    /// - Parameter name: the daemon's, which stays where it isn't the entry's own.
    func name(of id: String, _ name: String) -> String {
        let key = Key(id: id, name: name)
        if let known = names[key] { return known }
        let found = Self.localizedName(of: id, stored: name) ?? name
        names[key] = found
        return found
    }

    /// Nil without an entry of the system. An entry in the home directory can replace it and name the app differently from
    /// the daemon; any program of the user can write one.
    private static func localizedName(of id: String, stored: String) -> String? {
        guard let info = g_desktop_app_info_new("\(id).desktop") else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(info)) }
        guard let file = g_desktop_app_info_get_filename(info), let home = g_get_user_data_dir(),
            !String(cString: file).hasPrefix(String(cString: home) + "/"),
            let plain = g_desktop_app_info_get_string(info, "Name")
        else { return nil }
        defer { g_free(plain) }
        guard String(cString: plain) == stored, let localized = g_app_info_get_name(info) else { return nil }
        return String(cString: localized)
    }
}
