import Policy

extension AppCatalog {
    /// The app that a person means.
    ///
    /// - Parameter reference: an app id with or without ".desktop"; a name, in any case; an "exec:…" id; or, when it has
    ///   a "/", the full path of a program, which becomes an app of its own (see ``InstalledApp/sharedWith`` for the apps
    ///   that it is part of).
    /// - Throws: CatalogError, with the candidates when several apps bear the name.
    public func find(_ reference: String) throws(CatalogError) -> InstalledApp {
        let machine = snapshot()
        let wanted = reference.trimmingBlanks
        let id = wanted.hasSuffix(".desktop") ? String(wanted.dropLast(".desktop".count)) : wanted
        guard !wanted.isEmpty else { throw .badReference(reference) }
        if wanted.hasPrefix("/") || wanted.hasPrefix(ExecutableID.prefix) {
            let app = wanted.hasPrefix("/") ? try machine.executable(at: wanted) : try machine.app(withID: wanted)
            return try finished(app, machine)
        }
        guard AppID(rawValue: wanted) != nil else { throw .badReference(reference) }
        if machine.entries[id] != nil { return try finished(try machine.app(withID: id), machine) }
        let all = machine.allApps()
        let named = all.filter { $0.name.lowercased() == wanted.lowercased() }
        let shown = named.filter(\.isShown)
        let matches = shown.isEmpty ? named : shown
        if matches.count > 1 { throw .ambiguous(wanted, matches.map(\.id)) }
        if let only = matches.first { return try finished(only, machine) }
        let alike = all.filter { app in
            app.isShown
                && (app.name.lowercased().contains(wanted.lowercased())
                    || app.id.rawValue.lowercased().contains(wanted.lowercased()))
        }
        throw .notFound(wanted, alike: alike.map(\.id))
    }

    private func finished(_ app: FoundApp, _ machine: CatalogSnapshot) throws(CatalogError) -> InstalledApp {
        guard !app.search.executables.isEmpty || app.search.firstRefusal != nil else { throw .programMissing(app) }
        let others = machine.allApps().filter { $0.isShown && $0.id != app.id }
        return app.installed(sharedWith: Sharing([app] + others).others(than: app), essential)
    }
}

extension CatalogSnapshot {
    func allApps() -> [FoundApp] {
        let apps = order.compactMap { id -> FoundApp? in
            guard case .app(let app) = app(id) else { return nil }
            return app
        }
        return apps + appImages(besides: apps)
    }
}

extension CatalogError {
    static func badReference(_ reference: String) -> CatalogError {
        CatalogError(
            code: .badReference,
            sentence: "\(quoted(reference)) can't be an app: give an app id, a name or the full path of a program.",
            candidates: [])
    }

    static func notFound(_ reference: String, alike: [AppID]) -> CatalogError {
        let hint = alike.isEmpty ? "" : " Did you mean \(list(alike))?"
        return CatalogError(
            code: .notFound, sentence: "There is no app \(quoted(reference)) on this machine.\(hint)", candidates: alike
        )
    }

    static func ambiguous(_ name: String, _ ids: [AppID]) -> CatalogError {
        CatalogError(
            code: .ambiguous, sentence: "Several apps are called \(quoted(name)); name one of them: \(list(ids)).",
            candidates: ids)
    }

    static func programMissing(_ app: FoundApp) -> CatalogError {
        let program = app.search.missing ?? "its program"
        return CatalogError(
            code: .programMissing, sentence: "\(app.name) starts \(program), which is not on this machine.",
            candidates: [])
    }

    private static func list(_ ids: [AppID]) -> String { ids.prefix(8).map(\.rawValue).joined(separator: ", ") }

    /// In quotes, shortened, and without anything that a terminal would act on.
    private static func quoted(_ text: String) -> String {
        let plain = text.unicodeScalars.prefix(80).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }
        return "\"" + plain.joined() + "\""
    }
}
