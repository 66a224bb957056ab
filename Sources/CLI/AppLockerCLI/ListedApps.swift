import ControlAPI

/// Finds an app on the list, for commands that don't send a name to AppLocker.
struct ListedApps {
    let apps: [AppReport]

    init(_ apps: [AppReport]) { self.apps = apps }

    /// By id, also as the name of its desktop entry, else by executable, else by name, ignoring case.
    ///
    /// - Parameter orSharing: also by the name of an app that is locked with it, because they share an executable.
    /// - Throws: `ControlError` with `noSuchApp` or `ambiguousApp`.
    func one(_ name: String, orSharing: Bool = false) throws -> AppReport {
        let id = name.hasSuffix(".desktop") ? String(name.dropLast(".desktop".count)) : name
        let found =
            [
                apps.filter { $0.id == id }, apps.filter { $0.executables.contains(name) },
                apps.filter { $0.name.lowercased() == name.lowercased() },
                apps.filter { orSharing && $0.sharedWith.contains { $0.lowercased() == name.lowercased() } },
            ].first { !$0.isEmpty } ?? []
        if found.count > 1 {
            let ids = found.map(\.id).joined(separator: ", ")
            throw ControlError(.ambiguousApp, "\(name) matches several apps on the list: \(ids). Use one of these ids.")
        }
        guard let app = found.first else {
            throw ControlError(
                .noSuchApp, "\(name) is not on the list. See `applocker apps --listed`, or add it with `applocker add`."
            )
        }
        return app
    }
}
