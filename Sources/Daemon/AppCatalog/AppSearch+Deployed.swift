extension AppSearch {
    /// `flatpak run` starts bwrap, and bwrap the deployed program: it is the files of the deployment that are locked.
    mutating func addFlatpak(_ id: String, _ command: String?) {
        setKind(.flatpak)
        guard !id.isEmpty, !id.contains("/"), !id.contains(".."), !id.hasPrefix(".") else { return }
        var isThere = false
        for installation in ["/var/lib/flatpak", machine.environment.home + "/.local/share/flatpak"] {
            let active = "\(installation)/app/\(id)/current/active"
            guard let deployment = machine.files.resolve(active + "/files"), deployment.status.kind == .directory else {
                continue
            }
            isThere = true
            addDeployed(deployment.path)
            let started = command ?? metadataCommand(active + "/metadata")
            if let started { add("\(deployment.path)/bin/\(HostFiles.name(of: started))", .program) }
        }
        if !isThere { setMissing("the Flatpak \(id)") }
    }

    /// `command=` of the group [Application].
    private func metadataCommand(_ path: String) -> String? {
        guard let bytes = try? machine.files.read(path, limit: 1 << 20) else { return nil }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("command=") }.map { String($0.dropFirst("command=".count)).trimmingBlanks }
    }

    /// /snap/bin/NAME leads to snap itself; what it starts is in the mounted image of the snap.
    mutating func addSnap(_ instance: String) {
        setKind(.snap)
        guard !instance.isEmpty, !instance.contains("/"), !instance.hasPrefix(".") else { return }
        for mount in ["/snap", "/var/lib/snapd/snap"] {
            guard let image = machine.files.resolve("\(mount)/\(instance)/current"), image.status.kind == .directory
            else {
                continue
            }
            addDeployed(image.path)
            for command in snapCommands(image.path + "/meta/snap.yaml") { add("\(image.path)/\(command)", .program) }
            return
        }
        setMissing("the snap \(instance)")
    }

    /// The first word of every `command:` in snap.yaml, relative to the image.
    private func snapCommands(_ path: String) -> [String] {
        guard let bytes = try? machine.files.read(path, limit: 1 << 20) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let line = String(line).trimmingBlanks
            guard line.hasPrefix("command:") else { return nil }
            let words = line.dropFirst("command:".count).split(separator: " ")
            return words.first.map { $0.filter { $0 != "\"" && $0 != "'" } }
        }
    }

    /// The program that the session bus starts for a name.
    mutating func addService(_ name: String, _ depth: Int) {
        guard !name.contains("/"), !name.hasPrefix(".") else { return }
        for directory in [machine.environment.dataHome] + machine.environment.dataDirectories {
            for words in ServiceFile.commands(directory + "/dbus-1/services/" + name + ".service", machine.files) {
                if let target = CommandTarget.of(words) { follow(target, depth: depth + 1) }
            }
        }
    }

    /// `electron /opt/x`, `python3 /opt/x`: a directory whose main file is run.
    mutating func addDirectory(_ path: String) {
        for name in ["package.json", "__main__.py", "main.js", "index.js", "app.asar"] {
            add(path + "/" + name, .payload)
        }
    }
}

/// A D-Bus service file (https://dbus.freedesktop.org/doc/dbus-specification.html, "Message Bus Starting Services").
enum ServiceFile {
    /// The command lines of its Exec keys.
    static func commands(_ path: String, _ files: HostFiles) -> [[String]] {
        guard let bytes = try? files.read(path, limit: 1 << 16) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            guard line.hasPrefix("Exec=") else { return nil }
            return try? DesktopEntry.words(of: String(line.dropFirst("Exec=".count)))
        }
    }
}

/// What one package puts into the directories that all programs share.
struct PackageSiblings {
    /// Real paths.
    let programs: [String]
    /// Those of them that D-Bus or a thumbnailer starts.
    let services: Set<String>
    /// The package is one app and nothing else: it brings one entry, and no other package depends on it.
    let isOneApp: Bool

    init(_ machine: CatalogSnapshot, package: String) {
        let paths = machine.packages.paths(of: package) { line in
            DebianPackages.hasPrefix(line, "/usr/") || DebianPackages.hasPrefix(line, "/bin/")
                || DebianPackages.hasPrefix(line, "/sbin/") || DebianPackages.hasPrefix(line, "/lib/")
        }
        programs = paths.filter { path in
            SharedDirectories.programs.contains(HostFiles.directory(of: path))
                && machine.files.status(path).map { $0.kind == .regular && $0.isExecutable } ?? false
        }
        var started: Set<String> = []
        var entries = 0
        for path in paths {
            if path.hasPrefix("/usr/share/applications/"), path.hasSuffix(".desktop") { entries += 1 }
            let isService = path.hasPrefix("/usr/share/dbus-1/services/") || path.hasPrefix("/usr/share/thumbnailers/")
            guard isService else { continue }
            for words in ServiceFile.commands(path, machine.files) {
                guard case .program(let name)? = CommandTarget.of(words) else { continue }
                started.formUnion(machine.programs(name).map(\.real))
            }
        }
        services = started
        isOneApp = entries == 1 && !machine.packages.needed.contains(package)
    }
}
