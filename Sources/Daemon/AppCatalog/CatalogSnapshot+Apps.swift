import Policy

extension CatalogSnapshot {
    enum Outcome {
        case app(FoundApp)
        case problem(CatalogProblem)
        /// Deleted by Hidden, no application, or not to be shown because TryExec is not there.
        case none
    }

    /// The app that an id stands for.
    func app(_ id: String) -> Outcome {
        guard let candidates = entries[id], let first = candidates.first else { return .none }
        let entry: DesktopEntry
        switch self.entry(first) {
        case .failure(let error): return .problem(CatalogProblem(path: first.path, error: error))
        case .success(let parsed): entry = parsed
        }
        guard !entry.hidden, entry.type == "Application" else { return .none }
        if let program = entry.tryExec, !program.isEmpty, !programs(program).contains(where: { $0.status.isExecutable })
        {
            return .none
        }
        guard let appID = AppID(rawValue: id) else {
            return .problem(
                CatalogProblem(
                    path: first.path, error: DesktopEntryError(.badName, "The file's name can't be an app's id.")))
        }
        if entry.exec != nil {
            do throws(DesktopEntryError) {
                _ = try entry.arguments(location: first.path)
            } catch {
                return .problem(CatalogProblem(path: first.path, error: error))
            }
        }
        let search = search(id)
        if search.executables.isEmpty, search.firstRefusal == nil {
            let program = search.missing ?? "anything that can be locked"
            return .problem(
                CatalogProblem(
                    path: first.path,
                    error: DesktopEntryError(.programNotFound, "Exec starts \(program), which does not exist.")))
        }
        return .app(found(appID, first, entry, search, isShown: entry.isShown(in: environment.currentDesktops)))
    }

    /// Looks for the files that every entry of an id leads to, hidden ones and those in lower directories too.
    func search(_ id: String) -> AppSearch {
        var search = AppSearch(machine: self, app: id)
        let files = entries[id] ?? []
        for file in files.filter({ !$0.origin.isUsers }) + files.filter(\.origin.isUsers) {
            if case .success(let entry) = entry(file) { search.addEntry(entry, file, id: id) }
        }
        search.complete()
        return search
    }

    private func found(
        _ id: AppID, _ file: EntryFile, _ entry: DesktopEntry, _ search: AppSearch, isShown: Bool
    ) -> FoundApp {
        var kind = search.kind ?? .desktop
        switch file.origin {
        case .userFlatpak, .systemFlatpak: kind = .flatpak
        case .snap: kind = .snap
        case .user, .system: break
        }
        return FoundApp(
            id: id, name: entry.name.isEmpty ? id.rawValue : entry.name, icon: entry.icon, desktopFile: file.path,
            kind: kind, isShown: isShown, search: search)
    }

    /// The app behind an id, for keeping it locked: an entry that has been hidden or broken since does not end a lock as
    /// long as any entry of that id still leads to a program.
    func app(withID id: String) throws(CatalogError) -> FoundApp {
        if id.hasPrefix(ExecutableID.prefix) {
            let paths = ExecutableID.paths(of: id, files)
            guard let first = paths.first else { throw .notFound(id, alike: []) }
            // More than one is rare, and then all are locked: a second file is no way around a lock.
            return try executable(at: first, alsoAt: Array(paths.dropFirst()))
        }
        guard let appID = AppID(rawValue: id) else { throw .badReference(id) }
        guard let candidates = entries[id] else { throw .notFound(id, alike: []) }
        let usable = candidates.compactMap { file -> (EntryFile, DesktopEntry)? in
            guard case .success(let entry) = entry(file), entry.type == "Application" else { return nil }
            return (file, entry)
        }
        guard let (file, entry) = usable.first else {
            if case .failure(let error) = self.entry(candidates[0]) {
                throw CatalogError(
                    code: .notFound, sentence: "The entry \(candidates[0].path) can't be used: \(error.sentence)")
            }
            throw .notFound(id, alike: [])
        }
        return found(appID, file, entry, search(id), isShown: entry.isShown(in: environment.currentDesktops))
    }

    /// The app that one file is.
    func executable(at path: String, alsoAt others: [String] = []) throws(CatalogError) -> FoundApp {
        let (file, id) = try program(path)
        var search = AppSearch(machine: self, app: id.rawValue)
        search.addFile(file, link: path)
        for path in others { search.addFile(path) }
        search.complete()
        let isAppImage = file.lowercased().hasSuffix(".appimage")
        let name = HostFiles.name(of: file)
        return FoundApp(
            id: id, name: isAppImage ? String(name.dropLast(".appimage".count)) : name, icon: nil, desktopFile: nil,
            kind: isAppImage ? .appimage : .executable, isShown: true, search: search)
    }

    /// The real path of a program that a person named, and its id.
    private func program(_ path: String) throws(CatalogError) -> (String, AppID) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw CatalogError(
                code: .badReference, sentence: "Name a program by its full path, beginning with \"/\".")
        }
        guard let found = files.resolve(path) else {
            throw CatalogError(
                code: .notFound, sentence: "There is no file \(path), or its links form a loop.")
        }
        guard found.status.kind == .regular else {
            throw CatalogError(
                code: .notAProgram, sentence: "\(found.path) is not a regular file; name the program itself.")
        }
        let head = (try? files.head(found.path, count: 2)) ?? []
        let isRunByOthers =
            head == [0x23, 0x21]
            || [".jar", ".py", ".appimage", ".asar"].contains {
                found.path.lowercased().hasSuffix($0)
            }
        guard found.status.isExecutable || isRunByOthers || Essential.isLibrary(HostFiles.name(of: found.path)) else {
            throw CatalogError(
                code: .notAProgram, sentence: "\(found.path) is neither executable nor a script.")
        }
        guard let id = AppID(rawValue: ExecutableID.id(of: found.path)) else {
            throw CatalogError(
                code: .badReference,
                sentence: "The path \(found.path) is too long, or has characters that an app id can't have.")
        }
        return (found.path, id)
    }

    /// AppImages in the places where people keep them, unless an entry starts them already.
    func appImages(besides apps: [FoundApp]) -> [FoundApp] {
        var known = Set(apps.flatMap(\.search.identities))
        var found: [FoundApp] = []
        for directory in directories.appImageDirectories {
            for name in files.names(in: directory) where name.lowercased().hasSuffix(".appimage") {
                guard let file = files.regularFile(directory + "/" + name), known.insert(file.status.identity).inserted,
                    let app = try? executable(at: file.path)
                else { continue }
                found.append(app)
            }
        }
        return found
    }
}
