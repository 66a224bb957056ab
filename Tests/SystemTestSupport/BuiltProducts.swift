public import Foundation
public import TestSupport

/// The project's own executables, built together with the running tests.
public enum BuiltProducts {
    public struct NotBuilt: Error, CustomStringConvertible {
        public let description: String
    }

    /// The directory of the executables: `APPLOCKER_BINARIES`, or the directory of the running test executable.
    public static var directory: URL {
        if let named = ProcessInfo.processInfo.environment["APPLOCKER_BINARIES"] {
            return URL(fileURLWithPath: named)
        }
        return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// The executable of this name. Throws `NotBuilt` if it doesn't exist: a test never continues without it.
    public static func url(_ name: String) throws -> URL {
        let url = directory.appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: url.path) else {
            throw NotBuilt(
                description: "\(name) is not in \(directory.path): run `swift build` first, or set APPLOCKER_BINARIES.")
        }
        return url
    }

    /// The absolute path of `url(name)`.
    public static func path(_ name: String) throws -> String { try url(name).path }

    /// A directory with these executables that other users of the machine may enter: the build's own, or, if that is
    /// below a private home directory, copies of them below `directory`.
    public static func directoryForEverybody(_ names: [String], copies directory: TemporaryDirectory) throws -> URL {
        var ancestor = self.directory
        var isOpen = true
        while ancestor.path != "/" {
            let attributes = try FileManager.default.attributesOfItem(atPath: ancestor.path)
            let permissions = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
            isOpen = isOpen && permissions & 0o001 != 0
            ancestor = ancestor.deletingLastPathComponent()
        }
        if isOpen { return self.directory }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        for name in names {
            try FileManager.default.copyItem(at: url(name), to: directory.url.appendingPathComponent(name))
        }
        return directory.url
    }
}
