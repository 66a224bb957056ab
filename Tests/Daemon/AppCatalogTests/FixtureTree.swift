import AppCatalog
import Foundation
import TestSupport

/// A file system tree in a directory of its own: "/usr/bin/foo" in a test is a file there.
final class FixtureTree {
    let directory: TemporaryDirectory
    let home = "/home/ann"

    init() throws {
        directory = try TemporaryDirectory()
        try write("", to: "/home/ann/.keep")
    }

    var root: String { directory.path }

    func environment(_ variables: [String: String] = [:]) -> CatalogEnvironment {
        CatalogEnvironment(home: home, variables: variables, root: root)
    }

    func catalog(_ variables: [String: String] = [:]) -> AppCatalog { AppCatalog(environment: environment(variables)) }

    func write(_ text: String, to path: String, executable: Bool = false) throws {
        try directory.write(text, to: String(path.dropFirst()), permissions: executable ? 0o755 : 0o644)
    }

    /// Files with the first bytes of an ELF program.
    func program(_ paths: String...) throws {
        for path in paths { try write("\u{7F}ELF stand-in for \(path)", to: path, executable: true) }
    }

    func script(_ path: String, _ text: String) throws { try write(text, to: path, executable: true) }

    func entry(_ id: String, _ lines: String, in directory: String = "/usr/share/applications") throws {
        try write("[Desktop Entry]\nType=Application\nName=\(id)\n\(lines)\n", to: "\(directory)/\(id).desktop")
    }

    func link(_ path: String, to target: String) throws {
        let url = URL(fileURLWithPath: root + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: root + path) }

    /// Registers a package of existing files, as dpkg does.
    func package(_ name: String, source: String? = nil, fields: String = "", _ paths: [String]) throws {
        var all: Set<String> = []
        for path in paths {
            var parent = path
            while parent != "/" && !parent.isEmpty {
                all.insert(parent)
                parent = (parent as NSString).deletingLastPathComponent
            }
        }
        try write(
            "/.\n" + all.sorted().map { $0 + "\n" }.joined(), to: "/var/lib/dpkg/info/\(name).list")
        let file = root + "/var/lib/dpkg/status"
        var status = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        status += "Package: \(name)\nStatus: install ok installed\nPriority: optional\n"
        if let source { status += "Source: \(source)\n" }
        status += fields + "Version: 1\n\n"
        try write(status, to: "/var/lib/dpkg/status")
    }
}

extension InstalledApp {
    var paths: [String] { executables.map(\.path) }

    func role(of path: String) -> AppExecutable.Role? { executables.first { $0.path == path }?.role }
}
