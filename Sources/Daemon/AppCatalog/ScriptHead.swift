/// What a script's text shows about it.
enum ScriptHead {
    /// The name of the program in the "#!" line, past `env`; nil without such a line.
    static func interpreter(_ bytes: [UInt8]) -> String? {
        guard bytes.starts(with: [0x23, 0x21]) else { return nil }
        let line = bytes.dropFirst(2).prefix { $0 != 0x0A }.prefix(255)
        let words = String(decoding: line, as: UTF8.self).trimmingBlanks.split { $0 == " " || $0 == "\t" }
        guard let first = words.first else { return nil }
        let name = HostFiles.name(of: String(first))
        guard name == "env" else { return name }
        return words.dropFirst().first { !$0.hasPrefix("-") && !$0.contains("=") }
            .map { HostFiles.name(of: String($0)) }
    }

    /// Absolute paths in quotes.
    static func absolutePaths(in source: String) -> [String] {
        var found: [String] = []
        for quote in [UInt8(ascii: "\""), UInt8(ascii: "'")] {
            for piece in source.utf8.split(separator: quote).dropFirst() where piece.first == UInt8(ascii: "/") {
                guard piece.count < 1024, !piece.contains(0x0A), let path = String(piece) else { continue }
                if !found.contains(path), found.count < 256 { found.append(path) }
            }
        }
        return found
    }
}

/// Where Python's import finds a module's files.
struct PythonModules {
    private let machine: CatalogSnapshot

    init(_ machine: CatalogSnapshot) { self.machine = machine }

    /// The modules named by `import a.b` and `from a.b import c` at the start of a line.
    static func imports(in source: String) -> [String] {
        var found: [String] = []
        for line in source.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "," }
            guard words.count > 1, words[0] == "import" || words[0] == "from" else { continue }
            let modules = words[0] == "from" ? words[1...1] : words[1...].prefix { $0 != "as" && $0 != "#" }
            for module in modules.map(String.init) where !found.contains(module) && found.count < 128 {
                found.append(module)
            }
        }
        return found
    }

    /// The files that importing or running a module opens first: `__init__`, `__main__` and the module itself, with their
    /// compiled forms, which Python reads in their stead.
    ///
    /// - Parameter script: the script that imports it. Only modules of the script's own package or directory count, or
    ///   a library that others use would be locked. Nil for `python -m`, which names the app itself.
    func files(of module: String, besides script: String?) -> [String] {
        let parts = module.split(separator: ".").map(String.init)
        guard let first = parts.first, parts.allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } })
        else { return [] }
        var found: [String] = []
        for directory in searchDirectories(script) {
            let top = directory + "/" + first
            let anchor = [top + "/__init__.py", top + "/__main__.py", top + ".py"].first {
                machine.files.regularFile($0) != nil
            }
            guard let anchor, let real = machine.files.regularFile(anchor)?.path, belongs(real, to: script) else {
                continue
            }
            if anchor == top + ".py" {
                found += compiled(directory, first)
            } else {
                found += compiled(top, "__init__") + compiled(top, "__main__")
                let inner = directory + "/" + parts.joined(separator: "/")
                if parts.count > 1 {
                    found +=
                        compiled(HostFiles.directory(of: inner), parts[parts.count - 1]) + compiled(inner, "__main__")
                }
            }
        }
        return found.filter { machine.files.regularFile($0) != nil }
    }

    private func searchDirectories(_ script: String?) -> [String] {
        let home = machine.environment.home + "/.local/lib"
        var found = script.map { [HostFiles.directory(of: $0)] } ?? []
        found = found.filter { !SharedDirectories.programs.contains($0) }
        found.append("/usr/lib/python3/dist-packages")
        for parent in ["/usr/local/lib", home] {
            for name in machine.files.names(in: parent) where name.hasPrefix("python3") {
                found += [parent + "/" + name + "/dist-packages", parent + "/" + name + "/site-packages"]
            }
        }
        return found
    }

    private func belongs(_ file: String, to script: String?) -> Bool {
        guard let script else { return true }
        if HostFiles.isInside(file, HostFiles.directory(of: script)) { return true }
        let owners = machine.packageOwners(of: script)
        guard owners.isEmpty else { return !Set(owners).isDisjoint(with: machine.packageOwners(of: file)) }
        // Installed by pip: the script and its package bear the same name.
        let name = HostFiles.name(of: script).map { $0 == "-" ? "_" : $0 }
        let package = HostFiles.name(of: HostFiles.directory(of: file))
        return machine.packageOwners(of: file).isEmpty && package == String(name)
    }

    private func compiled(_ directory: String, _ module: String) -> [String] {
        let cache = directory + "/__pycache__"
        return [directory + "/" + module + ".py"]
            + machine.files.names(in: cache).filter { $0.hasPrefix(module + ".cpython-") }.map { cache + "/" + $0 }
    }
}
