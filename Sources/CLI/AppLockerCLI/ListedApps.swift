import ControlAPI

/// Finds an app on the list, for commands that don't send a name to AppLocker.
struct ListedApps {
    let apps: [AppReport]

    init(_ apps: [AppReport]) { self.apps = apps }

    /// By id, else by executable, else by name, ignoring case.
    ///
    /// - Throws: `ControlError` with `noSuchApp` or `ambiguousApp`.
    func one(_ name: String) throws -> AppReport {
        let found =
            [
                apps.filter { $0.id == name }, apps.filter { $0.executables.contains(name) },
                apps.filter { $0.name.lowercased() == name.lowercased() },
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
