import WireProtocol

/// Finds an app among those on the list, where AppLocker itself isn't asked for the app by name.
struct ListedApps {
    let apps: [AppReport]

    init(_ apps: [AppReport]) { self.apps = apps }

    /// By id, else by executable, else by name without regard to case.
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
            throw ControlError(.ambiguousApp, "\(name) fits several apps on the list: \(ids). Give one of these ids.")
        }
        guard let app = found.first else {
            throw ControlError(
                .noSuchApp, "\(name) is not on the list. See `applocker apps --listed`, or add it with `applocker add`."
            )
        }
        return app
    }
}
