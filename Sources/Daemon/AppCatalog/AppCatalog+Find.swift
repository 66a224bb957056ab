import Policy

extension AppCatalog {
    /// The app that a person means.
    ///
    /// - Parameter reference: an app id with or without ".desktop"; a name, in any case; an "exec:…" id; or, when it has
    ///   a "/", the full path of a program, which becomes an app of its own (see ``InstalledApp/sharedWith`` for the apps
    ///   that it is part of).
    /// - Throws: CatalogError, with the candidates when several apps bear the name.
    public func find(_ reference: String) throws(CatalogError) -> InstalledApp {
        var search = ReferenceSearch(snapshot(), essential)
        return try search.find(reference)
    }

    /// As ``find(_:)`` for each of them, in their order, with one look at the machine: as much work as for two or three.
    public func find(all references: [String]) -> [Result<InstalledApp, CatalogError>] {
        var search = ReferenceSearch(snapshot(), essential)
        return references.map { reference in
            do throws(CatalogError) {
                return .success(try search.find(reference))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// What people mean, on the machine as it is now.
private struct ReferenceSearch {
    private let machine: CatalogSnapshot
    private let essential: Essential
    private lazy var all = machine.allApps()
    private lazy var sharing = Sharing(all.filter(\.isShown))

    init(_ machine: CatalogSnapshot, _ essential: Essential) {
        self.machine = machine
        self.essential = essential
    }

    mutating func find(_ reference: String) throws(CatalogError) -> InstalledApp {
        let wanted = reference.trimmingBlanks
        let id = wanted.hasSuffix(".desktop") ? String(wanted.dropLast(".desktop".count)) : wanted
        guard !wanted.isEmpty else { throw .badReference(reference) }
        if wanted.hasPrefix("/") || wanted.hasPrefix(ExecutableID.prefix) {
            return try finished(
                wanted.hasPrefix("/") ? try machine.executable(at: wanted) : try machine.app(withID: wanted))
        }
        guard AppID(rawValue: wanted) != nil else { throw .badReference(reference) }
        if machine.entries[id] != nil { return try finished(try machine.app(withID: id)) }
        let named = all.filter { $0.name.lowercased() == wanted.lowercased() }
        let shown = named.filter(\.isShown)
        let matches = shown.isEmpty ? named : shown
        if matches.count > 1 { throw .ambiguous(wanted, matches.map(\.id)) }
        if let only = matches.first { return try finished(only) }
        let alike = all.filter { app in
            app.isShown
                && (app.name.lowercased().contains(wanted.lowercased())
                    || app.id.rawValue.lowercased().contains(wanted.lowercased()))
        }
        throw .notFound(wanted, alike: alike.map(\.id))
    }

    private mutating func finished(_ app: FoundApp) throws(CatalogError) -> InstalledApp {
        guard !app.search.executables.isEmpty || app.search.firstRefusal != nil else { throw .programMissing(app) }
        return app.installed(sharedWith: sharing.others(than: app), essential)
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
            sentence: "\(quoted(reference)) is not an app. Enter an app id, a name or the full path of a program.")
    }

    static func notFound(_ reference: String, alike: [AppID]) -> CatalogError {
        CatalogError(
            code: .notFound,
            sentence: alike.isEmpty
                ? "There is no app \(quoted(reference)) on this machine."
                : "There is no app \(quoted(reference)) on this machine. Did you mean \(list(alike))?",
            candidates: alike)
    }

    static func ambiguous(_ name: String, _ ids: [AppID]) -> CatalogError {
        CatalogError(
            code: .ambiguous, sentence: "Several apps are called \(quoted(name)); name one of them: \(list(ids)).",
            candidates: ids)
    }

    static func programMissing(_ app: FoundApp) -> CatalogError {
        let program = app.search.missing ?? "its program"
        return CatalogError(
            code: .programMissing, sentence: "\(app.name) starts \(program), which is not on this machine.")
    }

    private static func list(_ ids: [AppID]) -> String { ids.prefix(8).map(\.rawValue).joined(separator: ", ") }

    /// In quotes, shortened, and without anything that a terminal would act on.
    private static func quoted(_ text: String) -> String {
        let plain = text.unicodeScalars.prefix(80).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }
        return "\"" + plain.joined() + "\""
    }
}
